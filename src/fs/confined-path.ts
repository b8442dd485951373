import { errnoOf } from '../errors.js';
import { isMissing } from './durable-file.js';
import type { FileKind, FileSystem, FolderHandle } from './file-system.js';

/** Where a path leads, seen from a root folder. Its last component is never followed. */
export type ConfinedPath =
  /** `path` has no link in its folders, of which some are missing; `behind` is what stands in place of the first. */
  | { readonly kind: 'inside'; readonly path: string; readonly missingFolders: number; readonly behind?: string }
  | { readonly kind: 'root' }
  | { readonly kind: 'outside' }
  /** Something that is no folder, or a link to nowhere, stands in the way. */
  | { readonly kind: 'blocked' };

/** Whether something that is no folder is to be taken as gone where it stands in the way of a path. */
export type IsGone = (path: string, kind: Exclude<FileKind, 'directory'>) => boolean;

/** A folder that nothing below it may leave, however links are swapped meanwhile. */
export class ConfinedRoot {
  readonly #fs: FileSystem;
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
   * Finds where a path leads: `.` and `..` as text first, then the links of its folders (FORMAT.md, 4 and 5, paths).
   * @param isGone - What is gone is neither followed nor in the way: from there on the path is taken as it is written.
   */
  resolve(path: string, isGone: IsGone = () => false): ConfinedPath {
    if (path.includes('\0')) return { kind: 'outside' };
    const parts = this.#partsBelow(path);
    if (parts === undefined) return { kind: 'outside' };
    const name = parts.pop();
    if (name === undefined) return { kind: 'root' };
    const folders = this.#resolveFolders(parts, isGone);
    if (folders.kind !== 'inside') return folders;
    const { parts: resolved, missing, behind } = folders;
    const inside = { kind: 'inside', path: [...resolved, name].join('/'), missingFolders: missing } as const;
    return behind === undefined ? inside : { ...inside, behind };
  }

  /** An absolute path inside the root as relative to it, `.` and `..` resolved as text; undefined outside. */
  relativeOf(path: string): string | undefined {
    return this.#partsBelow(path)?.join('/');
  }

  /**
   * Works in the folder of a resolved path, reached step by step and never through a link; undefined when it is gone.
   * @throws the system's error (`ELOOP`, `ENOTDIR`) when something else has been put in its place.
   */
  inFolderOf<T>(path: string, work: (folder: FolderHandle, name: string) => T): T | undefined {
    return this.#workIn(path, undefined, work);
  }

  /**
   * Makes and syncs missing folders first.
   * @param modes - For the innermost of these, outermost first; the others get `mode`.
   */
  makingFolderOf<T>(
    path: string,
    mode: number,
    modes: readonly number[],
    work: (folder: FolderHandle, name: string) => T,
  ): T {
    const known = path.split('/').length - 1 - modes.length;
    return this.#workIn(path, (at) => modes[at - known] ?? mode, work) as T;
  }

  #workIn<T>(
    path: string,
    modeOf: ((at: number) => number) | undefined,
    work: (folder: FolderHandle, name: string) => T,
  ): T | undefined {
    const parts = path.split('/');
    const name = parts.pop() as string;
    const folder = this.#walk(parts, modeOf);
    if (folder === undefined) return undefined;
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
        if (modeOf === undefined && errnoOf(error) === 'ENOENT') return undefined;
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

  /** The components of a path below the root, `.` and `..` taken as text, or undefined when it lands outside. */
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
    | { readonly kind: 'inside'; readonly parts: readonly string[]; readonly missing: number; readonly behind?: string }
    | { readonly kind: 'outside' | 'blocked' } {
    let resolved: string[] = [];
    for (const [at, part] of parts.entries()) {
      const path = [this.real, ...resolved, part].join('/');
      const stat = this.#fs.lstat(path);
      const rest = { kind: 'inside', parts: [...resolved, ...parts.slice(at)], missing: parts.length - at } as const;
      if (stat === undefined) return rest;
      if (stat.kind === 'directory') {
        resolved = [...resolved, part];
        continue;
      }
      const behind = [...resolved, part].join('/');
      if (isGone(behind, stat.kind)) return { ...rest, behind };
      const target = stat.kind === 'link' ? this.#realFolder(path) : undefined;
      if (target === undefined) return { kind: 'blocked' };
      const inside = this.#insideReal(target);
      if (inside === undefined) return { kind: 'outside' };
      resolved = inside;
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

/** The components of an absolute path, `.` and `..` taken as text. */
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
