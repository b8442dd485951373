import { InterruptedRewindError, RewindNotFoundError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import type { RewindIntent } from '../model/rewind-record.js';
import type { RewindPlan } from '../plan/rewind.js';
import { carryOut, previewRefused, type RewindResult, refuseUnlessAllowed } from './apply-rewind.js';
import { changeFiles } from './change-files.js';
import type { StoreDeps } from './deps.js';
import { type FoundIntent, findIntent, openIntendedWorkspace } from './interrupted-rewind.js';
import type { LockedSession } from './locked-session.js';
import { type PlannedRewind, planFromDisk, type RewindOptions } from './preview-rewind.js';
import { openLog } from './read-session.js';
import { discardUncommittedRecord, recover } from './recover.js';
import { takeIntentOut } from './rewind-transaction.js';
import { findWayBack, removeMadeFolders, rollBack, syncWayBack, unstage } from './roll-back.js';
import { withSessionAsItIs } from './session-lock.js';
import { carryOutUndo, previewRefusedUndo, type UndoOptions } from './undo-rewind.js';

const NOTHING_INTERRUPTED = 'no interrupted rewind';

/** What became of an interrupted rewind. */
export interface SettledRewind {
  readonly rewindId: string;
  /** Files put back to what they were before it. */
  readonly restored: readonly string[];
  /** Files that are as they are, since somebody changed them or they are out of reach; what they were is kept. */
  readonly left: readonly string[];
}

// Both look before anything is put right: recovery would take an interrupted rewind back by itself, and what is to be
// continued would be gone.

/**
 * Takes back an interrupted rewind although something was written after it: files that are still as it left them are
 * put back, the others are left, and its intent goes from the log, which is kept first.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`) when no rewind of this session was interrupted.
 * @see FORMAT.md, 6
 */
export async function abortRewind(deps: StoreDeps, sessionId: string): Promise<SettledRewind> {
  return withSessionAsItIs(deps, sessionId, (session) => {
    const found = requireIntent(session);
    const { intent } = found;
    const workspace = openIntendedWorkspace(deps, intent, true);
    // A workspace that is gone for good must not keep the session from ever being rewound again.
    const settled = takeBack(session, found, 'reason' in workspace ? undefined : workspace, true);
    recover(session);
    return settled;
  });
}

/**
 * Carries an interrupted rewind out after all: what is left of it is taken back, then it is done anew, whole. Events
 * that were appended since are dropped with the others, and kept.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`), ConflictError (`CONFLICT`), IncompleteError (`INCOMPLETE`)
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`) when its workspace is not there, or what it staged cannot be
 * removed.
 */
export async function continueRewind(
  deps: StoreDeps,
  sessionId: string,
  options: { readonly force?: boolean | undefined; readonly allowPartial?: boolean | undefined } = {},
): Promise<RewindResult> {
  return withSessionAsItIs(deps, sessionId, (session) => {
    const found = requireIntent(session);
    const { intent, sequence } = found;
    const workspace = openIntendedWorkspace(deps, intent, true);
    if ('reason' in workspace) throw new InterruptedRewindError(session.id, sequence, workspace.reason);
    const { force, allowPartial } = options;
    const { undoes } = intent;
    if (undoes !== undefined) {
      const wish: UndoOptions = { rewindId: undoes, force, allowPartial, workspace: intent.workspace };
      refuseUnlessAllowed(previewRefusedUndo(deps, session.id, wish), wish);
      takeBack(session, found, workspace, false);
      return carryOutUndo(session, wish);
    }
    const wish: RewindOptions = { ...wishOf(intent), workspace: workspace.named, force, allowPartial };
    const plan = (): PlannedRewind => planFromDisk(deps, session.id, session.log, session.metadata, wish, true);
    // Before anything is taken back: what is refused leaves all as it is, the half done rewind, too.
    refuseUnlessAllowed(plan().plan, wish);
    takeBack(session, found, workspace, false);
    return carryOut(session, plan(), wish);
  });
}

/** Plans what {@link continueRewind} was refused, as {@link previewRefused} does. */
export function previewRefusedContinue(deps: StoreDeps, sessionId: string): RewindPlan {
  const found = findIntent(openLog(deps, sessionId));
  if (found === undefined) throw new RewindNotFoundError(sessionId, undefined, NOTHING_INTERRUPTED);
  const { undoes, workspace } = found.intent;
  if (undoes !== undefined) return previewRefusedUndo(deps, sessionId, { rewindId: undoes, workspace });
  return previewRefused(deps, sessionId, { ...wishOf(found.intent), workspace });
}

/** Gives how an intent was asked for. */
function wishOf({ target, filesOnly, files }: RewindIntent): RewindOptions {
  return { target, ...(filesOnly === true ? { part: 'files', paths: files.map(({ path }) => path) } : {}) };
}

function requireIntent(session: LockedSession): FoundIntent {
  const found = findIntent(session.log);
  if (found === undefined) throw new RewindNotFoundError(session.id, undefined, NOTHING_INTERRUPTED);
  return found;
}

/** @param mayLeave - Whether staged files that cannot be removed may stay: they are among those that are left then. */
function takeBack(
  session: LockedSession,
  { intent, sequence }: FoundIntent,
  workspace: ConfinedRoot | undefined,
  mayLeave: boolean,
): SettledRewind {
  session.assertMayRewrite();
  session.sealedTail();
  // That of the rewind which never was, or of a settling that was cut short.
  discardUncommittedRecord(session);
  const all = intent.files.map(({ path }) => path);
  if (workspace === undefined) {
    takeIntentOut(session, intent);
    return { rewindId: intent.id, restored: [], left: all };
  }
  const { changes, edited, impossible } = findWayBack(session, workspace, intent);
  const back = changes.map(({ place }) => all[place] as string);
  const left = [...edited, ...impossible.map(({ path }) => path)];
  // Where nobody came in between it is as if it had never begun, and there is nothing to keep.
  if (left.length === 0 && rollBack(session, intent).kind === 'rolledBack') {
    return { rewindId: intent.id, restored: back, left };
  }
  const staged = unstage(session, workspace, intent);
  if (staged.length > 0 && !mayLeave) {
    const reason = `what it laid beside these files cannot be removed: ${staged.join(' ')}`;
    throw new InterruptedRewindError(session.id, sequence, reason);
  }
  changeFiles(session, workspace, intent.id, changes);
  removeMadeFolders(session, workspace, intent);
  syncWayBack(session, workspace, intent);
  takeIntentOut(session, intent);
  return { rewindId: intent.id, restored: back, left: [...new Set([...left, ...staged])] };
}
