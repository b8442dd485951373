import { LockUnavailableError } from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { decodeIntent, type RewindIntent } from '../../model/rewind-record.js';
import { foldersAbove, isInState, stagedBeside } from '../../plan/rewind/changed-shape.js';
import type { PresentState } from '../../plan/rewind/file-change.js';
import { unavailableReason } from '../parts/blob-store.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession } from '../parts/locked-session.js';
import {
  changeFiles,
  removeEmptyFolders,
  type StateChange,
  syncFolders,
  unstageAll,
} from '../workspace/change-files.js';
import { locate, readHolds, readPresent, unwritableReason } from '../workspace/workspace-state.js';

/** What became of an unfinished rewind. */
export type RollBackResult =
  /** Every file is as it was before, and the intent is off the log. */
  | { readonly kind: 'rolledBack'; readonly files: number }
  /** Nothing was forced; the intent stays. */
  | { readonly kind: 'left'; readonly reason: string; readonly paths: readonly string[] };

/** How files go back to what an intent says that they were. */
interface WayBack {
  readonly changes: readonly StateChange[];
  /** Files in neither of the two states that the intent holds. */
  readonly edited: readonly string[];
  /** Files that cannot be put back, with the reason. */
  readonly impossible: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Takes back a rewind that did not reach its commit: files first, then the kept record, then the intent.
 *
 * It never rolls forward, it touches only files that are in one of the two states that the intent holds, and it looks
 * at all of them before it changes one.
 * @param changed - The paths that the rewind got to, where that is known: what it did not touch is none of its business.
 * @see RELIABILITY.md, 3.3
 */
export function rollBack(
  session: LockedSession,
  intent: RewindIntent,
  workspace: ConfinedRoot,
  changed?: ReadonlySet<string> | undefined,
): RollBackResult {
  const { last } = session.log.tail();
  if (last === undefined || decodeIntent(last, session.id)?.id !== intent.id) {
    return { kind: 'left', reason: 'its commit may have been reached', paths: [] };
  }
  const mayNot = whyNotRewrite(session);
  if (mayNot !== undefined) return { kind: 'left', reason: mayNot, paths: [] };
  const staged = unstage(session, workspace, intent);
  if (staged.length > 0)
    return { kind: 'left', reason: 'what lies beside these files cannot be removed', paths: staged };
  const { changes, edited, impossible } = findWayBack(session, workspace, intent, changed);
  if (edited.length > 0) return { kind: 'left', reason: 'these files were changed since', paths: edited };
  if (impossible.length > 0) {
    const paths = impossible.map(({ path, reason }) => `${path} (${reason})`);
    return { kind: 'left', reason: 'these files cannot be put back', paths };
  }
  changeFiles(session, workspace, intent.id, changes);
  removeMadeFolders(session, workspace, intent);
  syncWayBack(session, workspace, intent);
  takeIntentOff(session, intent);
  return { kind: 'rolledBack', files: changes.length };
}

/** Looks which files of an intent have to be put back, and whether they can be. */
export function findWayBack(
  session: LockedSession,
  workspace: ConfinedRoot,
  intent: RewindIntent,
  changed?: ReadonlySet<string> | undefined,
): WayBack {
  const changes: { readonly change: StateChange; readonly path: string; readonly present: PresentState }[] = [];
  const edited: string[] = [];
  const impossible: { path: string; reason: string }[] = [];
  const { deps } = session;
  const paths = pathsOfIntent(intent);
  const above = new Set([...paths].flatMap(foldersAbove));
  for (const [place, { path, before, to, folderModes, mtimeMs }] of intent.files.entries()) {
    if (changed !== undefined && !changed.has(path)) continue;
    const located = locate(deps, workspace, path, (at) => paths.has(at));
    const present = readPresent(deps, workspace, located);
    if (isInState(present, before, above.has(path))) continue;
    if (!isInState(present, to, above.has(path))) {
      edited.push(path);
      continue;
    }
    const { resolved } = located;
    const reason = unavailableReason(session.blobs, before) ?? unwritableReason(deps, workspace, resolved, present);
    const change = { path: resolved, to: before, beside: stagedBeside(resolved, paths), place, folderModes, mtimeMs };
    if (reason === undefined) changes.push({ change, path, present });
    else impossible.push({ path, reason });
  }
  const going = new Set(changes.flatMap(({ change, path }) => (change.to.kind === 'absent' ? [path] : [])));
  const ready = changes.filter(({ path, present }) => {
    if (present.kind === 'absent' && present.behind !== undefined && !going.has(present.behind)) {
      impossible.push({ path, reason: `cannot be reached: ${JSON.stringify(present.behind)} is no folder` });
      return false;
    }
    if (present.kind !== 'folder') return true;
    // Folders on the way to files of the intent are ours, and empty by then.
    const isOurs = (held: string): boolean => going.has(held) || above.has(held);
    const isFree = readHolds(deps, workspace, path, isOurs).every(isOurs);
    if (!isFree) edited.push(path);
    return isFree;
  });
  return { changes: ready.map(({ change }) => change), edited, impossible };
}

function pathsOfIntent({ files }: RewindIntent): ReadonlySet<string> {
  return new Set(files.map(({ path }) => path));
}

/**
 * Removes what an intent may have staged; a path that leads elsewhere now is left alone.
 * @returns the paths beside which something may be left.
 */
export function unstage(session: LockedSession, workspace: ConfinedRoot, intent: RewindIntent): readonly string[] {
  const paths = pathsOfIntent(intent);
  const beside = intent.files.map(({ path }) => {
    const resolved = insideOrNone(session, workspace, path, paths);
    return resolved === undefined ? undefined : stagedBeside(resolved, paths);
  });
  const left = unstageAll(session, workspace, intent.id, beside);
  return left.map((place) => intent.files[place]?.path ?? '');
}

/** Removes the folders that were made for files which are not to be there. */
export function removeMadeFolders(session: LockedSession, workspace: ConfinedRoot, intent: RewindIntent): void {
  const paths = pathsOfIntent(intent);
  for (const { path, before } of intent.files) {
    const resolved = insideOrNone(session, workspace, path, paths);
    if (before.kind === 'absent' && resolved !== undefined) {
      removeEmptyFolders(session, workspace, resolved, before.newDirs);
    }
  }
}

/**
 * Syncs every folder that an intent may have changed, to be called before it goes. What is as it was before may be so
 * through a recovery that was killed before it synced, and once the intent is gone nobody looks again.
 */
export function syncWayBack(session: LockedSession, workspace: ConfinedRoot, intent: RewindIntent): void {
  const paths = pathsOfIntent(intent);
  const resolved = intent.files.map(({ path }) => insideOrNone(session, workspace, path, paths));
  const entries = resolved.flatMap((path) => (path === undefined ? [] : [...foldersAbove(path), path]));
  syncFolders(workspace, entries);
}

function insideOrNone(
  session: LockedSession,
  workspace: ConfinedRoot,
  path: string,
  paths: ReadonlySet<string>,
): string | undefined {
  const { where, resolved } = locate(session.deps, workspace, path, (at) => paths.has(at));
  return where.kind === 'inside' ? resolved : undefined;
}

function whyNotRewrite(session: LockedSession): string | undefined {
  try {
    session.assertMayRewrite();
    return undefined;
  } catch (error) {
    if (error instanceof LockUnavailableError) return error.message;
    throw error;
  }
}

// The kept record shares the log's bytes until the commit, so it goes first: cutting the log would cut it as well.
function takeIntentOff(session: LockedSession, intent: RewindIntent): void {
  new KeptRecords(session.deps, session.paths).discard(intent.id);
  const tail = session.log.tail();
  session.assertHeld();
  // What somebody's interrupted append left behind the intent is kept.
  if (tail.tornFrom !== undefined) session.log.seal(tail);
  session.log.cut(tail.lastStart);
}
