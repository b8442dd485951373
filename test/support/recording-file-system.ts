import { type CallName, type Effect, type Inode, MemoryFileSystem, type Tree } from './memory-file-system.js';

/** One call with what it did; calls that only read are left out. */
export interface RecordedCall {
  readonly name: CallName;
  readonly path: string;
  readonly effects: readonly Effect[];
}

/** What happened, in order: calls, and the moment in which the caller was told that all was well. */
export interface Trace {
  /** The disk before it. */
  readonly base: Tree;
  readonly calls: readonly RecordedCall[];
  /** The number of calls before the caller was told; undefined when nobody was. */
  readonly acknowledgedAfter: number | undefined;
}

/** A file system in memory that keeps a record for {@link Trace}. */
export class RecordingFileSystem extends MemoryFileSystem {
  readonly #base: Tree;
  readonly #calls: { name: CallName; path: string; effects: Effect[] }[];
  #acknowledgedAfter: number | undefined;

  constructor(base: Tree, now: () => number) {
    const calls: { name: CallName; path: string; effects: Effect[] }[] = [];
    let current: [CallName, string] = ['lstat', ''];
    super(base, now, {
      call: (name, path) => {
        current = [name, path];
        return undefined;
      },
      effect: (effect) => calls.push({ name: current[0], path: current[1], effects: [effect] }),
    });
    this.#base = base;
    this.#calls = calls;
  }

  /** To be called when the operation has returned. */
  acknowledge(): void {
    this.#acknowledgedAfter = this.#calls.length;
  }

  trace(): Trace {
    return { base: this.#base, calls: [...this.#calls], acknowledgedAfter: this.#acknowledgedAfter };
  }
}

/** Gives the file at a path of a tree, links not followed; undefined when nothing is there. */
export function inodeAt(tree: Tree, path: string): Inode | undefined {
  let inode = tree.get(1);
  for (const part of path.split('/')) {
    if (part === '') continue;
    if (inode?.kind !== 'directory') return undefined;
    const number = inode.entries.get(part);
    inode = number === undefined ? undefined : tree.get(number);
  }
  return inode;
}
