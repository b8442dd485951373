import { dirname, resolve } from 'node:path';
import { errnoOf } from '../../errors.js';
import { readWholeFile } from '../../fs/durable-file.js';
import type { FileSystem } from '../../fs/file-system.js';
import { realPathOf } from '../../fs/real-path.js';
import type { StoreDeps } from '../base/deps.js';

/** Tells whether a recorded folder is meant. */
export type FolderTest = (cwd: string | undefined) => boolean;

/** A file that leads to a git folder is short. */
const MAX_GIT_FILE_BYTES = 64 * 1024;
const GIT_FILE = /^gitdir:/;

/**
 * Makes a test of whether a folder lies in the git work tree of this one, or below it; without a tree, in this one.
 *
 * Trees are found without git. A home folder is no tree: there, above it and in `/` only that very folder is meant.
 * Folders are compared by their real paths, those that are gone by what is left of them, and names in NFC.
 * @see CLI.md, "The work tree of a folder"
 */
export function inWorkTreeOf(
  deps: Pick<StoreDeps, 'fs' | 'homes' | 'othersHomes'>,
  folder: string,
  { exact = false }: { readonly exact?: boolean } = {},
): FolderTest {
  const { fs } = deps;
  const real = realPathOf(fs, resolve(folder));
  const homes = [...deps.homes, ...deps.othersHomes()].map((home) => realPathOf(fs, home));
  const isAlone = exact || real === '/' || homes.some((home) => isAtOrBelow(home, real));
  const top = isAlone ? real : (workTreeAt(fs, real, homes) ?? real);
  const known = new Map<string, boolean>();
  return (cwd) => {
    if (cwd === undefined || !cwd.startsWith('/')) return false;
    let isMeant = known.get(cwd);
    if (isMeant === undefined) {
      const path = realPathOf(fs, resolve(cwd)).normalize();
      isMeant = isAlone ? path === top.normalize() : isAtOrBelow(path, top.normalize());
      known.set(cwd, isMeant);
    }
    return isMeant;
  };
}

function workTreeAt(fs: FileSystem, folder: string, homes: readonly string[]): string | undefined {
  for (let at = folder; at !== '/' && !homes.includes(at); at = dirname(at)) {
    if (isWorkTree(fs, at)) return at;
  }
  return undefined;
}

function isWorkTree(fs: FileSystem, folder: string): boolean {
  const git = `${folder}/.git`;
  try {
    const stat = fs.stat(git);
    if (stat?.kind === 'directory') return fs.lstat(`${git}/HEAD`) !== undefined;
    if (stat?.kind !== 'file' || stat.size > MAX_GIT_FILE_BYTES) return false;
    return GIT_FILE.test(new TextDecoder().decode(readWholeFile(fs, fs.realpath(git))));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false; // not ours to look into
  }
}

function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
