import type { FileState } from '../../model/event.js';
import { type FileChange, hasState, type PresentState } from './file-change.js';

// A file that the session replaced by a folder, or a folder by a file: going back takes one out of the other's way. It
// is done only where all that is in the way goes by the same change, which keeps it (FORMAT.md, 6).

/** Gives the folders that a path is in, the innermost first. */
export function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('/'));
}

/**
 * Settles what the files of a plan mean to each other: a file goes where a folder is if the same plan deletes all that
 * the folder holds, and behind a file if the plan deletes that one.
 */
export function settleShapes(files: readonly FileChange[]): readonly FileChange[] {
  const byPath = new Map(files.map((file) => [file.resolved, file]));
  return files.map((file) => {
    if (file.action === 'impossible') return file;
    if (file.present.kind === 'folder') return settleFolder(file, file.present.holds ?? [], byPath);
    return file.action === 'leave' ? file : settleBehind(file, byPath);
  });
}

/** Gives the folders at the paths of files, which go with all that they hold. */
export function foldersThatGo(files: readonly FileChange[]): ReadonlySet<string> {
  const folders = files.filter(({ present, action }) => present.kind === 'folder' && action !== 'impossible');
  return new Set(folders.map(({ resolved }) => resolved).filter((folder) => !hasFilesBelow(folder, files)));
}

/** Parts the changes that can be made together from those that wait for one which is not among them. */
export function partUnmet(changes: readonly FileChange[]): {
  readonly met: readonly FileChange[];
  readonly unmet: readonly FileChange[];
} {
  const paths = new Set(changes.map(({ resolved }) => resolved));
  const isMet = ({ present }: FileChange): boolean => {
    if (present.kind === 'folder') return (present.holds ?? []).every((path) => paths.has(path));
    return present.kind !== 'absent' || present.behind === undefined || paths.has(present.behind);
  };
  return { met: changes.filter(isMet), unmet: changes.filter((change) => !isMet(change)) };
}

/** Tells whether nothing has to go before the folder of a file can be opened. */
export function isReachable({ present }: FileChange): boolean {
  return present.kind !== 'absent' || present.behind === undefined;
}

/** Whether a path is in a state of an intent: one that has files below it may be a folder while it is no file. */
export function isInState(present: PresentState, state: FileState, isAboveOthers: boolean): boolean {
  if (isAboveOthers && present.kind === 'folder') return state.kind === 'absent';
  return hasState(present, state);
}

/**
 * The path beside which a file is staged: its own, or that of a folder above it which is changed too and may be none
 * yet.
 */
export function stagedBeside(path: string, changed: ReadonlySet<string>): string {
  return foldersAbove(path).findLast((folder) => changed.has(folder)) ?? path;
}

function settleFolder(file: FileChange, holds: readonly string[], byPath: ReadonlyMap<string, FileChange>): FileChange {
  const { resolved, wanted } = file;
  if (wanted.kind === 'absent' && hasFilesBelow(resolved, [...byPath.values()])) {
    return { ...file, action: 'leave', reason: 'was a folder then, too' };
  }
  if (holds.length === 0) return { ...file, action: 'impossible', reason: 'is a folder now' };
  const stays = holds.find((path) => !goes(byPath.get(path)));
  if (stays !== undefined) {
    return { ...file, action: 'impossible', reason: `is a folder now, with ${JSON.stringify(stays)} in it` };
  }
  if (wanted.kind === 'absent') return { ...file, action: 'leave', reason: 'goes with what is in it' };
  if (holds.some((path) => byPath.get(path)?.action === 'conflict')) {
    return { ...file, action: 'conflict', reason: 'is a folder now, with a changed file in it', forced: 'restore' };
  }
  return { ...file, action: 'restore', reason: 'is a folder now, and all in it goes' };
}

function settleBehind(file: FileChange, byPath: ReadonlyMap<string, FileChange>): FileChange {
  const { present } = file;
  if (present.kind !== 'absent' || present.behind === undefined) return file;
  const inTheWay = byPath.get(present.behind);
  const name = JSON.stringify(present.behind);
  if (!goes(inTheWay)) return { ...file, action: 'impossible', reason: `cannot be reached: ${name} is no folder` };
  if (inTheWay?.action !== 'conflict') return file;
  return { ...file, action: 'conflict', reason: `is behind ${name}, which somebody changed`, forced: 'restore' };
}

function goes(change: FileChange | undefined): boolean {
  if (change?.wanted.kind !== 'absent') return false;
  return change.action === 'delete' || (change.action === 'conflict' && change.forced === 'delete');
}

/** Tells whether files are to be there below a path. */
function hasFilesBelow(folder: string, files: readonly FileChange[]): boolean {
  const isThere = ({ kind }: FileState): boolean => kind === 'stored' || kind === 'link';
  return files.some(({ resolved, wanted }) => isThere(wanted) && resolved.startsWith(`${folder}/`));
}
