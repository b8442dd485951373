import {
  EventNotFoundError,
  LogMissingError,
  SequenceExhaustedError,
  StalePlanError,
  WorkspaceRefusedError,
  ZeroSessionsError,
} from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { givenOptions } from '../../model/given.js';
import type { SessionId } from '../../model/ids.js';
import { leavesRoom, sequenceText } from '../../model/ids.js';
import type { LogOutline } from '../../model/log-outline.js';
import { recordedWorkspace, type SessionMetadata } from '../../model/metadata.js';
import { isRewindIntent } from '../../model/rewind-record.js';
import type { Position } from '../../plan/position.js';
import { mayLoseContent } from '../../plan/rewind/change-rule.js';
import { settleShapes } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import {
  nearestSequences,
  planFileChange,
  planRewind,
  type RewindPlan,
  refuseRepeated,
  type TouchedFile,
  touchedFiles,
  type UncoveredWork,
  withMadeFolders,
  withNothingBelowFiles,
} from '../../plan/rewind/rewind.js';
import { uncoveredWork } from '../../plan/rewind/uncovered.js';
import type { StoreDeps } from '../base/deps.js';
import { BlobStore, unavailableReason } from '../parts/blob-store.js';
import { readCutCalls } from '../parts/cut-turn.js';
import type { EventLog } from '../parts/event-log.js';
import { pathsOf } from '../parts/metadata-file.js';
import { positionIn } from '../parts/position-in-log.js';
import { type FindPath, pathFinder } from '../workspace/checkpoint-paths.js';
import {
  type BoundWorkspace,
  noTraceIn,
  openBoundWorkspace,
  openWorkspace,
  refuseEmpty,
} from '../workspace/workspace.js';
import { locate, readPresent, unwritableReason, withHolds } from '../workspace/workspace-state.js';
import { FileWork } from './file-work.js';

/** How a rewind is asked for. */
export interface RewindOptions {
  /** The last sequence kept; 0 keeps none. What counts from the end is counted under the session's lock. */
  readonly target: number | Position;
  /** Drops the target as well, and undoes it if it is a checkpoint. */
  readonly excludeTarget?: boolean | undefined;
  /** `all` (the default), the log alone, or the files alone. */
  readonly part?: 'all' | 'events' | 'files' | undefined;
  /** Absolute; else the recorded cwd. */
  readonly workspace?: string | undefined;
  /** Files to restore, as paths in the workspace; all when left out. */
  readonly paths?: readonly string[] | undefined;
  /** Overwrites what somebody else changed; the present content is kept. */
  readonly force?: boolean | undefined;
  /** Does what can be done, and reports the rest. */
  readonly allowPartial?: boolean | undefined;
  /** The sequence that the last event must have. */
  readonly expectHead?: number | undefined;
  /** Moves the target back to where no call is parted from its result. */
  readonly wholeTurns?: boolean | undefined;
  /** Refuses where dropped events may have changed what no checkpoint brings back. */
  readonly strict?: boolean | undefined;
}

/** The same with the target found in the log. */
export type TargetedRewind = RewindOptions & { readonly target: number };

/**
 * Finds the target of a rewind in the log as it is now.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when there is no such event.
 */
export async function withTargetFound(log: EventLog, options: RewindOptions): Promise<TargetedRewind> {
  const { target } = options;
  if (typeof target === 'number') return { ...options, target };
  return { ...options, target: await positionIn(log, givenOptions(target, 'target')) };
}

/** How strict a plan is with what is there. */
export interface PlanningWays {
  /** Takes a target that is in a gap or beyond the end. */
  readonly lenientTarget?: boolean | undefined;
  /** Where the workspace will not do, each file is impossible for that reason. */
  readonly asFarAsSeen?: boolean | undefined;
}

/** A plan, and the workspace that it is for; none when no file is named. */
export interface PlannedRewind {
  readonly plan: RewindPlan;
  readonly workspace: ConfinedRoot | undefined;
}

/**
 * Plans a rewind over what is there now: log, blobs and files. Reads only.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the target is in a gap or beyond the end.
 * @throws LogDamagedError (`LOG_DAMAGED`) when the target stands twice.
 * @throws SequenceExhaustedError (`SEQUENCE_EXHAUSTED`) when no sequence is left for the marker.
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when a checkpoint after the target cannot be decoded.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when files are concerned and the workspace will not do.
 * @throws StalePlanError (`STALE_PLAN`) when the head is not the expected one.
 */
