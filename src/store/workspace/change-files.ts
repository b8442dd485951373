import { errnoOf, StalePlanError } from '../../errors.js';
import { isMissing, syncFile } from '../../fs/durable-file.js';
import { type FileIdentity, type FileStat, type FileSystem, sameFile } from '../../fs/file-system.js';
import type { FileState } from '../../model/event.js';
import type { IntendedChange } from '../../model/rewind-record.js';
import { isInState } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { DEFAULT_FOLDER_MODE } from '../base/layout.js';
import type { LockedSession } from '../parts/locked-session.js';
import { StagedFiles } from './staged-files.js';
import type { Workspace } from './workspace.js';

/** An entry as it was when its content was kept: enough to tell that somebody has changed it since. */
type SeenEntry = (FileIdentity & Pick<FileStat, 'kind' | 'size' | 'mtimeMs'>) | 'absent';

// What systems say of a folder that is not empty.
const IS_IN_USE: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST']);

/** The change of the files of one intent: what is there is kept, then each gets its state. */
export class FileChanges {
  readonly #session: LockedSession;
  readonly #fs: FileSystem;
  readonly #workspace: Workspace;
  readonly #staged: StagedFiles;
  /** What must be there when a file is changed; nothing of a file that nobody kept. */
  readonly #seen = new Map<string, SeenEntry>();

  /** @param intent - The id of the rewind, and the paths of its files in the order of its intent. */
  constructor(
    session: LockedSession,
    workspace: Workspace,
    intent: { readonly id: string; readonly paths: readonly string[] },
  ) {
    this.#session = session;
    this.#fs = session.deps.fs;
    this.#workspace = workspace;
    this.#staged = new StagedFiles(session, workspace, intent);
  }

