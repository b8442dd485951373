import {
  EventNotFoundError,
  LogMissingError,
  SequenceExhaustedError,
  StalePlanError,
  WorkspaceRefusedError,
  ZeroSessionsError,
} from '../../errors.js';
import { givenOptions } from '../../model/given.js';
import type { SessionId } from '../../model/ids.js';
import { leavesRoom, sequenceText } from '../../model/ids.js';
import type { LogOutline } from '../../model/log-outline.js';
import { recordedWorkspace, type SessionMetadata } from '../../model/metadata.js';
import { isRewindIntent } from '../../model/rewind-record.js';
import type { Position } from '../../plan/position.js';
import { mayLoseContent } from '../../plan/rewind/change-rule.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import {
  nearestSequences,
  planRewind,
  refuseRepeated,
  type TouchedFile,
  touchedFiles,
  type UncoveredWork,
} from '../../plan/rewind/rewind.js';
import { uncoveredWork } from '../../plan/rewind/uncovered.js';
import type { StoreDeps } from '../base/deps.js';
import { BlobStore } from '../parts/blob-store.js';
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
} from '../workspace/open-workspace.js';
import type { Workspace } from '../workspace/workspace.js';
import { FileWork } from './file-work.js';
import { type PlannedRewind, planRefused, type Refusal, workspaceRefusal } from './planned-rewind.js';
import { TouchedFiles } from './touched-files.js';

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
  /** Refuses where dropped events may have changed what no checkpoint restores. */
  readonly strict?: boolean | undefined;
}

/** What a rewind is planned over. */
export interface RewindSubject {
  readonly deps: StoreDeps;
  readonly id: SessionId;
  readonly log: EventLog;
  /** Reads the metadata; undefined where there are none, and where they are not needed and cannot be read. */
  readonly metadata: () => SessionMetadata | undefined;
}

/**
 * Plans a rewind over what is there now: log, blobs and files. A head that is not the expected one refuses the plan,
 * and so does a workspace that will not do: each file is impossible then, for that reason.
 * @param ways - `lenientTarget` takes a target that is in a gap or beyond the end.
 */
export async function planFromDisk(
  subject: RewindSubject,
  options: RewindOptions,
  ways: { readonly lenientTarget?: boolean } = {},
): Promise<PlannedRewind> {
  const { id, log } = subject;
  const askedTarget = await targetIn(log, options);
  const metadata = subject.metadata();
  const eventCount = metadata?.eventCount ?? 0;
  if (eventCount > 0 && !log.exists()) throw new LogMissingError(id, log.path, eventCount);
  const outline = log.outline(eventCount);
  const last = outline.events.at(-1);
  if (last !== undefined && !leavesRoom(last.sequence)) throw new SequenceExhaustedError(id, sequenceText(last), true);
  const refusal = staleHead(outline, options.expectHead);
  if (refusal !== undefined) {
    return planRefused(refusal, () => planFromDisk(subject, { ...options, expectHead: undefined }, ways));
  }
  if (ways.lenientTarget !== true) requireTarget(outline, askedTarget);
  refuseRepeated(outline, askedTarget);
  const asked = options.excludeTarget === true ? lastBefore(outline, askedTarget) : askedTarget;
  const askedCut = readCutCalls(log, asked);
  const target = options.wholeTurns === true ? askedCut.whole.before : asked;
  refuseRepeated(outline, target);
  const cut = target === asked ? askedCut : readCutCalls(log, target);
  // An announcement is no checkpoint of the session's (FORMAT.md, 6).
  const checkpoints = outline.checkpoints.filter(
    (checkpoint) => !isRewindIntent({ ...checkpoint, type: 'session_checkpoint' }),
  );
  const later = options.part === 'events' ? [] : checkpoints.filter(({ sequence }) => sequence > target);
  const files = planFiles({ ...subject, target, recorded: recordedWorkspace(metadata), checkpoints: later }, options);
  const { workspace, changes, uncovered } = files;
  const plan = planRewind(
    outline,
    target,
    options.excludeTarget !== true,
    changes,
    { part: options.part, workspace: workspace?.real },
    { cut: options.part === 'files' ? { ...cut, openCalls: [] } : cut, uncovered },
  );
  return { plan, workspace, refusal: files.refusal };
}

