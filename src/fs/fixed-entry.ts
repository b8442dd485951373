import fs from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../errors.js';

/** Why an entry can be neither replaced nor removed although its folder may be changed. */
export type WhyFixed = 'mount point' | 'immutable' | 'sticky folder';

const STICKY = 0o1000;

/** As far as that can be asked without trying; the path is absolute, without links in its folders. */
export function whyFixed(path: string): WhyFixed | undefined {
  const entry = fs.lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  const folder = fs.lstatSync(dirname(path));
  // Not everything that is mounted has another device: a bind mount of the same file system has not.
  if (entry.dev !== folder.dev || isInMountTable(path)) return 'mount point';
  if (!entry.isSymbolicLink() && isImmutable(path)) return 'immutable';
  return (folder.mode & STICKY) !== 0 && !mayRemoveFrom(entry.uid, folder.uid) ? 'sticky folder' : undefined;
}

// What belongs to a process belongs to the user that it acts as.
function mayRemoveFrom(owner: number, folderOwner: number): boolean {
  const uid = fs.statSync('/proc/self', { throwIfNoEntry: false })?.uid;
  return uid === undefined || uid === 0 || uid === owner || uid === folderOwner;
}

// To nobody, root included, the system gives leave to write to such a file; EACCES would be its mode.
function isImmutable(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.W_OK);
    return false;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}

function isInMountTable(path: string): boolean {
  let table: string;
  try {
    table = fs.readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return false; // another system, or one without /proc: the device tells of most
  }
  const escaped = path.replace(
    /[\\ \t\n#]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  if (!table.includes(` ${escaped} `)) return false;
  return table.split('\n').some((line) => line.split(' ')[MOUNT_POINT_FIELD] === escaped);
}

// proc(5): id, parent, device, root, mount point, …
const MOUNT_POINT_FIELD = 4;
