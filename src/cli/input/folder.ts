import { lstatSync, statSync } from 'node:fs';

/** Tells whether a folder is at a path, links followed; one that cannot be looked at is none. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Tells whether anything is at a path, a link that leads nowhere too. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