// What counts from the end is counted in the log as it is now.
function targetIn(log: EventLog, { target }: RewindOptions): number | Promise<number> {
  return typeof target === 'number' ? target : positionIn(log, givenOptions(target, 'target'));
}

function staleHead({ sessionId, events }: LogOutline, planned: number | undefined): Refusal | undefined {
  const found = events.at(-1)?.sequence ?? 0;
  if (planned === undefined || planned === found) return undefined;
  const message = `Session ${sessionId} ends with event ${found}, not ${planned}`;
  return (plan) => new StalePlanError(message, { planned, found, plan });
}

/** What of a session the files of a plan are made from. */
interface FilesSubject extends RewindSubject {
  readonly target: number;
  /** The recorded folder; empty where there is none. */
  readonly recorded: string;
  /** Those after the target that name files which are to go back. */
  readonly checkpoints: LogOutline['checkpoints'];
}

interface PlannedFiles {
  readonly workspace: Workspace | undefined;
  readonly changes: readonly FileChange[];
  readonly uncovered: readonly UncoveredWork[];
  readonly refusal?: Refusal;
}

function planFiles(subject: FilesSubject, options: RewindOptions): PlannedFiles {
  const { deps, recorded, checkpoints } = subject;
  // Decoded before the workspace is looked at: a damaged checkpoint stops everything.
  const named = touchedFiles(checkpoints, (path) => path);
  try {
    const bound = named.length === 0 ? undefined : openBoundWorkspace(deps, recorded, options);
    const looked = lookInto(subject, bound?.workspace ?? workspaceToLookAt(deps, options.workspace ?? recorded));
    const changes = bound === undefined ? [] : fileChanges(subject, { ...bound, work: looked.work }, options);
    return { workspace: bound?.workspace, changes, uncovered: uncoveredOf(subject, looked, options) };
  } catch (error) {
    if (!(error instanceof WorkspaceRefusedError)) throw error;
    return {
      workspace: undefined,
      changes: named.flatMap((file) => unseenChange(file, error, options.paths)),
      uncovered: uncoveredOf(subject, lookInto(subject, undefined), options),
      refusal: workspaceRefusal(error),
    };
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
  workspace: Workspace | undefined,
): Look {
  const find = workspace && pathFinder(workspace, checkpoints);
  const files = workspace === undefined || find === undefined ? undefined : { workspace, find };
  return { find, work: new FileWork(deps, { sessionId: id, log, target, cwd: recorded, files }) };
}

// Where no file is to go back, files are looked at only to tell what stays, and a folder that will not do tells nothing.
function workspaceToLookAt(deps: StoreDeps, folder: string): Workspace | undefined {
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
  { workspace, isOwn, work }: BoundWorkspace & { readonly work: FileWork },
  options: RewindOptions,
): readonly FileChange[] {
  const files = new TouchedFiles(workspace, checkpoints, new BlobStore(deps, pathsOf(deps, id)));
  if (!isOwn && !files.all.some((file) => work.isTrace(file.resolved, files.present(file)))) {
    throw noTraceIn(workspace, id);
  }
  const isAskedFor = pathFilter(workspace, options.paths);
  const asked = files.all.filter(({ resolved }) => isAskedFor(resolved));
  const changes = files.plan(asked, ({ resolved, wanted }, present) => ({
    change: mayLoseContent(present, wanted) ? work.verdict(resolved, present) : undefined,
  }));
  if (options.workspace === undefined) refuseEmpty(deps, workspace, changes);
  return changes;
}

/** Tells which files are asked for: all of them, or those at and below these paths. */
function pathFilter(workspace: Workspace, paths: readonly string[] | undefined): (resolved: string) => boolean {
  if (paths === undefined) return () => true;
  const asked = paths.map((path) => workspace.locate(path));
  if (asked.some(({ where }) => where.kind === 'root')) return () => true;
  return (resolved) => asked.some((path) => resolved === path.resolved || resolved.startsWith(`${path.resolved}/`));
}
