import { errnoOf, ZeroSessionsError } from '../../errors.js';
import { type ConfinedPath, ConfinedRoot, type IsGone } from '../../fs/confined-path.js';
import { type FileSystem, type FolderEntry, UnexpectedKindError } from '../../fs/file-system.js';
import type { PresentState } from '../../plan/rewind/file-change.js';
import type { StoreDeps } from '../base/deps.js';
import { hashOpenFile } from '../parts/blob-store.js';

/** A path of a checkpoint, found in a workspace. */
export interface LocatedPath {
  readonly where: ConfinedPath;
  /** The one name of the file, under whatever name it was recorded. */
  readonly resolved: string;
}

const FIXED_WORDS = {
  'mount point': 'is a mount point, which can be neither replaced nor removed',
  immutable: 'is marked as immutable (chattr +i)',
  'sticky folder': 'belongs to somebody else, in a folder where only owners may remove (sticky)',
} as const;

/**
 * The folder where the files of a session are. Its paths are reached by descriptors, so that swapped links lead
 * nowhere.
 */
export class Workspace extends ConfinedRoot {
  readonly #fs: FileSystem;
  readonly #storeRoot: string;

  constructor({ fs, root }: StoreDeps, named: string) {
    super(fs, named);
    this.#fs = fs;
    this.#storeRoot = root;
  }

  /**
   * Finds a path; what lies in the store is outside. `isGone` tells what is taken as not there where it is in the way.
   */
  locate(path: string, isGone?: IsGone): LocatedPath {
    const where = this.resolve(path, isGone);
    if (where.kind !== 'inside') return { where, resolved: path };
    if (this.#liesInStore(where.path)) return { where: { kind: 'outside' }, resolved: path };
    return { where, resolved: where.path };
  }

  /** Reads what is at a located path now. Only regular files are opened, and a pipe cannot hold us. */
  present({ where }: LocatedPath): PresentState {
    if (where.kind === 'root') return { kind: 'folder' };
    if (where.kind !== 'inside') return { kind: where.kind };
    const { missingFolders, behind } = where;
    if (missingFolders > 0) return { kind: 'absent', missingFolders, ...(behind === undefined ? {} : { behind }) };
    try {
      const present = this.inFolderOf(where.path, (folder, name) => readEntry(this.#fs, `${folder.path}/${name}`));
      return present ?? { kind: 'absent', missingFolders: 0 };
    } catch (error) {
      return unreadable(error);
    }
  }

  /** Reads what is at a path, and what a folder there holds if that may be these files only: else it is in the way. */
  presentAmong(located: LocatedPath, paths: ReadonlySet<string>): PresentState {
    const present = this.present(located);
    const { resolved } = located;
    if (present.kind !== 'folder' || resolved === '') return present;
    if (![...paths].some((other) => other.startsWith(`${resolved}/`))) return present;
    return { kind: 'folder', holds: this.holds(resolved, (held) => paths.has(held)) };
  }

  /**
   * Lists what a folder holds, at any depth: files, empty folders, and, with a slash behind them, folders that cannot
   * be read or changed. It ends with the first that is not known.
   */
  holds(folder: string, isKnown: (path: string) => boolean): readonly string[] {
    const holds: string[] = [];
    const note = (path: string): boolean => {
      holds.push(path);
      return isKnown(path);
    };
    const walk = (path: string, isTop: boolean): boolean => {
      const entries = this.#changeableEntries(path);
      if (entries === undefined) return note(`${path}/`);
      if (entries.length === 0 && !isTop) return note(path);
      return entries.every(({ name, kind }) =>
        kind === 'directory' ? walk(`${path}/${name}`, false) : note(`${path}/${name}`),
      );
    };
    walk(folder, true);
    return holds;
  }

  /** Why a file can be neither changed nor removed, for the folder that it is in or for what it is; or undefined. */
  whyUnwritable(resolved: string, present: PresentState): string | undefined {
    // Such a path is none in the workspace, and perhaps none at all.
    if (present.kind === 'outside' || present.kind === 'blocked') return undefined;
    const missing = present.kind === 'absent' ? present.missingFolders : 0;
    const folders = resolved.split('/').slice(0, -1 - missing);
    if (!this.#fs.mayChange([this.real, ...folders].join('/'))) return 'its folder cannot be written to';
    if (present.kind === 'absent') return undefined;
    const fixed = this.#fs.whyFixed(`${this.real}/${resolved}`);
    return fixed && FIXED_WORDS[fixed];
  }

  #changeableEntries(path: string): readonly FolderEntry[] | undefined {
    try {
      return this.inFolderOf(`${path}/*`, (folder) => {
        if (!this.#fs.mayChange(folder.path) || this.#fs.whyFixed(`${this.real}/${path}`) !== undefined)
          return undefined;
        return this.#fs.readdir(folder.path);
      });
    } catch (error) {
      if (error instanceof ZeroSessionsError || errnoOf(error) === undefined) throw error;
      return undefined;
    }
  }

  #liesInStore(path: string): boolean {
    const full = `${this.real}/${path}`;
    let store: string;
    try {
      store = this.#fs.realpath(this.#storeRoot);
    } catch {
      return false;
    }
    return full === store || full.startsWith(`${store}/`);
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
  const code = errnoOf(error);
  if (code === undefined) throw error;
  if (code === 'ELOOP' || code === 'ENOTDIR') return { kind: 'blocked' };
  return { kind: 'unreadable', reason: code };
}
