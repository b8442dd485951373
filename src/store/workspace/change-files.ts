import { createHash } from 'node:crypto';
import { errnoOf, StalePlanError } from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { createFile, isMissing, syncFile } from '../../fs/durable-file.js';
import {
  type FileIdentity,
  type FileStat,
  type FileSystem,
  type FolderHandle,
  sameFile,
} from '../../fs/file-system.js';
import { writeFully } from '../../fs/jsonl.js';
import { readChunks } from '../../fs/read-chunks.js';
import type { FileState } from '../../model/event.js';
import type { BlobHash } from '../../model/ids.js';
import { DEFAULT_FOLDER_MODE, FILE_MODE, TEMP_PREFIX } from '../base/layout.js';
import type { LockedSession } from '../parts/locked-session.js';

/** One file that is to be put into a state. */
export interface StateChange {
  /** Resolved, inside the workspace. */
  readonly path: string;
  readonly to: FileState;
  /** What its new content is staged beside, resolved: itself, or a folder above it that may not be one yet. */
  readonly beside: string;
  /** Its place in the intent, which is part of the name of what is staged for it. */
  readonly place: number;
  /** The modes of the innermost folders, should they have to be made, outermost first. */
  readonly folderModes?: readonly number[] | undefined;
  /** When it was last changed, for what is taken back; else it is new. */
  readonly mtimeMs?: number | undefined;
  /** What must be there when it is changed; undefined where nobody looked. */
  readonly seen?: SeenEntry | undefined;
}

/** An entry as it was when its content was kept: enough to tell that somebody has changed it since. */
export type SeenEntry = (FileIdentity & Pick<FileStat, 'kind' | 'size' | 'mtimeMs'>) | 'absent';

const DEFAULT_FILE_MODE = 0o644;
// What systems say of a folder that is not empty.
const IS_IN_USE: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Puts files into their states: everything is staged first, then what is to go is removed, then what is to be there
 * renamed into place, each synced. So a file can become a folder, and a folder that is empty by then a file.
 *
 * When staging fails nothing has changed and what was staged is gone. Names of staged files derive from `id`, so that
 * recovery finds them.
 * @param onChange - Told of each path just before it is changed.
 * @throws StalePlanError (`STALE_PLAN`) when somebody has changed an entry since it was seen.
 */
export function changeFiles(
  session: LockedSession,
  workspace: ConfinedRoot,
  id: string,
  changes: readonly StateChange[],
  onChange: (path: string) => void = () => {},
): void {
  const staged: StateChange[] = [];
  try {
    for (const change of changes) {
      if (change.to.kind === 'absent') continue;
      staged.push(change);
      stage(session, workspace, stagedName(id, change.place), change);
    }
  } catch (error) {
    unstageQuietly(session, workspace, id, staged);
    throw error;
  }
  const isRemoval = ({ to }: StateChange): boolean => to.kind === 'absent';
  for (const change of changes.filter(isRemoval)) {
    session.assertHeld();
    remove(session, workspace, change, () => onChange(change.path));
  }
  for (const change of changes.filter((each) => !isRemoval(each))) {
    session.assertHeld();
    put(session, workspace, stagedName(id, change.place), change, () => onChange(change.path));
  }
}

// What is still there then is taken by whoever rolls back: why it failed matters more.
function unstageQuietly(
  session: LockedSession,
  workspace: ConfinedRoot,
  id: string,
  staged: readonly StateChange[],
): void {
  for (const { beside, place } of staged) {
    try {
      unstage(session, workspace, beside, stagedName(id, place));
    } catch {}
  }
}

/**
 * Removes what an interrupted change may have staged beside these paths, which are in the order of its intent.
 * @returns the places of those beside which something may be left.
 */
export function unstageAll(
  session: LockedSession,
  workspace: ConfinedRoot,
  id: string,
  paths: readonly (string | undefined)[],
): readonly number[] {
  return [...paths.entries()].flatMap(([place, path]) => {
    if (path === undefined) return [];
    try {
      unstage(session, workspace, path, stagedName(id, place));
      return [];
    } catch {
      return [place];
    }
  });
}

