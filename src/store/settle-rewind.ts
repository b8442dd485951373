import { InterruptedRewindError, RewindNotFoundError } from '../errors.js';
import { ConfinedRoot } from '../fs/confined-path.js';
import { decodeIntent, type RewindIntent } from '../model/rewind-record.js';
import { hasState } from '../plan/file-change.js';
import { carryOut, type RewindResult } from './apply-rewind.js';
import { changeFiles, removeEmptyFolders, type StateChange, unstageAll } from './change-files.js';
import type { StoreDeps } from './deps.js';
import type { LockedSession } from './locked-session.js';
import { planFromDisk } from './preview-rewind.js';
import { findIntent, takeIntentOut } from './rewind-transaction.js';
import { withSessionAsItIs } from './session-lock.js';
import { locate, readPresent } from './workspace-state.js';

/** What became of an interrupted rewind. */
export interface SettledRewind {
  readonly rewindId: string;
  /** Files put back to what they were before it. */
  readonly restored: readonly string[];
  /** Files that somebody changed since; they are as they are, and what they were is in the kept record. */
  readonly left: readonly string[];
}

// Both look before anything is put right: recovery would take an interrupted rewind back by itself, and what is to be
// continued would be gone.

/**
 * Takes back an interrupted rewind although something was written after it: files that are still as it left them are
 * put back, those that somebody changed since are left, and its intent goes from the log, which is kept first.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`) when no rewind of this session was interrupted.
 * @see FORMAT.md, 6
 */
export async function abortRewind(deps: StoreDeps, sessionId: string): Promise<SettledRewind> {
  return withSessionAsItIs(deps, sessionId, (session) => takeBack(session, requireIntent(session)));
}

/**
 * Carries an interrupted rewind out after all: what is left of it is taken back, then it is done anew, whole. Events
 * that were appended since are dropped with the others, and kept.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`), ConflictError (`CONFLICT`), IncompleteError (`INCOMPLETE`)
 */
export async function continueRewind(
  deps: StoreDeps,
  sessionId: string,
  options: { readonly force?: boolean | undefined } = {},
): Promise<RewindResult> {
  return withSessionAsItIs(deps, sessionId, (session) => {
    const intent = requireIntent(session);
    const wish = { target: intent.target, workspace: intent.workspace, force: options.force };
    takeBack(session, intent);
    return carryOut(session, planFromDisk(deps, session.id, session.log, session.metadata, wish, true), wish);
  });
}

function requireIntent(session: LockedSession): RewindIntent {
  const found = findIntent(session);
  const intent = found === undefined ? undefined : decodeIntent(found.event, session.id);
  if (found === undefined || intent === undefined) throw new RewindNotFoundError(session.id, undefined);
  if (session.deps.fs.stat(intent.workspace)?.kind === 'directory' || intent.files.length === 0) return intent;
  throw new InterruptedRewindError(session.id, found.event.sequence, `its workspace ${intent.workspace} is not there`);
}

function takeBack(session: LockedSession, intent: RewindIntent): SettledRewind {
  session.assertMayRewrite();
  session.sealedTail();
  const { deps } = session;
  const workspace = new ConfinedRoot(deps.fs, intent.workspace);
  unstageAll(
    session,
    workspace,
    intent.id,
    intent.files.map(({ path }) => path),
  );
  const back: StateChange[] = [];
  const left: string[] = [];
  for (const { path, before, to } of intent.files) {
    const present = readPresent(deps, workspace, locate(deps, workspace, path));
    if (hasState(present, before)) continue;
    if (hasState(present, to)) back.push({ path, to: before });
    else left.push(path);
  }
  changeFiles(session, workspace, intent.id, back);
  for (const { path, before } of intent.files) {
    if (before.kind === 'absent') removeEmptyFolders(session, workspace, path, before.newDirs);
  }
  takeIntentOut(session, intent);
  return { rewindId: intent.id, restored: back.map(({ path }) => path), left };
}
