import {
  ConflictError,
  IncompleteError,
  InvalidArgumentError,
  MetadataDamagedError,
  StalePlanError,
} from '../../errors.js';
import { syncFolder } from '../../fs/durable-file.js';
import { parseSessionId } from '../../model/ids.js';
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
import type { Workspace } from '../workspace/workspace.js';
import { planFromDisk, type RewindOptions, type RewindSubject } from './plan-from-disk.js';
import { type PlannedRewind, planUnlessInterrupted, requireAllowed } from './planned-rewind.js';
import { runTransaction } from './rewind-transaction.js';

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

/** Plans a rewind and does nothing. */
export async function previewRewind(deps: StoreDeps, sessionId: string, options: RewindOptions): Promise<RewindPlan> {
  const id = parseSessionId(sessionId);
  const log = openLog(deps, id);
  checkTarget(options.target);
  const subject = { deps, id, log, metadata: () => metadataFor({ deps, id, log }, options) };
  return requireAllowed(await planUnlessInterrupted(log, () => planFromDisk(subject, options))).plan;
}

/** Goes back: files first, then one rename that puts the new log in place (FORMAT.md, 6; RELIABILITY.md, 2.2). */
export async function rewind(deps: StoreDeps, sessionId: string, options: RewindOptions): Promise<RewindResult> {
  checkTarget(options.target);
  return withSession(deps, sessionId, async (session) => {
    const subject = subjectOf(session, options);
    const planned = await planUnlessInterrupted(session.log, () => planFromDisk(subject, options));
    return carryOut(session, requireAllowed(planned), options);
  });
}

/** Names the files and the point that the reference's restores are asked for. */
interface BareRestore {
  readonly workspaceRoot: string;
  readonly targetSequence: number;
}

/** {@link rewind} under the reference's name and with its report. A target beyond the end drops nothing. */
export async function applyRewind(
  deps: StoreDeps,
  sessionId: string,
  { workspaceRoot, targetSequence }: BareRestore,
): Promise<RestoreReport> {
  const target = Math.max(0, checkedTarget(targetSequence));
  return withSession(deps, sessionId, async (session) => {
    const planned = await planLeniently(session, { target, workspace: workspaceRoot });
    return storedReport(carryOut(session, planned, { reportedTarget: targetSequence, isAlwaysMarked: true }).report);
  });
}

/**
 * The bare primitive of the reference: restores the files that it can, asks nobody, and reports the rest. What it
 * replaces is kept for undo. A link in the place of a file is skipped.
 */
export async function restoreToSequence(
  deps: StoreDeps,
  sessionId: string,
  { workspaceRoot, targetSequence }: BareRestore,
): Promise<RestoreReport> {
  const target = Math.max(0, checkedTarget(targetSequence));
  return withSession(deps, sessionId, async (session) => {
    const { plan, workspace } = await planLeniently(session, { target, part: 'files', workspace: workspaceRoot });
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
    return storedReport(reportOf(plan, { rewindId: null, targetSequence, changes, left: [...left, ...unmet] }));
  });
}

/** Drops the events after a sequence, and a torn tail. The log is kept for undo; sequences are never used again. */
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
  options: Pick<RewindOptions, 'force' | 'allowPartial' | 'part' | 'strict'> & CarryingOut,
): RewindResult {
  refuseUnlessAllowed(plan, options);
  const { reportedTarget: targetSequence = plan.target, undoes, isAlwaysMarked = false } = options;
  const changes = effectiveChanges(plan, options.force === true);
  const left = plan.files.filter(
    (file) => file.action === 'impossible' || (file.action === 'conflict' && options.force !== true),
  );
  const report = (rewindId: string | null): RewindReport => reportOf(plan, { rewindId, targetSequence, changes, left });
  const settled = settledPaths(plan);
  if (!isAlwaysMarked && isNothingToDo(plan, options.force === true)) {
    syncSettled(session, workspace, settled);
    return { plan, report: report(null) };
  }
  try {
    const { rewindId } = runTransaction(session, {
      target: plan.target,
      changes,
      workspace,
      settled,
      keeps: ({ sequence }) => options.part === 'files' || sequence <= plan.target,
      marker: (id) => ({ report: storedReport(report(id)), undoes }),
      restoreLog: undoes,
      dropsEvents: plan.dropped.length > 0,
    });
    return { plan, report: report(rewindId) };
  } catch (error) {
    if (!(error instanceof StalePlanError)) throw error;
    throw new StalePlanError(error.message, { planned: error.planned, found: error.found, plan });
  }
}

// They may be so through a rewind or a restore that was killed before it synced, and the same call promises it now.
function syncSettled(session: LockedSession, workspace: Workspace | undefined, settled: readonly string[]): void {
  if (workspace === undefined) return;
  syncPresent(session, workspace, settled);
  syncFolder(session.deps.fs, session.paths.folder);
}

function settledPaths({ files }: RewindPlan): readonly string[] {
  return files.filter((file) => file.action === 'leave' && isReachable(file)).map(({ resolved }) => resolved);
}

/** Plans as the reference does: a target in a gap or beyond the end will do. */
async function planLeniently(session: LockedSession, options: RewindOptions): Promise<PlannedRewind> {
  refuseInterrupted(session.log);
  return requireAllowed(await planFromDisk(subjectOf(session, options), options, { lenientTarget: true }));
}

/** What a rewind of a session that is open is planned over. */
export function subjectOf(session: LockedSession, options: RewindOptions): RewindSubject {
  const { deps, id, log } = session;
  return { deps, id, log, metadata: () => (needsNoMetadata(options) ? session.metadataOrNone() : session.metadata) };
}

// Files can go back into a folder that is named although nobody can read what else is recorded.
function needsNoMetadata({ part, workspace }: RewindOptions): boolean {
  return part === 'files' && workspace !== undefined;
}

function metadataFor(
  { deps, id }: Omit<RewindSubject, 'metadata'>,
  options: RewindOptions,
): SessionMetadata | undefined {
  try {
    return readMetadata(deps, id, pathsOf(deps, id))?.metadata;
  } catch (error) {
    if (error instanceof MetadataDamagedError && needsNoMetadata(options)) return undefined;
    throw error;
  }
}

/** Refuses a plan that cannot be carried out as it is wished: `INCOMPLETE` or `CONFLICT`, with the plan. */
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
  plan: RewindPlan,
  did: Pick<RewindReport, 'rewindId' | 'targetSequence'> & {
    readonly changes: readonly FileChange[];
    readonly left: readonly FileChange[];
  },
): RewindReport {
  const { rewindId, targetSequence, changes, left } = did;
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
