import { createFile, ensureFolder, syncFile, syncFolder } from '../fs/durable-file.js';
import type { FileSystem } from '../fs/file-system.js';
import { writeFully } from '../fs/jsonl.js';
import type { FileState } from '../model/event.js';
import { type BlobHash, parseBlobHash } from '../model/ids.js';
import { checkContent, hashOpenFile } from './blob-store.js';
import type { StoreDeps } from './deps.js';
import { EventLog } from './event-log.js';
import {
  BLOBS_DIR,
  EVENTS_FILE,
  FILE_MODE,
  FOLDER_MODE,
  longestPathIn,
  type SessionPaths,
  sessionPaths,
  TEMP_PREFIX,
} from './layout.js';
import { idAfter } from './new-id.js';
import { removeTree } from './publish-session.js';

// What a file system says that has no hard links, or no more of them.
const NO_LINKS = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'ENOSYS']);
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** `.zs/kept` of one session: the log and the blobs from before each rewind, undo, restore or cut. */
export class KeptRecords {
  readonly #deps: StoreDeps;
  readonly #paths: SessionPaths;

  constructor(deps: StoreDeps, paths: SessionPaths) {
    this.#deps = deps;
    this.#paths = paths;
  }

  folderOf(id: string): string {
    return `${this.#paths.kept}/${id}`;
  }

