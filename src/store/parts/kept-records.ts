import { createFile, ensureFolder, readWholeFile, removeTree, replaceFile, syncFolder } from '../../fs/durable-file.js';
import type { FileSystem } from '../../fs/file-system.js';
import { decodeKeptRecord, encodeKeptRecord, type KeptRecord } from '../../model/kept-record.js';
import type { StoreDeps, StoreWarning } from '../base/deps.js';
import {
  EVENTS_FILE,
  FILE_MODE,
  FOLDER_MODE,
  longestPathIn,
  newTempPath,
  RECORD_FILE,
  type SessionPaths,
  sessionPaths,
} from '../base/layout.js';
import { idAfter } from '../base/new-id.js';
import { hashOpenFile, linkOrCopy } from './blob-store.js';
import { EventLog } from './event-log.js';

/** What is longer says something else. */
const LARGEST_RECORD_BYTES = 64 * 1024;
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** `.zs/kept` of one session: the log from before each rewind, undo, restore or cut. Its blobs are in `.zs/blobs`. */
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

  /** The ids of the records, oldest first. */
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

  /** The log that a record holds; of its sequences readers were warned when it was the log of the session. */
  log(id: string, sessionId: string): EventLog {
    const warn = (warning: StoreWarning): void => {
      if (warning.code !== 'SEQUENCE_NOT_RISING') this.#deps.warn(warning);
    };
    return new EventLog({ ...this.#deps, warn }, sessionId, sessionPaths(this.folderOf(id)));
  }

  /** An id for the next record: later than all that are there, whatever the clock says. */
  freshId(): string {
    // Where the names in a record would be too long the system says so (`ENAMETOOLONG`): before anything changes.
    this.#deps.fs.lstat(longestPathIn(this.#paths));
    const id = this.#deps.newId();
    const newest = this.ids().at(-1);
    return newest === undefined || id > newest ? id : idAfter(newest);
  }

  /** Keeps the log as it is now, durably; by a hard link where possible, for the new log is another file. */
  keep(record: KeptRecord): void {
    const { fs } = this.#deps;
    ensureFolder(fs, this.#paths.keep, FOLDER_MODE);
    ensureFolder(fs, this.#paths.kept, FOLDER_MODE);
    const folder = this.folderOf(record.rewindId);
    ensureFolder(fs, folder, FOLDER_MODE);
    const temp = () => newTempPath(this.#deps, this.#paths);
    linkOrCopy(fs, this.#paths.events, { to: `${folder}/${EVENTS_FILE}`, temp });
    createFile(fs, `${folder}/${RECORD_FILE}`, encodeKeptRecord(record), FILE_MODE);
    syncFolder(fs, folder);
  }

  /** What is said of a kept log beside it, or undefined where nothing is that can be understood. */
  record(id: string): KeptRecord | undefined {
    const { fs } = this.#deps;
    const path = `${this.folderOf(id)}/${RECORD_FILE}`;
    const stat = fs.lstat(path);
    if (stat?.kind !== 'file' || stat.size > LARGEST_RECORD_BYTES) return undefined;
    const bytes = readWholeFile(fs, path);
    return bytes === undefined ? undefined : decodeKeptRecord(bytes, id);
  }

  /** Puts a record beside a kept log that has none. */
  complete(record: KeptRecord): void {
    const path = `${this.folderOf(record.rewindId)}/${RECORD_FILE}`;
    replaceFile(this.#deps.fs, path, newTempPath(this.#deps, this.#paths), encodeKeptRecord(record), FILE_MODE);
  }

  /** The highest sequence that a kept log has used up, as far as records tell; 0 when there is none. */
  high(): number {
    return this.ids().reduce((high, id) => Math.max(high, this.record(id)?.high ?? 0), 0);
  }

  /** Whether a record holds exactly the present log: where links cannot be made, what a commit never followed. */
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
    removeTree(this.#deps.fs, folder);
    syncFolder(this.#deps.fs, this.#paths.kept);
  }

  // A link in place of a folder leads to records of somebody else: none of them is read, and above all none discarded.
  #isOurs(): boolean {
    return this.#isFolder(this.#paths.keep) && this.#isFolder(this.#paths.kept);
  }

  #isFolder(path: string): boolean {
    return this.#deps.fs.lstat(path)?.kind === 'directory';
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
