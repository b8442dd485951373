import { dirname } from 'node:path';
import { type FileTree, readFileTree, STORE_MODES, sha256, type TreeNode } from './file-tree.js';

/** After these the blobs that only dropped events name may still be there (DIFFERENCES.md, rule 3). */
export const MAY_KEEP_BLOBS: readonly string[] = ['applyRewind', 'restoreToSequence', 'truncateEvents'];
/** These change files of the workspace, whose content may be kept. */
const MAY_RESTORE_FILES: readonly string[] = ['applyRewind', 'restoreToSequence'];

const BLOB = /^[^/]+\/checkpoints\/blobs\/([^/]+)$/;

/** Keeps an eye on checkpoint blobs through a case: none may vanish, and only those accounted for may be extra. */
export class BlobWatch {
  readonly #root: string;
  readonly #workspace: string;
  /** Hashes of contents that a blob may have: of blobs that were there, of files restored over or deleted. */
  readonly #accounted = new Set<string>();
  #blobs: ReadonlySet<string> = new Set();
  #files: FileTree = new Map();

  constructor(root: string, workspace: string) {
    this.#root = root;
    this.#workspace = workspace;
  }

  /** Looks at the blobs and the workspace before a step. */
  before(): void {
    this.#blobs = this.#present();
    this.#files = readFileTree(this.#workspace);
  }

  /** Looks again after it, and names the blobs that the step took away. */
  after(op: string): readonly string[] {
    const present = this.#present();
    if (MAY_RESTORE_FILES.includes(op)) this.#accountForReplaced(readFileTree(this.#workspace));
    if (!MAY_KEEP_BLOBS.includes(op)) return [];
    return [...this.#blobs].filter((path) => !present.has(path)).map((path) => `the blob ${path} is gone`);
  }

  /** Gives a store without the blobs, and their two folders, that it may have beyond the recorded ones. */
  withoutKept(store: FileTree, recorded: FileTree): FileTree {
    const kept = [...store].filter(([path, node]) => !recorded.has(path) && this.#mayBeKept(path, node));
    const spared = new Set(kept.flatMap(([path]) => [path, dirname(path), dirname(dirname(path))]));
    return new Map(
      [...store].filter(([path, node]) => recorded.has(path) || !spared.has(path) || !isBlobOrItsFolder(node)),
    );
  }

  #present(): ReadonlySet<string> {
    const blobs = [...readFileTree(this.#root)].filter(([path]) => BLOB.test(path));
    for (const [, node] of blobs) if (node.kind === 'file') this.#accounted.add(sha256(node.bytes));
    return new Set(blobs.map(([path]) => path));
  }

  #accountForReplaced(now: FileTree): void {
    for (const [path, node] of this.#files) {
      if (node.kind !== 'file') continue;
      const after = now.get(path);
      const stays = after?.kind === 'file' && Buffer.from(after.bytes).equals(node.bytes);
      if (!stays) this.#accounted.add(sha256(node.bytes));
    }
  }

  #mayBeKept(path: string, node: TreeNode): boolean {
    const name = BLOB.exec(path)?.[1];
    if (name === undefined || node.kind !== 'file' || node.mode !== STORE_MODES.file) return false;
    return sha256(node.bytes) === name && this.#accounted.has(name);
  }
}

function isBlobOrItsFolder(node: TreeNode): boolean {
  return node.kind === 'file' || (node.kind === 'folder' && node.mode === STORE_MODES.folder);
}
