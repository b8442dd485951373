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

/** What every call of a process gets that was killed: nothing of what it does after that reaches the disk. */
export class ProcessKilledError extends Error {
  override readonly name = 'ProcessKilledError';
}

/** A file system in memory that keeps a record for {@link Trace}. */
export class RecordingFileSystem extends MemoryFileSystem {
  readonly #base: Tree;
  readonly #calls: { name: CallName; path: string; effects: Effect[] }[];
  readonly #life: { calls: number };
  #acknowledgedAfter: number | undefined;

  /** @param killedAfter - Recorded calls after which the process that works on it is killed. */
  constructor(base: Tree, now: () => number, killedAfter = Number.POSITIVE_INFINITY) {
    const calls: { name: CallName; path: string; effects: Effect[] }[] = [];
    const life = { calls: killedAfter };
    let current: [CallName, string] = ['lstat', ''];
    super(base, now, {
      call: (name, path) => {
        if (calls.length >= life.calls) throw new ProcessKilledError(`killed before ${name} ${path}`);
        current = [name, path];
        return undefined;
      },
      effect: (effect) => calls.push({ name: current[0], path: current[1], effects: [effect] }),
    });
    this.#base = base;
    this.#calls = calls;
    this.#life = life;
  }

  /** Another process works on the same disk from now on. */
  startAnother(): void {
    this.#life.calls = Number.POSITIVE_INFINITY;
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
