import { errnoOf } from '../errors.js';
import { isMissing } from './durable-file.js';
import type { FileKind, FileSystem, FolderHandle } from './file-system.js';

/** Where a path leads, seen from a root folder. Its last component is never followed. */
export type ConfinedPath =
  /**
   * Inside: `path` has no link in its folders, no `.` and no `..`; `missingFolders` of them do not exist. `behind` is
   * what stands in the place of the outermost of these, taken as gone.
   */
  | { readonly kind: 'inside'; readonly path: string; readonly missingFolders: number; readonly behind?: string }
  /** The root itself. */
  | { readonly kind: 'root' }
  /** It leads out of the root. */
  | { readonly kind: 'outside' }
  /** Something that is no folder, or a link to nowhere, stands in the way. */
  | { readonly kind: 'blocked' };

/** Tells whether something that is no folder is to be taken as gone where it stands in the way of a path. */
export type IsGone = (path: string, kind: Exclude<FileKind, 'directory'>) => boolean;

/** A folder that nothing below it may leave, however links are swapped meanwhile. */
export class ConfinedRoot {
  readonly #fs: FileSystem;
  /** As it was named. */
  readonly named: string;
  /** With every link resolved. */
  readonly real: string;

  /** The root must exist; its own links are resolved once, here. */
  constructor(fs: FileSystem, named: string) {
    this.#fs = fs;
    this.named = trimSlashes(named);
    this.real = trimSlashes(fs.realpath(named));
  }

  /**
   * Finds where a path leads: `.` and `..` as text first, then with the links of its folders followed.
   *
   * An absolute path inside the root counts as its relative form, and so does one that leaves the root and comes back.
   * @param isGone - What is gone is neither followed nor in the way: the path is taken as it is written from there on.
   * @see FORMAT.md, 4, checkpoint capture, and 5, paths
   */
  resolve(path: string, isGone: IsGone = () => false): ConfinedPath {
    if (path.includes('\0')) return { kind: 'outside' };
    const parts = this.#partsBelow(path);
    if (parts === undefined) return { kind: 'outside' };
    const name = parts.pop();
    if (name === undefined) return { kind: 'root' };
    const folders = this.#resolveFolders(parts, isGone);
    if (folders.kind !== 'inside') return folders;
    const { behind } = folders;
    const inside = {
      kind: 'inside',
      path: [...folders.parts, name].join('/'),
      missingFolders: folders.missing,
    } as const;
    return behind === undefined ? inside : { ...inside, behind };
  }

  /** Gives an absolute path inside the root as relative to it, `.` and `..` resolved as text; undefined outside. */
  relativeOf(path: string): string | undefined {
    return this.#partsBelow(path)?.join('/');
  }

  /**
   * Runs work in the folder of a resolved path, which is reached one component at a time and never through a link.
   * @returns undefined when the folder does not exist.
   * @throws the system's error (`ELOOP`, `ENOTDIR`) when something else has been put in its place.
   */
  inFolderOf<T>(path: string, work: (folder: FolderHandle, name: string) => T): T | undefined {
    const parts = path.split('/');
    const name = parts.pop() as string;
    const folder = this.#walk(parts, undefined);
    if (folder === undefined) return undefined;
    try {
      return work(folder, name);
    } finally {
      folder.close();
    }
  }

  /**
   * As {@link inFolderOf}; folders that are missing are made and synced into the one above.
   * @param modes - Those of the innermost folders, should they be missing, outermost first; the others get `mode`.
   */
  makingFolderOf<T>(
    path: string,
    mode: number,
    modes: readonly number[],
    work: (folder: FolderHandle, name: string) => T,
  ): T {
    const parts = path.split('/');
    const name = parts.pop() as string;
    const known = parts.length - modes.length;
    const folder = this.#walk(parts, (at) => modes[at - known] ?? mode) as FolderHandle;
    try {
      return work(folder, name);
    } finally {
      folder.close();
    }
  }

  #walk(parts: readonly string[], modeOf: ((at: number) => number) | undefined): FolderHandle | undefined {
    let folder = this.#fs.openFolder(this.real);
    for (const [at, part] of parts.entries()) {
      const parent = folder;
      try {
        folder = this.#step(parent, part, modeOf?.(at));
      } catch (error) {
        if (modeOf === undefined && isAbsent(error)) return undefined;
        throw error;
      } finally {
        parent.close();
      }
    }
    return folder;
  }

  #step(parent: FolderHandle, part: string, makeMode: number | undefined): FolderHandle {
    const path = `${parent.path}/${part}`;
    if (makeMode !== undefined && this.#fs.lstat(path) === undefined) {
      this.#fs.mkdir(path, makeMode);
      parent.sync();
    }
    return this.#fs.openFolder(path);
  }

  /** Gives the components of a path from the root on, `.` and `..` taken as text, or undefined when it lands outside. */
  #partsBelow(path: string): string[] | undefined {
    const parts = normalParts(path.startsWith('/') ? path : `${this.named}/${path}`);
    for (const root of [this.named, this.real]) {
      const above = normalParts(root);
      if (above.every((part, at) => part === parts[at])) return parts.slice(above.length);
    }
    return undefined;
  }

  #resolveFolders(
    parts: readonly string[],
    isGone: IsGone,
  ):
    | { readonly kind: 'inside'; readonly parts: string[]; readonly missing: number; readonly behind?: string }
    | { readonly kind: 'outside' | 'blocked' } {
    let resolved: string[] = [];
    for (const [at, part] of parts.entries()) {
      const path = [this.real, ...resolved, part].join('/');
      const stat = this.#fs.lstat(path);
      if (stat === undefined)
        return { kind: 'inside', parts: [...resolved, ...parts.slice(at)], missing: parts.length - at };
      if (stat.kind === 'directory') {
        resolved = [...resolved, part];
        continue;
      }
      const behind = [...resolved, part].join('/');
      if (isGone(behind, stat.kind)) {
        return { kind: 'inside', parts: [...resolved, ...parts.slice(at)], missing: parts.length - at, behind };
      }
      if (stat.kind === 'link') {
        const target = this.#realFolder(path);
        if (target === undefined) return { kind: 'blocked' };
        const inside = this.#insideReal(target);
        if (inside === undefined) return { kind: 'outside' };
        resolved = inside;
      } else {
        return { kind: 'blocked' };
      }
    }
    return { kind: 'inside', parts: resolved, missing: 0 };
  }

  #realFolder(path: string): string | undefined {
    try {
      const real = this.#fs.realpath(path);
      return this.#fs.stat(real)?.kind === 'directory' ? real : undefined;
    } catch (error) {
      if (isMissing(error) || errnoOf(error) === 'ELOOP') return undefined;
      throw error;
    }
  }

  #insideReal(path: string): string[] | undefined {
    if (path === this.real) return [];
    return path.startsWith(`${this.real}/`) ? path.slice(this.real.length + 1).split('/') : undefined;
  }
}

/** Gives the components of an absolute path, `.` and `..` taken as text. */
function normalParts(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return parts;
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

function isAbsent(error: unknown): boolean {
  return errnoOf(error) === 'ENOENT';
}
