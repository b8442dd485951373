import { RewindNotFoundError } from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { type RewindIntent, workOf } from '../../model/rewind-record.js';
import type { RewindPlan } from '../../plan/rewind/rewind.js';
import type { StoreDeps } from '../base/deps.js';
import type { LockedSession } from '../parts/locked-session.js';
import { openLog } from '../parts/read-session.js';
import {
  type FoundIntent,
  findIntent,
  interruptedError,
  openIntendedWorkspace,
} from '../recovery/interrupted-rewind.js';
import { discardUncommittedRecord, recover, settleMetadata } from '../recovery/recover.js';
import { findWayBack, removeMadeFolders, rollBack, syncWayBack, unstage } from '../recovery/roll-back.js';
import { withSessionAsItIs } from '../recovery/session-lock.js';
import { changeFiles } from '../workspace/change-files.js';
import { carryOut, previewRefused, type RewindResult, refuseUnlessAllowed } from './apply-rewind.js';
import { type PlannedRewind, planFromDisk, type TargetedRewind } from './preview-rewind.js';
import { takeIntentOut } from './rewind-transaction.js';
import { carryOutUndo, previewRefusedUndo, type UndoOptions } from './undo-rewind.js';

const NOTHING_INTERRUPTED = 'no interrupted rewind';

/** What became of an interrupted rewind. */
export interface SettledRewind {
  readonly rewindId: string;
  /** What was interrupted. */
  readonly work: RewindWork;
  /** Files put back to what they were before it. */
  readonly restored: readonly string[];
  /** Files that are as they are; what they were is kept. */
  readonly left: readonly string[];
  /** Why each of those was left. */
  readonly skipped: readonly SkippedFile[];
}

/** What an interrupted call was to do. */
export type RewindWork = ReturnType<typeof workOf>;

export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** An interrupted rewind that was carried out after all. */
export interface ContinuedRewind extends RewindResult {
  readonly work: RewindWork;
}

/** How an interrupted rewind is settled. */
export interface SettleOptions {
  /** Where its files are, absolute; else where it says, if it was made here. */
  readonly workspace?: string | undefined;
}

export interface ContinueOptions extends SettleOptions {
  readonly force?: boolean | undefined;
  readonly allowPartial?: boolean | undefined;
}

// Both look before anything is put right: recovery would take an interrupted rewind back by itself, and what is to be
// continued would be gone.

/**
 * Takes back an interrupted rewind although something was written after it: files that are still as it left them are
 * put back, the others are left, and its intent goes from the log, which is kept first. Where it was not made here only
 * the log is changed, unless a workspace is named.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`) when no rewind of this session was interrupted.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when the workspace that is named will not do.
 * @see FORMAT.md, 5 and 6
 */
export async function abortRewind(
  deps: StoreDeps,
  sessionId: string,
  options: SettleOptions = {},
): Promise<SettledRewind> {
  return withSessionAsItIs(deps, sessionId, (session) => {
    const found = requireIntent(session);
    const workspace = openIntendedWorkspace(deps, found, options.workspace);
    // A workspace that is gone for good must not keep the session from ever being rewound again.
    const settled =
      'reason' in workspace ? takeOut(session, found, workspace) : takeBack(session, found, workspace, true);
    recover(session);
    settleMetadata(session);
    return settled;
  });
}

/**
 * Carries an interrupted rewind out after all: what is left of it is taken back, then it is done anew, whole. Events
 * that were appended since are dropped with the others, and kept.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`), ConflictError (`CONFLICT`), IncompleteError (`INCOMPLETE`)
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`) when its workspace is not there, when it was not made here and
 * none is named, or when what it staged cannot be removed.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when the workspace that is named will not do.
 */