/** Removes the folders above a path that the session made and that are empty now, the innermost first. */
export function removeEmptyFolders(session: LockedSession, workspace: ConfinedRoot, path: string, count: number): void {
  let folder = path;
  for (let left = count; left > 0; left -= 1) {
    const cut = folder.lastIndexOf('/');
    if (cut < 0) return;
    folder = folder.slice(0, cut);
    try {
      workspace.inFolderOf(folder, (parent, name) => {
        session.deps.fs.rmdir(`${parent.path}/${name}`);
        parent.sync();
      });
    } catch (error) {
      // One that is not there, since making them was cut short, keeps nobody from the one above it.
      if (!isMissing(error)) return; // not empty, or not ours to remove: it stays
    }
  }
}

/**
 * Makes the present content of files and their names durable: it is what an interrupted rewind goes back to.
 * @see RELIABILITY.md, 2.3, the first lesson
 */
export function syncPresent(session: LockedSession, workspace: ConfinedRoot, paths: readonly string[]): void {
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
export function syncFolders(workspace: ConfinedRoot, paths: readonly string[]): void {
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

function stagedName(id: string, place: number): string {
  return `${TEMP_PREFIX}${id}-${place}`;
}

function stage(session: LockedSession, workspace: ConfinedRoot, temp: string, change: StateChange): void {
  const { fs } = session.deps;
  const { path, to, beside, mtimeMs } = change;
  workspace.makingFolderOf(beside, DEFAULT_FOLDER_MODE, modesAbove(change), (folder, name) => {
    const tempPath = `${folder.path}/${temp}`;
    if (to.kind === 'link') {
      fs.symlink(to.target, tempPath);
      keepTime(session, tempPath, mtimeMs);
    } else if (to.kind === 'stored') {
      const known = path === beside ? presentMode(session, folder, name) : DEFAULT_FILE_MODE;
      const mode = to.mode > 0 ? to.mode : known;
      stageContent(session, tempPath, to, mode, mtimeMs);
    }
  });
}

// Of the modes, which are of the innermost folders, those of the folders that what is staged is in.
function modesAbove({ path, beside, folderModes = [] }: StateChange): readonly number[] {
  const inner = path.split('/').length - beside.split('/').length;
  return folderModes.slice(0, Math.max(0, folderModes.length - inner));
}

// Without a recorded mode the file keeps the one that it has.
function presentMode(session: LockedSession, folder: FolderHandle, name: string): number {
  const stat = session.deps.fs.lstat(`${folder.path}/${name}`);
  return stat?.kind === 'file' ? stat.mode & 0o777 : DEFAULT_FILE_MODE;
}

function stageContent(
  session: LockedSession,
  tempPath: string,
  to: FileState & { kind: 'stored' },
  mode: number,
  mtimeMs: number | undefined,
): void {
  const { fs } = session.deps;
  if (to.hash === undefined) throw new Error(`planned to restore from ${to.blob}, which is no hash`);
  for (const place of session.blobs.places(to.hash)) {
    if (!copyVerified(fs, place, tempPath, to.hash)) continue;
    const target = fs.openAppend(tempPath);
    try {
      fs.fchmod(target, mode);
      keepTime(session, tempPath, mtimeMs);
      syncFile(fs, target, tempPath);
    } finally {
      fs.close(target);
    }
    return;
  }
  // There was a whole one when the plan was made.
  throw new StalePlanError(`Blob ${to.hash} changed while it was restored`);
}

/** Copies a blob, and tells whether it is what its name says; else nothing is left of the copy. */
function copyVerified(fs: FileSystem, from: string, to: string, expected: BlobHash): boolean {
  const hash = createHash('sha256');
  const source = fs.openRead(from);
  try {
    createFile(fs, to, new Uint8Array(0), FILE_MODE);
    const target = fs.openAppend(to);
    try {
      for (const chunk of readChunks(fs, source)) {
        hash.update(chunk);
        writeFully(fs, target, chunk);
      }
    } finally {
      fs.close(target);
    }
  } finally {
    fs.close(source);
  }
  if (hash.digest('hex') === expected) return true;
  fs.unlink(to);
  return false;
}

// The time tells whether somebody else changed a file; without it a file that was taken back would look like that.
function keepTime({ deps }: LockedSession, path: string, mtimeMs: number | undefined): void {
  if (mtimeMs !== undefined) deps.fs.setModified(path, mtimeMs);
}

function put(
  session: LockedSession,
  workspace: ConfinedRoot,
  temp: string,
  change: StateChange,
  onChange: () => void,
): void {
  const { fs } = session.deps;
  const { path, seen, beside } = change;
  if (beside !== path) {
    putInNewFolder(session, workspace, temp, change, onChange);
    return;
  }
  const done = workspace.inFolderOf(path, (folder, name) => {
    const entry = `${folder.path}/${name}`;
    const present = fs.lstat(entry);
    assertAsSeen(present, seen, path);
    onChange();
    if (present?.kind === 'directory') removeEmptied(session, workspace, path);
    fs.rename(`${folder.path}/${temp}`, entry);
    folder.sync();
    return true;
  });
  if (done === undefined) throw new StalePlanError(`The folder of ${JSON.stringify(path)} went away`);
}

// Something that was in the way of its folder is gone only now.
function putInNewFolder(
  session: LockedSession,
  workspace: ConfinedRoot,
  temp: string,
  { path, seen, beside, folderModes = [] }: StateChange,
  onChange: () => void,
): void {
  const { fs } = session.deps;
  const done = workspace.inFolderOf(beside, (staging) => {
    onChange();
    workspace.makingFolderOf(path, DEFAULT_FOLDER_MODE, folderModes, (folder, name) => {
      const entry = `${folder.path}/${name}`;
      assertAsSeen(fs.lstat(entry), seen, path);
      fs.rename(`${staging.path}/${temp}`, entry);
      folder.sync();
    });
    staging.sync(); // what was staged is there no longer
    return true;
  });
  if (done === undefined) throw new StalePlanError(`The folder of ${JSON.stringify(beside)} went away`);
}

/**
 * Removes a folder of nothing but folders.
 * @throws StalePlanError (`STALE_PLAN`) when somebody has put a file into it.
 */
function removeEmptied(session: LockedSession, workspace: ConfinedRoot, folder: string): void {
  const { fs } = session.deps;
  for (const { name, kind } of workspace.inFolderOf(`${folder}/*`, ({ path }) => fs.readdir(path)) ?? []) {
    if (kind === 'directory') removeEmptied(session, workspace, `${folder}/${name}`);
  }
  workspace.inFolderOf(folder, (parent, name) => {
    try {
      fs.rmdir(`${parent.path}/${name}`);
    } catch (cause) {
      if (!IS_IN_USE.has(errnoOf(cause))) throw cause;
      throw new StalePlanError(`Somebody put something into ${JSON.stringify(folder)} at this moment`);
    }
  });
}

function remove(
  session: LockedSession,
  workspace: ConfinedRoot,
  { path, seen }: StateChange,
  onChange: () => void,
): void {
  const { fs } = session.deps;
  workspace.inFolderOf(path, (folder, name) => {
    const entry = `${folder.path}/${name}`;
    const present = fs.lstat(entry);
    assertAsSeen(present, seen, path);
    if (present === undefined) return;
    onChange();
    fs.unlink(entry);
    folder.sync();
  });
}

// What somebody writes while a rewind is under way is in no blob yet: it must not be overwritten.
function assertAsSeen(present: FileStat | undefined, seen: SeenEntry | undefined, path: string): void {
  if (seen === undefined) return;
  const same =
    seen === 'absent' || present === undefined
      ? seen === 'absent' && present === undefined
      : present.kind === seen.kind &&
        sameFile(present, seen) &&
        // What is taken out of a folder first changes size and time of it.
        (present.kind === 'directory' || (present.size === seen.size && present.mtimeMs === seen.mtimeMs));
  if (!same) throw new StalePlanError(`${JSON.stringify(path)} was changed by somebody else at this moment`);
}

/** What the system says of a path on which a folder is no longer there. */
const NOT_THERE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

function unstage(session: LockedSession, workspace: ConfinedRoot, path: string, temp: string): void {
  try {
    workspace.inFolderOf(path, (folder) => {
      const entry = `${folder.path}/${temp}`;
      if (session.deps.fs.lstat(entry) === undefined) return;
      session.deps.fs.unlink(entry);
      // Before the intent goes: nobody looks for it afterwards.
      folder.sync();
    });
  } catch (error) {
    const { code } = error as { code?: unknown };
    // A folder that is not what it was holds nothing of ours; one that could not be looked at may.
    if (code !== undefined && !NOT_THERE.has(code)) throw error;
  }
}