export function planFromDisk(
  deps: StoreDeps,
  id: SessionId,
  log: EventLog,
  metadata: SessionMetadata | undefined,
  options: TargetedRewind,
  { lenientTarget = false, asFarAsSeen = false }: PlanningWays = {},
): PlannedRewind {
  const eventCount = metadata?.eventCount ?? 0;
  if (eventCount > 0 && !log.exists()) throw new LogMissingError(id, log.path, eventCount);
  const outline = log.outline(eventCount);
  const last = outline.events.at(-1);
  if (last !== undefined && !leavesRoom(last.sequence)) throw new SequenceExhaustedError(id, sequenceText(last), true);
  const head = last?.sequence ?? 0;
  if (options.expectHead !== undefined && options.expectHead !== head) {
    throw new StalePlanError(`Session ${id} ends with event ${head}, not ${options.expectHead}`, {
      planned: options.expectHead,
      found: head,
    });
  }
  if (!lenientTarget) requireTarget(outline, options.target);
  refuseRepeated(outline, options.target);
  const asked = options.excludeTarget === true ? lastBefore(outline, options.target) : options.target;
  const askedCut = readCutCalls(log, asked);
  const target = options.wholeTurns === true ? askedCut.whole.before : asked;
  refuseRepeated(outline, target);
  const cut = target === asked ? askedCut : readCutCalls(log, target);
  // An announcement is no checkpoint of the session's (FORMAT.md, 6).
  const checkpoints = outline.checkpoints.filter(
    (checkpoint) => !isRewindIntent({ ...checkpoint, type: 'session_checkpoint' }),
  );
  const later = options.part === 'events' ? [] : checkpoints.filter(({ sequence }) => sequence > target);
  const subject = { deps, id, log, target, recorded: recordedWorkspace(metadata), checkpoints: later };
  const { workspace, changes, uncovered } = planFiles(subject, options, asFarAsSeen);
  const plan = planRewind(
    outline,
    target,
    options.excludeTarget !== true,
    changes,
    { part: options.part, workspace: workspace?.real },
    { cut: options.part === 'files' ? { ...cut, openCalls: [] } : cut, uncovered },
  );
  return { plan, workspace };
}

/** What of a session the files of a plan are made from. */
interface FilesSubject {
  readonly deps: StoreDeps;
  readonly id: SessionId;
  readonly log: EventLog;
  readonly target: number;
  /** The recorded folder; empty where there is none. */
  readonly recorded: string;
  /** Those after the target that name files which are to go back. */
  readonly checkpoints: LogOutline['checkpoints'];
}

interface PlannedFiles {
  readonly workspace: ConfinedRoot | undefined;
  readonly changes: readonly FileChange[];
  readonly uncovered: readonly UncoveredWork[];
}

function planFiles(subject: FilesSubject, options: RewindOptions, asFarAsSeen: boolean): PlannedFiles {
  const { deps, recorded, checkpoints } = subject;
  // Decoded before the workspace is looked at: a damaged checkpoint stops everything.
  const named = touchedFiles(checkpoints, (path) => path);
  try {
    const bound = named.length === 0 ? undefined : openBoundWorkspace(deps, recorded, options);
    const looked = lookInto(subject, bound?.workspace ?? workspaceToLookAt(deps, options.workspace ?? recorded));
    const changes = bound === undefined ? [] : fileChanges(subject, bound, looked.work, options);
    return { workspace: bound?.workspace, changes, uncovered: uncoveredOf(subject, looked, options) };
  } catch (error) {
    if (!asFarAsSeen || !(error instanceof WorkspaceRefusedError)) throw error;
    const changes = named.flatMap((file) => unseenChange(file, error, options.paths));
    return { workspace: undefined, changes, uncovered: uncoveredOf(subject, lookInto(subject, undefined), options) };
  }
}

// Which files would go back is known without the folder that they are in.
function unseenChange(
  { path, wanted }: TouchedFile,
  { message, reason }: WorkspaceRefusedError,
  asked: readonly string[] | undefined,
): readonly FileChange[] {
  const isAskedFor = asked?.some((each) => each === '.' || path === each || path.startsWith(`${each}/`)) ?? true;
  if (!isAskedFor) return [];
  const present = { kind: 'unreadable', reason: message } as const;
  return [{ path, resolved: path, wanted, present, action: 'impossible', reason: `its workspace ${reason}` }];
}