export async function continueRewind(
  deps: StoreDeps,
  sessionId: string,
  options: ContinueOptions = {},
): Promise<ContinuedRewind> {
  return withSessionAsItIs(deps, sessionId, (session) => {
    const found = requireIntent(session);
    const { intent } = found;
    const workspace = openIntendedWorkspace(deps, found, options.workspace);
    if ('reason' in workspace) throw interruptedError(found, workspace.reason);
    const { force, allowPartial } = options;
    const work = workOf(intent);
    const { undoes } = intent;
    if (undoes !== undefined) {
      const wish: UndoOptions = { rewindId: undoes, force, allowPartial, workspace: workspace.named };
      refuseUnlessAllowed(previewRefusedUndo(deps, session.id, wish), wish);
      takeBack(session, found, workspace, false);
      return { ...carryOutUndo(session, wish), work };
    }
    const wish: TargetedRewind = { ...wishOf(intent), workspace: workspace.named, force, allowPartial };
    const plan = (): PlannedRewind =>
      planFromDisk(deps, session.id, session.log, session.metadata, wish, { lenientTarget: true });
    // Before anything is taken back: what is refused leaves all as it is, the half done rewind, too.
    refuseUnlessAllowed(plan().plan, wish);
    takeBack(session, found, workspace, false);
    return { ...carryOut(session, plan(), wish), work };
  });
}

/** Plans what {@link continueRewind} was refused, as {@link previewRefused} does. */
export async function previewRefusedContinue(
  deps: StoreDeps,
  sessionId: string,
  named?: string | undefined,
): Promise<RewindPlan> {
  const found = findIntent(openLog(deps, sessionId));
  if (found === undefined) throw new RewindNotFoundError(sessionId, undefined, NOTHING_INTERRUPTED);
  const { undoes } = found.intent;
  const workspace = named ?? (found.madeHere ? found.intent.workspace : undefined);
  if (undoes !== undefined) return previewRefusedUndo(deps, sessionId, { rewindId: undoes, workspace });
  return previewRefused(deps, sessionId, { ...wishOf(found.intent), workspace });
}

/** Gives how an intent was asked for. */
function wishOf({ target, filesOnly, files }: RewindIntent): TargetedRewind {
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
  found: FoundIntent,
  workspace: ConfinedRoot,
  mayLeave: boolean,
): SettledRewind {
  const { intent } = found;
  readyToSettle(session);
  const { changes, edited, impossible } = findWayBack(session, workspace, intent);
  const back = changes.map(({ place }) => intent.files[place]?.path as string);
  const left = [...edited.map((path) => ({ path, reason: 'changed since by somebody' })), ...impossible];
  // Where nobody came in between it is as if it had never begun, and there is nothing to keep.
  if (left.length === 0 && rollBack(session, intent, workspace).kind === 'rolledBack') {
    return settledRewind(intent, back, left);
  }
  const staged = unstage(session, workspace, intent);
  if (staged.length > 0 && !mayLeave) {
    throw interruptedError(found, `what it laid beside these files cannot be removed: ${staged.join(' ')}`);
  }
  changeFiles(session, workspace, intent.id, changes);
  removeMadeFolders(session, workspace, intent);
  syncWayBack(session, workspace, intent);
  takeIntentOut(session, intent);
  const beside = staged.map((path) => ({ path, reason: 'what lies beside it cannot be removed' }));
  return settledRewind(intent, back, [...left, ...beside]);
}

/** Takes an intent out of the log and touches no file, for the reason given. */
function takeOut(
  session: LockedSession,
  { intent }: FoundIntent,
  { reason }: { readonly reason: string },
): SettledRewind {
  readyToSettle(session);
  takeIntentOut(session, intent);
  return settledRewind(
    intent,
    [],
    intent.files.map(({ path }) => ({ path, reason })),
  );
}

function readyToSettle(session: LockedSession): void {
  session.assertMayRewrite();
  session.sealedTail();
  // A record that shares the log's bytes was never committed: it belongs to the rewind, or to a settling cut short.
  discardUncommittedRecord(session);
}

function settledRewind(
  intent: RewindIntent,
  restored: readonly string[],
  skipped: readonly SkippedFile[],
): SettledRewind {
  const left = [...new Set(skipped.map(({ path }) => path))];
  return { rewindId: intent.id, work: workOf(intent), restored, left, skipped };
}
