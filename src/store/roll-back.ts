import { ConfinedRoot } from '../fs/confined-path.js';
import { decodeIntent, type RewindIntent } from '../model/rewind-record.js';
import { hasState } from '../plan/file-change.js';
import { changeFiles, removeEmptyFolders, type StateChange, unstageAll } from './change-files.js';
import { KeptRecords } from './kept-records.js';
import type { LockedSession } from './locked-session.js';
import { locate, readPresent } from './workspace-state.js';

/** What became of an unfinished rewind. */
export type RollBackResult =
  /** Every file is as it was before, and the intent is off the log. */
  | { readonly kind: 'rolledBack'; readonly files: number }
  /** Nothing was forced; the intent stays. */
  | { readonly kind: 'left'; readonly reason: string; readonly paths: readonly string[] };

/**
 * Takes back a rewind that did not reach its commit: files first, then the kept record, then the intent.
 *
 * It never rolls forward, and it touches only files that are in one of the two states that the intent holds.
 * @see RELIABILITY.md, 3.3
 */
export function rollBack(session: LockedSession, intent: RewindIntent): RollBackResult {
  const { deps } = session;
  const { last } = session.log.tail();
  if (last === undefined || decodeIntent(last, session.id)?.id !== intent.id) {
    return { kind: 'left', reason: 'its commit may have been reached', paths: [] };
  }
  if (deps.fs.stat(intent.workspace)?.kind !== 'directory') {
    return { kind: 'left', reason: `its workspace ${intent.workspace} is not there`, paths: [] };
  }
  const workspace = new ConfinedRoot(deps.fs, intent.workspace);
  unstageAll(
    session,
    workspace,
    intent.id,
    intent.files.map(({ path }) => path),
  );
  const back: StateChange[] = [];
  const edited: string[] = [];
  for (const { path, before, to } of intent.files) {
    const present = readPresent(deps, workspace, locate(deps, workspace, path));
    if (hasState(present, before)) continue;
    if (hasState(present, to)) back.push({ path, to: before });
    else edited.push(path);
  }
  if (edited.length > 0) return { kind: 'left', reason: 'these files were changed since', paths: edited };
  changeFiles(session, workspace, intent.id, back);
  for (const { path, before } of intent.files) {
    if (before.kind === 'absent') removeEmptyFolders(session, workspace, path, before.newDirs);
  }
  takeIntentOff(session, intent);
  return { kind: 'rolledBack', files: back.length };
}

// The kept record shares the log's bytes until the commit, so it goes first: cutting the log would cut it as well.
function takeIntentOff(session: LockedSession, intent: RewindIntent): void {
  new KeptRecords(session.deps, session.paths).discard(intent.id);
  const tail = session.log.tail();
  session.assertHeld();
  session.log.cut(tail.lastStart);
}