/** The session's work, and how its paths are found; `find` is undefined where there is no folder to look into. */
interface Look {
  readonly find: FindPath | undefined;
  readonly work: FileWork;
}

function lookInto(
  { deps, id, log, target, recorded, checkpoints }: FilesSubject,
  workspace: ConfinedRoot | undefined,
): Look {
  const find = workspace && pathFinder(deps, workspace, checkpoints);
  const files = workspace === undefined || find === undefined ? undefined : { workspace, find };
  return { find, work: new FileWork(deps, { sessionId: id, log, target, cwd: recorded, files }) };
}

// Where no file is to go back, files are looked at only to tell what stays, and a folder that will not do tells nothing.
function workspaceToLookAt(deps: StoreDeps, folder: string): ConfinedRoot | undefined {
  try {
    return openWorkspace(deps, folder);
  } catch (error) {
    if (error instanceof ZeroSessionsError) return undefined;
    throw error;
  }
}

function uncoveredOf(
  { target, checkpoints }: FilesSubject,
  { find, work }: Look,
  { part, paths }: RewindOptions,
): readonly UncoveredWork[] {
  // Who leaves the files, or asks for some, does not expect the others to go back.
  if (part === 'events' || paths !== undefined) return [];
  const resolve = (path: string, sequence: number): string => find?.(path, sequence).resolved ?? path;
  const first = new Map(touchedFiles(checkpoints, resolve).map((file) => [file.resolved, file.firstNamedAt]));
  const children = work.children.filter((child) => work.leavesChanges(child, (path) => first.has(path)));
  return uncoveredWork(work.present, target, (path) => first.get(path), children);
}

function requireTarget({ sessionId, events }: LogOutline, target: number): void {
  if (target === 0) return;
  if (events.some(({ sequence }) => sequence === target)) return;
  throw new EventNotFoundError(sessionId, target, nearestSequences(events, target));
}

function lastBefore({ events }: LogOutline, target: number): number {
  return events.findLast(({ sequence }) => sequence < target)?.sequence ?? 0;
}

function fileChanges(
  { deps, id, checkpoints }: FilesSubject,
  { workspace, isOwn }: BoundWorkspace,
  work: FileWork,
  options: RewindOptions,
): readonly FileChange[] {
  const blobs = new BlobStore(deps, pathsOf(deps, id));
  const find = pathFinder(deps, workspace, checkpoints);
  const resolve = (path: string, sequence: number): string => find(path, sequence).resolved;
  const isAskedFor = pathFilter(deps, workspace, options.paths);
  const named = withNothingBelowFiles(touchedFiles(checkpoints, resolve));
  const touched = named.filter(({ resolved }) => isAskedFor(resolved));
  const paths = new Set(touched.map(({ resolved }) => resolved));
  const isTrace = ({ path, firstNamedAt, resolved }: TouchedFile): boolean =>
    work.isTrace(resolved, readPresent(deps, workspace, find(path, firstNamedAt)));
  if (!isOwn && !named.some(isTrace)) throw noTraceIn(workspace, id);
  const changes = touched.map((file) => {
    const located = find(file.path, file.firstNamedAt);
    const present = withHolds(deps, workspace, readPresent(deps, workspace, located), file.resolved, paths);
    return planFileChange(file, {
      present,
      unavailable: unavailableReason(blobs, file.wanted),
      unwritable: unwritableReason(deps, workspace, file.resolved, present),
      change: mayLoseContent(present, file.wanted) ? work.verdict(file.resolved, present) : undefined,
    });
  });
  const settled = withMadeFolders(settleShapes(changes));
  if (options.workspace === undefined) refuseEmpty(deps, workspace, settled);
  return settled;
}

/** Tells which files are asked for: all of them, or those at and below these paths. */
function pathFilter(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  paths: readonly string[] | undefined,
): (resolved: string) => boolean {
  if (paths === undefined) return () => true;
  const asked = paths.map((path) => locate(deps, workspace, path));
  if (asked.some(({ where }) => where.kind === 'root')) return () => true;
  return (resolved) => asked.some((path) => resolved === path.resolved || resolved.startsWith(`${path.resolved}/`));
}
