import { ZeroSessionsError } from '../../errors.js';
import type { ConfinedPath, ConfinedRoot, IsGone } from '../../fs/confined-path.js';
import type { FileSystem, FolderEntry } from '../../fs/file-system.js';
import { UnexpectedKindError } from '../../fs/file-system.js';
import type { PresentState } from '../../plan/rewind/file-change.js';
import type { StoreDeps } from '../base/deps.js';
import { hashOpenFile } from '../parts/blob-store.js';

/** A path of a checkpoint, found in a workspace. */
export interface LocatedPath {
  readonly where: ConfinedPath;
  /** The one name of the file, under whatever name it was recorded. */
  readonly resolved: string;
}

/**
 * Finds a path in a workspace; what lies in the store is outside of every workspace.
 * @param isGone - What is taken as not there where it stands in the way.
 */
export function locate(deps: StoreDeps, workspace: ConfinedRoot, path: string, isGone?: IsGone): LocatedPath {
  const where = workspace.resolve(path, isGone);
  if (where.kind !== 'inside') return { where, resolved: path };
  if (liesInStore(deps, workspace, where.path)) return { where: { kind: 'outside' }, resolved: path };
  return { where, resolved: where.path };
}

/**
 * Reads what is at a located path now. Only regular files are opened, and a pipe cannot hold us.
 *
 * The folder is reached by descriptors, so what is read lies inside even while somebody swaps links.
 */
export function readPresent(deps: StoreDeps, workspace: ConfinedRoot, located: LocatedPath): PresentState {
  const { where } = located;
  if (where.kind === 'root') return { kind: 'folder' };
  if (where.kind !== 'inside') return { kind: where.kind };
  const { missingFolders, behind } = where;
  if (missingFolders > 0) return { kind: 'absent', missingFolders, ...(behind === undefined ? {} : { behind }) };
  try {
    const present = workspace.inFolderOf(where.path, (folder, name) => readEntry(deps.fs, `${folder.path}/${name}`));
    return present ?? { kind: 'absent', missingFolders: 0 };
  } catch (error) {
    return unreadable(error);
  }
}

/**
 * Gives what a folder holds, at any depth: its files, the folders in it that are empty, and, with a slash behind them,
 * those that cannot be read or changed. It ends with the first that is not known.
 */
export function readHolds(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  folder: string,
  isKnown: (path: string) => boolean,
): readonly string[] {
  const holds: string[] = [];
  const note = (path: string): boolean => {
    holds.push(path);
    return isKnown(path);
  };
  const walk = (path: string, isTop: boolean): boolean => {
    const entries = readChangeable(deps.fs, workspace, path);
    if (entries === undefined) return note(`${path}/`);
    if (entries.length === 0 && !isTop) return note(path);
    return entries.every(({ name, kind }) =>
      kind === 'directory' ? walk(`${path}/${name}`, false) : note(`${path}/${name}`),
    );
  };
  walk(folder, true);
  return holds;
}

function readChangeable(fs: FileSystem, workspace: ConfinedRoot, path: string): readonly FolderEntry[] | undefined {
  try {
    return workspace.inFolderOf(`${path}/*`, (folder) => {
      if (!fs.mayChange(folder.path) || fs.whyFixed(`${workspace.real}/${path}`) !== undefined) return undefined;
      return fs.readdir(folder.path);
    });
  } catch (error) {
    if (error instanceof ZeroSessionsError) throw error;
    if (typeof (error as { code?: unknown } | null)?.code === 'string') return undefined;
    throw error;
  }
}

/** Reads what is at a path, whose folder is held open. */
function readEntry(fs: FileSystem, path: string): PresentState {
  const stat = fs.lstat(path);
  if (stat === undefined) return { kind: 'absent', missingFolders: 0 };
  if (stat.kind === 'directory') return { kind: 'folder' };
  if (stat.kind === 'other') return { kind: 'special' };
  if (stat.kind === 'link') return { kind: 'link', target: fs.readlink(path), mtimeMs: stat.mtimeMs };
  try {
    const fd = fs.openRead(path);
    try {
      const opened = fs.fstat(fd);
      return { kind: 'file', ...hashOpenFile(fs, fd), mode: opened.mode & 0o777, mtimeMs: opened.mtimeMs };
    } finally {
      fs.close(fd);
    }
  } catch (error) {
    return unreadable(error);
  }
}

function unreadable(error: unknown): PresentState {
  if (error instanceof ZeroSessionsError) throw error;
  if (error instanceof UnexpectedKindError) return { kind: error.found === 'directory' ? 'folder' : 'special' };
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') throw error;
  if (code === 'ELOOP' || code === 'ENOTDIR') return { kind: 'blocked' };
  return { kind: 'unreadable', reason: code };
}

function liesInStore(deps: StoreDeps, workspace: ConfinedRoot, path: string): boolean {
  const full = `${workspace.real}/${path}`;
  let store: string;
  try {
    store = deps.fs.realpath(deps.root);
  } catch {
    return false;
  }
  return full === store || full.startsWith(`${store}/`);
}

/** Adds what a folder holds where it may be of these files only: else it is in the way, and nobody has to look. */
export function withHolds(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  present: PresentState,
  path: string,
  paths: ReadonlySet<string>,
): PresentState {
  if (present.kind !== 'folder' || path === '') return present;
  const below = `${path}/`;
  if (![...paths].some((other) => other.startsWith(below))) return present;
  return { kind: 'folder', holds: readHolds(deps, workspace, path, (held) => paths.has(held)) };
}

/** Says why a file can be neither changed nor removed, for the folder that it is in or for what it is; or undefined. */
export function unwritableReason(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  resolved: string,
  present: PresentState,
): string | undefined {
  // Such a path is none in the workspace, and perhaps none at all.
  if (present.kind === 'outside' || present.kind === 'blocked') return undefined;
  let folder = resolved;
  const missing = present.kind === 'absent' ? present.missingFolders : 0;
  for (let up = 0; up <= missing; up += 1)
    folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  const path = folder === '' ? workspace.real : `${workspace.real}/${folder}`;
  if (!deps.fs.mayChange(path)) return 'its folder cannot be written to';
  if (present.kind === 'absent') return undefined;
  const fixed = deps.fs.whyFixed(`${workspace.real}/${resolved}`);
  return fixed && FIXED_WORDS[fixed];
}

const FIXED_WORDS = {
  'mount point': 'is a mount point, which can be neither replaced nor removed',
  immutable: 'is marked as immutable (chattr +i)',
  'sticky folder': 'belongs to somebody else, in a folder where only owners may remove (sticky)',
} as const;
