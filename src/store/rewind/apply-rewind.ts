import {
  ConflictError,
  IncompleteError,
  InvalidArgumentError,
  MetadataDamagedError,
  WorkspaceRefusedError,
} from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { syncFolder } from '../../fs/durable-file.js';
import { parseSessionId, type SessionId } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { RestoreReport } from '../../model/rewind-record.js';
import { isReachable, partUnmet } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { effectiveChanges, isNothingToDo, type RewindPlan, refuseRepeated } from '../../plan/rewind/rewind.js';
import type { StoreDeps } from '../base/deps.js';
import type { LockedSession } from '../parts/locked-session.js';
import { pathsOf, readMetadata } from '../parts/metadata-file.js';
import { openLog } from '../parts/read-session.js';
import { refuseInterrupted } from '../recovery/interrupted-rewind.js';
import { withSession } from '../recovery/session-lock.js';
import { syncPresent } from '../workspace/change-files.js';
import {
  type PlannedRewind,
  type PlanningWays,
  planFromDisk,
  type RewindOptions,
  type TargetedRewind,
  withTargetFound,
} from './preview-rewind.js';
import { runTransaction, type TransactionResult } from './rewind-transaction.js';

/** What a rewind did, with the reason for each path that it left out. */
export interface RewindReport {
  /** What it is undone by; null where there was nothing to do and nothing was written. */
  readonly rewindId: string | null;
  readonly targetSequence: number;
  readonly filesRestored: number;
  readonly filesDeleted: number;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

export interface RewindResult {
  readonly plan: RewindPlan;
  readonly report: RewindReport;
}

/**
 * Plans a rewind and does nothing. See {@link planFromDisk} for what it throws.
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`) when an earlier one is unfinished: what is there will not stay.
 */
export async function previewRewind(deps: StoreDeps, sessionId: string, options: RewindOptions): Promise<RewindPlan> {
  const id = parseSessionId(sessionId);
  const log = openLog(deps, id);
  checkTarget(options.target);
  refuseInterrupted(log);
  const metadata = metadataFor(deps, id, options);
  return planFromDisk(deps, id, log, metadata, await withTargetFound(log, options)).plan;
}

/**
 * Plans what was refused, as far as it can be seen what would be done: where the workspace will not do, each file is
 * impossible for that reason. An unfinished rewind is looked past.
 */
export async function previewRefused(deps: StoreDeps, sessionId: string, options: RewindOptions): Promise<RewindPlan> {
  const id = parseSessionId(sessionId);
  const log = openLog(deps, id);
  const wish = await withTargetFound(log, { ...options, expectHead: undefined });
  return planFromDisk(deps, id, log, metadataFor(deps, id, options), wish, { asFarAsSeen: true }).plan;
}

/** Gives a plan, or, where the workspace will not do, one without the files, which is not complete. */
export function seenPlan(whole: () => RewindPlan, withoutFiles: () => RewindPlan): RewindPlan {
  try {
    return whole();
  } catch (error) {
    if (error instanceof WorkspaceRefusedError) return { ...withoutFiles(), complete: false };
    throw error;
  }
}

/**
 * Goes back: files first, then one rename that puts the new log in place. All or nothing; what is dropped or
 * overwritten is kept.
 * @throws IncompleteError (`INCOMPLETE`) with the plan, when something cannot be restored and a part will not do.
 * @throws ConflictError (`CONFLICT`) with the plan, when somebody else's change would be overwritten without force.
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`) when an earlier one is unfinished and cannot be undone.
 * @see FORMAT.md, 6; RELIABILITY.md, 2.2
 */
export async function rewind(deps: StoreDeps, sessionId: string, options: RewindOptions): Promise<RewindResult> {
  checkTarget(options.target);
  return withSession(deps, sessionId, async (session) => {
    refuseInterrupted(session.log);
    return carryOut(session, planHere(session, await withTargetFound(session.log, options)), options);
  });
}

/** {@link rewind} under the reference's name and with its report. A target beyond the end drops nothing. */
export async function applyRewind(
  deps: StoreDeps,
  sessionId: string,
  workspaceRoot: string,
  targetSequence: number,
): Promise<RestoreReport> {
  const target = Math.max(0, checkedTarget(targetSequence));
  return withSession(deps, sessionId, (session) => {
    refuseInterrupted(session.log);
    const planned = planHere(session, { target, workspace: workspaceRoot }, { lenientTarget: true });
    const marked = { reportedTarget: targetSequence, isAlwaysMarked: true };
    return storedReport(carryOut(session, planned, {}, marked).report);
  });
}

/**
 * Brings files back to what they were just after an event; log and metadata keep their bytes.
 *
 * The bare primitive of the reference: it restores what it can, asks nobody, and reports the rest. The content that it
 * replaces is kept for undo. A link in the place of a file is skipped.
 */
export async function restoreToSequence(
  deps: StoreDeps,
  sessionId: string,
  workspaceRoot: string,
  targetSequence: number,
): Promise<RestoreReport> {
  const target = Math.max(0, checkedTarget(targetSequence));
  return withSession(deps, sessionId, (session) => {
    refuseInterrupted(session.log);
    const { plan, workspace } = planHere(
      session,
      { target, part: 'files', workspace: workspaceRoot },
      { lenientTarget: true },
    );
    const wanted = plan.files.flatMap((file) =>
      isBareChange(file) ? [{ ...file, action: file.forced ?? file.action }] : [],
    );
    const { met: changes, unmet } = partUnmet(wanted);
    const left = plan.files.filter(
      (file) => file.action === 'impossible' || (file.action === 'conflict' && !isBareChange(file)),
    );
    const settled = settledPaths(plan);
    if (workspace !== undefined && changes.length > 0) {
      const keeps = (): boolean => true;
      runTransaction(session, { target, changes, workspace, settled, keeps, marker: undefined, dropsEvents: false });
    } else {
      syncSettled(session, workspace, settled);
    }
    return storedReport(reportOf(null, targetSequence, plan, changes, [...left, ...unmet]));
  });
}

/**
 * Drops the events after a sequence, and a torn tail. The log as it was is kept for undo; sequences are never used again.
 * @throws LogMissingError (`LOG_MISSING`) when the log is gone although events were counted.
 */
export async function truncateEvents(deps: StoreDeps, sessionId: string, keepThroughSequence: number): Promise<void> {
  const target = Math.max(0, checkedTarget(keepThroughSequence));
  await withSession(deps, sessionId, (session) => {
    refuseInterrupted(session.log);
    const outline = session.log.outline(session.metadata.eventCount);
    refuseRepeated(outline, target);
    session.sealedTail(); // a cut ends the log after a whole line, also where it drops no event
    if (outline.events.some(({ sequence }) => sequence > target)) {
      runTransaction(session, {
        target,
        changes: [],
        workspace: undefined,
        keeps: ({ sequence }) => sequence <= target,
        marker: undefined,
        dropsEvents: true,
      });
    }
    const last = outline.events.findLast(({ sequence }) => sequence <= target);
    session.updateMetadata({
      updatedAt: session.updatedAtAfter(session.stamp()),
      lastEventType: last?.type,
      eventCount: outline.highest,
    });
  });
}

/** What is special about carrying a plan out. */
interface CarryingOut {
  /** What marker and report name as the target; else that of the plan. */
  readonly reportedTarget?: number | undefined;
  /** The record that it undoes. */
  readonly undoes?: string | undefined;
  /** Whether a marker is written also where there is nothing to do, as the reference does. */
  readonly isAlwaysMarked?: boolean | undefined;
}

/** Carries a plan out under the lock that it was made under. Where there is nothing to do nothing is written. */
export function carryOut(
  session: LockedSession,
  { plan, workspace }: Pick<PlannedRewind, 'plan' | 'workspace'>,
  options: Pick<RewindOptions, 'force' | 'allowPartial' | 'part' | 'strict'>,
  { reportedTarget = plan.target, undoes, isAlwaysMarked = false }: CarryingOut = {},
): RewindResult {
  refuseUnlessAllowed(plan, options);
  const changes = effectiveChanges(plan, options.force === true);
  const left = plan.files.filter(
    (file) => file.action === 'impossible' || (file.action === 'conflict' && options.force !== true),
  );
  const report = (rewindId: string | null): RewindReport => reportOf(rewindId, reportedTarget, plan, changes, left);
  const settled = settledPaths(plan);
  if (!isAlwaysMarked && isNothingToDo(plan, options.force === true)) {
    syncSettled(session, workspace, settled);
    return { plan, report: report(null) };
  }
  const done: TransactionResult = runTransaction(session, {
    target: plan.target,
    changes,
    workspace,
    settled,
    keeps: ({ sequence }) => options.part === 'files' || sequence <= plan.target,
    marker: (rewindId) => ({ report: storedReport(report(rewindId)), undoes }),
    restoreLog: undoes,
    dropsEvents: plan.dropped.length > 0,
  });
  return { plan, report: report(done.rewindId) };
}

// They may be so through a rewind or a restore that was killed before it synced, and the same call promises it now.
function syncSettled(session: LockedSession, workspace: ConfinedRoot | undefined, settled: readonly string[]): void {
  if (workspace === undefined) return;
  syncPresent(session, workspace, settled);
  syncFolder(session.deps.fs, session.paths.folder);
}

function settledPaths({ files }: RewindPlan): readonly string[] {
  return files.filter((file) => file.action === 'leave' && isReachable(file)).map(({ resolved }) => resolved);
}

function planHere(session: LockedSession, options: TargetedRewind, ways: PlanningWays = {}): PlannedRewind {
  const { part, workspace } = options;
  const metadata = part === 'files' && workspace !== undefined ? session.metadataOrNone() : session.metadata;
  return planFromDisk(session.deps, session.id, session.log, metadata, options, ways);
}

/** Gives the metadata for a plan; undefined where there are none, and where they are not needed and cannot be read. */
function metadataFor(deps: StoreDeps, id: SessionId, { part, workspace }: RewindOptions): SessionMetadata | undefined {
  try {
    return readMetadata(deps, id, pathsOf(deps, id))?.metadata;
  } catch (error) {
    if (error instanceof MetadataDamagedError && part === 'files' && workspace !== undefined) return undefined;
    throw error;
  }
}

/**
 * Refuses a plan that cannot be carried out as it is wished.
 * @throws IncompleteError (`INCOMPLETE`), ConflictError (`CONFLICT`), each with the plan.
 */
export function refuseUnlessAllowed(
  plan: RewindPlan,
  options: Pick<RewindOptions, 'force' | 'allowPartial' | 'strict'>,
): void {
  const impossible = plan.files.filter(({ action }) => action === 'impossible');
  if (impossible.length > 0 && options.allowPartial !== true) {
    throw new IncompleteError(
      `${impossible.length} of ${plan.files.length} files cannot be restored: ${named(impossible)}`,
      plan,
    );
  }
  if (options.strict === true && plan.uncovered.length > 0) {
    const hint = 'Nothing was changed. Without --strict it goes back all the same, and those files stay as they are.';
    throw new IncompleteError('Dropped events may have changed files that no checkpoint has', plan, hint);
  }
  if (plan.doubt !== undefined && options.force !== true) {
    throw new ConflictError(`Nobody can tell all that there is to undo: ${plan.doubt}`, plan);
  }
  const conflicts = plan.files.filter(({ action }) => action === 'conflict');
  if (conflicts.length > 0 && options.force !== true) {
    throw new ConflictError(
      `${conflicts.length} of ${plan.files.length} files were changed by somebody else: ${named(conflicts)}`,
      plan,
    );
  }
}

function reportOf(
  rewindId: string | null,
  targetSequence: number,
  plan: RewindPlan,
  changes: readonly FileChange[],
  left: readonly FileChange[],
): RewindReport {
  // A file that is as it was counts, too: what the report tells is the state reached (FORMAT.md, 4, restoreToSequence).
  const reached = [...changes, ...plan.files.filter(({ action }) => action === 'leave')];
  const deleted = reached.filter(({ wanted }) => wanted.kind === 'absent').length;
  return {
    rewindId,
    targetSequence,
    filesRestored: reached.length - deleted,
    filesDeleted: deleted,
    skipped: left.map(({ path, reason }) => ({ path, reason })),
  };
}

function storedReport({ targetSequence, filesRestored, filesDeleted, skipped }: RewindReport): RestoreReport {
  const paths = skipped.map(({ path }) => path);
  return { targetSequence, filesRestored, filesDeleted, ...(paths.length > 0 ? { skipped: paths } : {}) };
}

// A link where a blob belongs is left alone; whatever else was changed is replaced, as the reference does.
function isBareChange({ action, forced, present, wanted }: FileChange): boolean {
  if (action === 'restore' || action === 'delete') return true;
  const isLinkInPlaceOfBlob = present.kind === 'link' && wanted.kind === 'stored';
  return action === 'conflict' && forced !== undefined && !isLinkInPlaceOfBlob;
}

function named(files: readonly FileChange[]): string {
  const shown = files.slice(0, 5).map(({ path, reason }) => `${JSON.stringify(path)} ${reason}`);
  return files.length > 5 ? `${shown.join('; ')}; and ${files.length - 5} more` : shown.join('; ');
}

function checkTarget(target: RewindOptions['target']): void {
  if (typeof target !== 'number') return;
  if (!Number.isSafeInteger(target) || target < 0) {
    throw new InvalidArgumentError('target', `The target is ${target}; it is a sequence, or 0 for none`);
  }
}

function checkedTarget(target: number): number {
  if (!Number.isSafeInteger(target))
    throw new InvalidArgumentError('targetSequence', `The target is ${target}; it is a sequence`);
  return target;
}