  /** Gives the ids of the records, oldest first. */
  ids(): readonly string[] {
    if (!this.#isOurs()) return [];
    const folders = this.#deps.fs
      .readdir(this.#paths.kept)
      .filter(({ kind, name }) => kind === 'directory' && ULID.test(name));
    return folders.map(({ name }) => name).sort();
  }

  has(id: string): boolean {
    if (!ULID.test(id) || !this.#isOurs() || !this.#isFolder(this.folderOf(id))) return false;
    return this.#deps.fs.lstat(`${this.folderOf(id)}/${EVENTS_FILE}`)?.kind === 'file';
  }

  /** Gives the log that a record holds. */
  log(id: string, sessionId: string): EventLog {
    return new EventLog(this.#deps, sessionId, sessionPaths(this.folderOf(id)));
  }

  /**
   * Gives an id for the next record: later than all that are there, whatever the clock says.
   * @throws the system's error (`ENAMETOOLONG`) when there is no room for the names in a record: before anything changes.
   */
  freshId(): string {
    this.#deps.fs.lstat(longestPathIn(this.#paths));
    const id = this.#deps.newId();
    const newest = this.ids().at(-1);
    return newest === undefined || id > newest ? id : idAfter(newest);
  }

  /**
   * Keeps the log as it is now, and the blobs that only what is about to go names.
   *
   * Hard links where possible: the new log is another file, so the old one keeps its bytes. Durable when it returns.
   */
  keep(id: string, hashes: Iterable<BlobHash>): void {
    const { fs } = this.#deps;
    ensureFolder(fs, this.#paths.keep, FOLDER_MODE);
    ensureFolder(fs, this.#paths.kept, FOLDER_MODE);
    const folder = this.folderOf(id);
    ensureFolder(fs, folder, FOLDER_MODE);
    this.#linkOrCopy(this.#paths.events, `${folder}/${EVENTS_FILE}`);
    const blobs = `${folder}/${BLOBS_DIR}`;
    const haveBlobs = this.#isFolder(this.#paths.checkpoints) && this.#isFolder(this.#paths.blobs);
    let any = false;
    for (const hash of haveBlobs ? new Set(hashes) : []) {
      const from = `${this.#paths.blobs}/${hash}`;
      if (fs.lstat(from)?.kind !== 'file') continue;
      if (!any) ensureFolder(fs, blobs, FOLDER_MODE);
      any = true;
      this.#linkOrCopy(from, `${blobs}/${hash}`);
    }
    if (any) syncFolder(fs, blobs);
    syncFolder(fs, folder);
  }

  /** Tells whether a record holds the content of a state, intact. */
  hasBlob(id: string, state: FileState): boolean {
    if (state.kind !== 'stored' || state.hash === undefined) return false;
    const blobs = `${this.folderOf(id)}/${BLOBS_DIR}`;
    return this.#isFolder(blobs) && checkContent(this.#deps.fs, `${blobs}/${state.hash}`, state.hash).kind === 'intact';
  }

  /** Puts blobs of a record back where they are missing: somebody else's rewind may have taken them away. */
  returnBlobs(id: string): void {
    const { fs } = this.#deps;
    const blobs = `${this.folderOf(id)}/${BLOBS_DIR}`;
    if (!this.#isFolder(blobs)) return;
    ensureFolder(fs, this.#paths.checkpoints, FOLDER_MODE);
    ensureFolder(fs, this.#paths.blobs, FOLDER_MODE);
    let any = false;
    for (const { name, kind } of fs.readdir(blobs)) {
      if (kind !== 'file' || parseBlobHash(name) === undefined) continue;
      const to = `${this.#paths.blobs}/${name}`;
      if (fs.lstat(to) !== undefined) continue;
      this.#linkOrCopy(`${blobs}/${name}`, to);
      any = true;
    }
    if (any) syncFolder(fs, this.#paths.blobs);
  }

  /** Tells whether a record holds exactly the present log: where links cannot be made, what a commit never followed. */
  isCopyOfLog(id: string): boolean {
    const { fs } = this.#deps;
    const copy = `${this.folderOf(id)}/${EVENTS_FILE}`;
    if (fs.lstat(copy)?.size !== fs.lstat(this.#paths.events)?.size) return false;
    return sameContent(fs, copy, this.#paths.events);
  }

  /** Takes a record away that belongs to something which never happened. */
  discard(id: string): void {
    const folder = this.folderOf(id);
    if (!this.#isOurs() || !this.#isFolder(folder)) return;
    removeTree(this.#deps, folder);
    syncFolder(this.#deps.fs, this.#paths.kept);
  }

  // A link in place of a folder leads to records of somebody else: none of them is read, and above all none discarded.
  #isOurs(): boolean {
    return this.#isFolder(this.#paths.keep) && this.#isFolder(this.#paths.kept);
  }

  #isFolder(path: string): boolean {
    return this.#deps.fs.lstat(path)?.kind === 'directory';
  }

  #linkOrCopy(from: string, to: string): void {
    const { fs, newId } = this.#deps;
    try {
      fs.link(from, to);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code === 'EEXIST') return;
      if (typeof code !== 'string' || !NO_LINKS.has(code)) throw error;
      // Under another name until it is whole: half a log must not be taken for a record.
      const temp = `${this.#paths.folder}/${TEMP_PREFIX}${newId()}`;
      copyFile(fs, from, temp);
      fs.rename(temp, to);
    }
  }
}

function sameContent(fs: FileSystem, a: string, b: string): boolean {
  const [first, second] = [fs.openRead(a), fs.openRead(b)];
  try {
    return hashOpenFile(fs, first).hash === hashOpenFile(fs, second).hash;
  } finally {
    fs.close(first);
    fs.close(second);
  }
}

/** Copies a regular file, synced; a copy that fails leaves nothing. */
export function copyFile(fs: FileSystem, from: string, to: string): void {
  createFile(fs, to, new Uint8Array(0), FILE_MODE);
  const chunk = new Uint8Array(256 * 1024);
  const source = fs.openRead(from);
  try {
    const target = fs.openAppend(to);
    try {
      for (let at = 0; ; ) {
        const count = fs.read(source, chunk, 0, chunk.length, at);
        if (count === 0) break;
        writeFully(fs, target, chunk.subarray(0, count));
        at += count;
      }
      syncFile(fs, target, to);
    } catch (error) {
      fs.unlink(to);
      throw error;
    } finally {
      fs.close(target);
    }
  } finally {
    fs.close(source);
  }
}
