import { RewindNotFoundError, WorkspaceRefusedError } from '../../errors.js';
import { type RewindIntent, workOf } from '../../model/rewind-record.js';
import type { StoreDeps } from '../base/deps.js';
import type { LockedSession } from '../parts/locked-session.js';
import {
  type FoundIntent,
  findIntent,
  interruptedError,
  openIntendedWorkspace,
} from '../recovery/interrupted-rewind.js';
import { discardUncommittedRecord, recover, settleMetadata } from '../recovery/recover.js';
import { RollBack, rollBack } from '../recovery/roll-back.js';
import { withSessionAsItIs } from '../recovery/session-lock.js';
import type { Workspace } from '../workspace/workspace.js';
import { carryOut, type RewindResult, refuseUnlessAllowed, subjectOf } from './apply-rewind.js';
import { planFromDisk, type RewindOptions } from './plan-from-disk.js';
import {
  incomplete,
  type PlannedRewind,
  planRefused,
  type Refusal,
  requireAllowed,
  workspaceRefusal,
} from './planned-rewind.js';
import { takeIntentOut } from './rewind-transaction.js';
import { planUndo } from './undo-rewind.js';

const NOTHING_INTERRUPTED = 'no interrupted rewind';

/** What became of an interrupted rewind. */
export interface SettledRewind {
  readonly rewindId: string;
  /** What was interrupted. */
  readonly work: RewindWork;
  /** Files that are what they were before it again. */
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
 * Rolls back an interrupted rewind although something was written after it: files that are still as it left them are
 * restored, the others are left, and its intent goes from the log, which is kept first. Where it was not made here only
 * the log is changed, unless a workspace is named (FORMAT.md, 5 and 6).
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
      'reason' in workspace
        ? takeOut(session, found, workspace)
        : rollBackPartly(new RollBack(session, found.intent, workspace));
    recover(session);
    settleMetadata(session);
    return settled;
  });
}

/**
 * Carries an interrupted rewind out after all: what is left of it is rolled back, then it is done anew, whole. Events
 * that were appended since are dropped with the others, and kept.
 */
export async function continueRewind(
  deps: StoreDeps,
  sessionId: string,
  options: ContinueOptions = {},
): Promise<ContinuedRewind> {
  return withSessionAsItIs(deps, sessionId, async (session) => {
    const found = requireIntent(session);
    const { intent } = found;
    const { force, allowPartial } = options;
    const opened = openOrRefuse(session, found, options.workspace);
    if ('refusal' in opened) {
      const workspace = options.workspace ?? (found.madeHere ? intent.workspace : undefined);
      const wish = { ...options, workspace };
      const { plan } = await planRefused(opened.refusal, () => planAgain(session, intent, wish));
      throw opened.refusal(plan);
    }
    const { workspace } = opened;
    const wish = { force, allowPartial, workspace: workspace.named };
    // Before anything is rolled back: what is refused leaves all as it is, the half done rewind, too.
    const { plan } = requireAllowed(await planAgain(session, intent, wish));
    refuseUnlessAllowed(plan, wish);
    rollBackPartly(new RollBack(session, intent, workspace), (left) => {
      const reason = `what it laid beside these files cannot be removed: ${left.join(' ')}`;
      throw interruptedError(found, { reason, plan: incomplete(plan) });
    });
    const { part } = wishOf(intent);
    const planned = requireAllowed(await planAgain(session, intent, wish));
    return {
      ...carryOut(session, planned, { force, allowPartial, part, undoes: intent.undoes }),
      work: workOf(intent),
    };
  });
}

/** Plans what an intent was to do, over what is there now. */
async function planAgain(
  session: LockedSession,
  intent: RewindIntent,
  options: ContinueOptions,
): Promise<PlannedRewind> {
  if (intent.undoes !== undefined) return planUndo(session, { ...options, rewindId: intent.undoes });
  const wish: RewindOptions = { ...wishOf(intent), ...options };
  return planFromDisk(subjectOf(session, wish), wish, { lenientTarget: true });
}

function openOrRefuse(
  { deps }: LockedSession,
  found: FoundIntent,
  named: string | undefined,
): { readonly workspace: Workspace } | { readonly refusal: Refusal } {
  try {
    const workspace = openIntendedWorkspace(deps, found, named);
    if (!('reason' in workspace)) return { workspace };
    const { reason } = workspace;
    return { refusal: (plan) => interruptedError(found, { reason, plan: incomplete(plan) }) };
  } catch (error) {
    if (error instanceof WorkspaceRefusedError) return { refusal: workspaceRefusal(error) };
    throw error;
  }
}

/** How an intent was asked for. */
function wishOf({ target, filesOnly, files }: RewindIntent): RewindOptions {
  return { target, ...(filesOnly === true ? { part: 'files', paths: files.map(({ path }) => path) } : {}) };
}

function requireIntent(session: LockedSession): FoundIntent {
  const found = findIntent(session.log);
  if (found === undefined) throw new RewindNotFoundError(session.id, undefined, NOTHING_INTERRUPTED);
  return found;
}

/**
 * @param refuseLeft - Told of files with something staged beside them that cannot be removed; it may stop all by
 * throwing.
 */
function rollBackPartly(back: RollBack, refuseLeft: (paths: readonly string[]) => void = () => {}): SettledRewind {
  const { session, intent } = back;
  readyToSettle(session);
  const { changes, edited, impossible } = back.plan();
  const restored = changes.map(({ path }) => path);
  const left = [...edited, ...impossible].map(({ path, reason }) => ({ path, reason }));
  // Where nobody came in between it is as if it had never begun, and there is nothing to keep.
  if (left.length === 0 && rollBack(back).kind === 'rolledBack') return settledRewind(intent, restored, left);
  const staged = back.unstage();
  if (staged.length > 0) refuseLeft(staged);
  back.apply(changes);
  takeIntentOut(session, intent);
  const beside = staged.map((path) => ({ path, reason: 'what lies beside it cannot be removed' }));
  return settledRewind(intent, restored, [...left, ...beside]);
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
