import { EventNotFoundError, LogMissingError, StalePlanError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import type { FileState } from '../model/event.js';
import type { SessionId } from '../model/ids.js';
import type { LogOutline } from '../model/log-outline.js';
import type { SessionMetadata } from '../model/metadata.js';
import { settleShapes } from '../plan/changed-shape.js';
import { type FileChange, hasContent, type PresentState } from '../plan/file-change.js';
import {
  nearestSequences,
  planFileChange,
  planRewind,
  type RewindPlan,
  type TouchedFile,
  touchedFiles,
  withMadeFolders,
  withNothingBelowFiles,
} from '../plan/rewind.js';
import { BlobStore } from './blob-store.js';
import { pathFinder } from './checkpoint-paths.js';
import type { StoreDeps } from './deps.js';
import type { EventLog } from './event-log.js';
import { FileWork } from './file-work.js';
import { KeptRecords } from './kept-records.js';
import { pathsOf } from './metadata-file.js';
import { type BoundWorkspace, noTraceIn, openBoundWorkspace } from './workspace.js';
import { locate, readHolds, readPresent } from './workspace-state.js';

/** How a rewind is asked for. */
export interface RewindOptions {
  /** The last sequence kept; 0 keeps none. */
  readonly target: number;
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
}

/** A plan, and the workspace that it is for; none when no file is named. */
export interface PlannedRewind {
  readonly plan: RewindPlan;
  readonly workspace: ConfinedRoot | undefined;
  readonly outline: LogOutline;
}

/**
 * Plans a rewind over what is there now: log, blobs and files. Reads only.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the target is in a gap or beyond the end.
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when a checkpoint after the target cannot be decoded.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when files are concerned and the workspace will not do.
 * @throws StalePlanError (`STALE_PLAN`) when the head is not the expected one.
 */
export function planFromDisk(
  deps: StoreDeps,
  id: SessionId,
  log: EventLog,
  metadata: SessionMetadata | undefined,
  options: RewindOptions,
  lenientTarget = false,
): PlannedRewind {
  const eventCount = metadata?.eventCount ?? 0;
  if (eventCount > 0 && !log.exists()) throw new LogMissingError(id, log.path, eventCount);
  const outline = log.outline(eventCount);
  const head = outline.events.at(-1)?.sequence ?? 0;
  if (options.expectHead !== undefined && options.expectHead !== head) {
    throw new StalePlanError(`Session ${id} ends with event ${head}, not ${options.expectHead}`, {
      planned: options.expectHead,
      found: head,
    });
  }
  if (!lenientTarget) requireTarget(outline, options.target);
  const target = options.excludeTarget === true ? lastBefore(outline, options.target) : options.target;
  const checkpoints = options.part === 'events' ? [] : outline.checkpoints.filter(({ sequence }) => sequence > target);
  // Decoded before the workspace is looked at: a damaged checkpoint stops everything.
  const named = touchedFiles(checkpoints, (path) => path);
  const bound = named.length === 0 ? undefined : openBoundWorkspace(deps, metadata?.cwd ?? '', options);
  const files = bound === undefined ? [] : fileChanges(deps, id, log, target, checkpoints, bound, options);
  const plan = planRewind(outline, target, options.excludeTarget !== true, files, { part: options.part });
  return { plan, workspace: bound?.workspace, outline };
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
  deps: StoreDeps,
  id: SessionId,
  log: EventLog,
  target: number,
  checkpoints: LogOutline['checkpoints'],
  { workspace, isOwn }: BoundWorkspace,
  options: RewindOptions,
): readonly FileChange[] {
  const blobs = new BlobStore(deps, pathsOf(deps, id));
  const find = pathFinder(deps, workspace, checkpoints);
  const resolve = (path: string, sequence: number): string => find(path, sequence).resolved;
  const isAskedFor = pathFilter(deps, workspace, options.paths);
  const named = withNothingBelowFiles(touchedFiles(checkpoints, resolve));
  const touched = named.filter(({ resolved }) => isAskedFor(resolved));
  const paths = new Set(touched.map(({ resolved }) => resolved));
  const kept = new KeptRecords(deps, pathsOf(deps, id));
  const keptLogs = kept
    .ids()
    .filter((record) => kept.has(record))
    .map((record) => kept.log(record, id))
    .reverse();
  const work = new FileWork([log, ...keptLogs], target, resolve);
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
      changedByOthers: !hasContent(present, file.wanted) && work.isForeign(file.resolved, present),
    });
  });
  return withMadeFolders(settleShapes(changes));
}

/** Adds what a folder holds where it may be of these files only: else it is in the way, and nobody has to look. */
export function withHolds(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  present: PresentState,
  path: string,
  paths: ReadonlySet<string>,
): PresentState {
  if (present.kind !== 'folder' || path === '') return present;
  const below = `${path}/`;
  if (![...paths].some((other) => other.startsWith(below))) return present;
  return { kind: 'folder', holds: readHolds(deps, workspace, path, (held) => paths.has(held)) };
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

/** Says why the content of a state cannot be had, or undefined. */
export function unavailableReason(blobs: BlobStore, wanted: FileState): string | undefined {
  if (wanted.kind !== 'stored') return undefined;
  if (wanted.hash === undefined) return `its blob has the name ${JSON.stringify(wanted.blob)}, which is no hash`;
  const check = blobs.check(wanted.hash);
  switch (check.kind) {
    case 'intact':
      return undefined;
    case 'missing':
      return `its blob ${wanted.hash} is missing`;
    case 'altered':
      return `its blob ${wanted.hash} was altered`;
    case 'refused':
      return `its blob ${wanted.hash} is ${check.found}`;
    default:
      return check satisfies never;
  }
}

/** Says why the folder of a file cannot be changed, or undefined. */
export function unwritableReason(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  resolved: string,
  present: PresentState,
): string | undefined {
  let folder = resolved;
  const missing = present.kind === 'absent' ? present.missingFolders : 0;
  for (let up = 0; up <= missing; up += 1)
    folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  const path = folder === '' ? workspace.real : `${workspace.real}/${folder}`;
  return deps.fs.mayChange(path) ? undefined : 'its folder cannot be written to';
}