  /** Stores what a file holds now, before it is changed; `STALE_PLAN` when that is not what the plan was made for. */
  keep({ resolved, present, wanted, forced }: FileChange): IntendedChange {
    if (present.kind === 'absent' && present.missingFolders > 0) {
      this.#seen.set(resolved, 'absent');
      return { path: resolved, before: { kind: 'absent', newDirs: present.missingFolders }, to: wanted };
    }
    const isFolder = present.kind === 'folder';
    const found = this.#workspace.inFolderOf(resolved, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      const seen = seenEntry(this.#fs.lstat(entry));
      const before = this.#storePresent(entry, isFolder);
      return before === undefined ? undefined : { before, seen };
    });
    if (found === undefined || !isInState(present, found.before, isFolder)) throw changedNow(resolved);
    const { before, seen } = found;
    this.#seen.set(resolved, seen);
    return {
      path: resolved,
      before,
      to: wanted,
      folderModes: wanted.kind === 'absent' ? this.#modesOfFolders(resolved, wanted.newDirs) : [],
      mtimeMs: seen === 'absent' ? undefined : seen.mtimeMs,
      isForeign: forced !== undefined,
    };
  }

  /**
   * Puts files into their states: all is staged first, then what is to go is removed, then what is to be there renamed
   * into place, each synced. So a file can become a folder, and a folder that is empty by then a file. When staging
   * fails nothing has changed. `STALE_PLAN` when somebody has changed an entry since it was kept.
   * @param changes - Their `path` is the one in the intent.
   * @param onChange - Told of each path just before it is changed.
   */
  make(changes: readonly FileChange[], onChange: (path: string) => void = () => {}): void {
    const removals = changes.filter(({ wanted }) => wanted.kind === 'absent');
    const puts = changes.filter(({ wanted }) => wanted.kind !== 'absent');
    const staged: FileChange[] = [];
    try {
      for (const change of puts) {
        staged.push(change);
        this.#staged.stage(change);
      }
    } catch (error) {
      // What is still there then is taken by whoever rolls back: why it failed matters more.
      this.unstage(staged);
      throw error;
    }
    for (const change of removals) {
      this.#session.assertHeld();
      this.#remove(change, onChange);
    }
    for (const change of puts) {
      this.#session.assertHeld();
      this.#put(change, onChange);
    }
  }

  /** Removes what may be staged for these files; returns those beside which something may be left. */
  unstage<File extends Pick<FileChange, 'path' | 'resolved'>>(files: readonly File[]): readonly File[] {
    return files.filter((file) => {
      try {
        this.#staged.unstage(file);
        return false;
      } catch {
        return true;
      }
    });
  }

  /** Removes the folders above a path that the session made and that are empty now, the innermost first. */
  removeEmptyFolders(path: string, count: number): void {
    let folder = path;
    for (let left = count; left > 0; left -= 1) {
      const cut = folder.lastIndexOf('/');
      if (cut < 0) return;
      folder = folder.slice(0, cut);
      try {
        this.#workspace.inFolderOf(folder, (parent, name) => {
          this.#fs.rmdir(`${parent.path}/${name}`);
          parent.sync();
        });
      } catch (error) {
        // One that is not there, since making them was cut short, keeps nobody from the one above it.
        if (!isMissing(error)) return; // not empty, or not ours to remove: it stays
      }
    }
  }

  // A folder of files that go is how the path is while it is no file; the files are in the intent themselves.
  #storePresent(entry: string, mayBeFolder: boolean): FileState | undefined {
    const fs = this.#fs;
    const kind = fs.lstat(entry)?.kind;
    if (kind === undefined || (kind === 'directory' && mayBeFolder)) return { kind: 'absent', newDirs: 0 };
    if (kind === 'link') return { kind: 'link', target: fs.readlink(entry) };
    if (kind !== 'file') return undefined;
    const fd = fs.openRead(entry);
    try {
      const { mode } = fs.fstat(fd);
      const stored = this.#session.blobs.storeFile(fd);
      if (stored === undefined) return undefined;
      return { kind: 'stored', blob: stored.hash, hash: stored.hash, bytes: stored.bytes, mode: mode & 0o777 };
    } finally {
      fs.close(fd);
    }
  }

  // Folders that go with a file come back with it, and as private as they were.
  #modesOfFolders(path: string, count: number): readonly number[] {
    const folders = path.split('/').slice(0, -1);
    const modes: number[] = [];
    for (let up = 0; up < count && up < folders.length; up += 1) {
      const folder = folders.slice(0, folders.length - up).join('/');
      const stat = this.#fs.lstat(`${this.#workspace.real}/${folder}`);
      if (stat?.kind !== 'directory') break;
      modes.unshift(stat.mode & 0o777);
    }
    return modes;
  }

  #put(change: FileChange, onChange: (path: string) => void): void {
    const fs = this.#fs;
    const { path, resolved } = change;
    if (this.#staged.besideOf(change) !== resolved) {
      this.#putInNewFolder(change, onChange);
      return;
    }
    const done = this.#workspace.inFolderOf(resolved, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      const present = fs.lstat(entry);
      this.#assertAsSeen(present, resolved);
      onChange(resolved);
      if (present?.kind === 'directory') this.#removeEmptied(resolved);
      fs.rename(`${folder.path}/${this.#staged.nameFor(path)}`, entry);
      folder.sync();
      return true;
    });
    if (done === undefined) throw new StalePlanError(`The folder of ${JSON.stringify(resolved)} went away`);
  }

  // Something that was in the way of its folder is gone only now.
  #putInNewFolder(change: FileChange, onChange: (path: string) => void): void {
    const { path, resolved, folderModes = [] } = change;
    const beside = this.#staged.besideOf(change);
    const done = this.#workspace.inFolderOf(beside, (staging) => {
      onChange(resolved);
      this.#workspace.makingFolderOf(resolved, DEFAULT_FOLDER_MODE, folderModes, (folder, name) => {
        const entry = `${folder.path}/${name}`;
        this.#assertAsSeen(this.#fs.lstat(entry), resolved);
        this.#fs.rename(`${staging.path}/${this.#staged.nameFor(path)}`, entry);
        folder.sync();
      });
      staging.sync(); // what was staged is there no longer
      return true;
    });
    if (done === undefined) throw new StalePlanError(`The folder of ${JSON.stringify(beside)} went away`);
  }

  /** Removes a folder of nothing but folders; `STALE_PLAN` when somebody has put a file into it. */
  #removeEmptied(folder: string): void {
    const entries = this.#workspace.inFolderOf(`${folder}/*`, ({ path }) => this.#fs.readdir(path)) ?? [];
    for (const { name, kind } of entries) if (kind === 'directory') this.#removeEmptied(`${folder}/${name}`);
    this.#workspace.inFolderOf(folder, (parent, name) => {
      try {
        this.#fs.rmdir(`${parent.path}/${name}`);
      } catch (cause) {
        if (!IS_IN_USE.has(errnoOf(cause))) throw cause;
        throw new StalePlanError(`Somebody put something into ${JSON.stringify(folder)} at this moment`);
      }
    });
  }

  #remove({ resolved }: FileChange, onChange: (path: string) => void): void {
    this.#workspace.inFolderOf(resolved, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      const present = this.#fs.lstat(entry);
      this.#assertAsSeen(present, resolved);
      if (present === undefined) return;
      onChange(resolved);
      this.#fs.unlink(entry);
      folder.sync();
    });
  }

  // What somebody writes while a rewind is under way is in no blob yet: it must not be overwritten.
  #assertAsSeen(present: FileStat | undefined, path: string): void {
    const seen = this.#seen.get(path);
    if (seen === undefined) return;
    const same =
      seen === 'absent' || present === undefined
        ? seen === 'absent' && present === undefined
        : present.kind === seen.kind &&
          sameFile(present, seen) &&
          // What is taken out of a folder first changes size and time of it.
          (present.kind === 'directory' || (present.size === seen.size && present.mtimeMs === seen.mtimeMs));
    if (!same) throw changedNow(path);
  }
}

/**
 * Makes the present content of files and their names durable: what an interrupted rewind goes back to (RELIABILITY.md,
 * 2.3).
 */
export function syncPresent(session: LockedSession, workspace: Workspace, paths: readonly string[]): void {
  const { fs } = session.deps;
  for (const path of paths) {
    workspace.inFolderOf(path, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      if (fs.lstat(entry)?.kind === 'file') {
        const fd = fs.openRead(entry);
        try {
          syncFile(fs, fd, path);
        } finally {
          fs.close(fd);
        }
      }
      folder.sync();
    });
  }
}

/** Syncs the folder of each path that has one, once. */
export function syncFolders(workspace: Workspace, paths: readonly string[]): void {
  const first = new Map(paths.map((path) => [path.slice(0, Math.max(0, path.lastIndexOf('/'))), path] as const));
  for (const path of first.values()) {
    let isReached = false;
    try {
      workspace.inFolderOf(path, (folder) => {
        isReached = true;
        folder.sync();
      });
    } catch (error) {
      // One that is not there, or not what it was, holds nothing of ours.
      if (isReached) throw error;
    }
  }
}

function changedNow(path: string): StalePlanError {
  return new StalePlanError(`${JSON.stringify(path)} was changed by somebody else at this moment`);
}

function seenEntry(stat: FileStat | undefined): SeenEntry {
  if (stat === undefined) return 'absent';
  const { kind, dev, ino, birthNs, size, mtimeMs } = stat;
  return { kind, dev, ino, birthNs, size, mtimeMs };
}
