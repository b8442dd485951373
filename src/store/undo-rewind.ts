import { RewindNotFoundError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import type { EventRef, FileState } from '../model/event.js';
import { refOf } from '../model/event-codec.js';
import { type EventIdentity, identityOf } from '../model/event-identity.js';
import { parseSessionId, type SessionId } from '../model/ids.js';
import { decodeIntent, type RewindIntent } from '../model/rewind-record.js';
import { isInState, settleShapes } from '../plan/changed-shape.js';
import { type FileChange, hasContent, hasState, type PresentState } from '../plan/file-change.js';
import type { RewindPlan } from '../plan/rewind.js';
import { filesToUndo, type KeptCheckpoint, type KeptWork } from '../plan/undo.js';
import { carryOut, type RewindResult, seenPlan } from './apply-rewind.js';
import { BlobStore, hashBytes } from './blob-store.js';
import type { StoreDeps } from './deps.js';
import { EventLog } from './event-log.js';
import { refuseInterrupted } from './interrupted-rewind.js';
import { KeptRecords } from './kept-records.js';
import type { SessionPaths } from './layout.js';
import type { LockedSession } from './locked-session.js';
import { unavailableReason, unwritableReason, withHolds } from './preview-rewind.js';
import { requireSession } from './session-folder.js';
import { withSession } from './session-lock.js';
import { noTraceIn, openWorkspaceOfUndo, readRecordedWorkspace, refuseEmpty } from './workspace.js';
import { locate, readPresent } from './workspace-state.js';

/** How an undo is asked for. */
export interface UndoOptions {
  /** Which rewind, restore or undo; the latest when left out. */
  readonly rewindId?: string | undefined;
  readonly force?: boolean | undefined;
  /** Does what can be done, and reports the rest. */
  readonly allowPartial?: boolean | undefined;
  /** Where the files are now, absolute; else where they were. */
  readonly workspace?: string | undefined;
}

/** Plans an undo and does nothing. */
export function previewUndo(deps: StoreDeps, sessionId: string, options: UndoOptions): RewindPlan {
  const id = parseSessionId(sessionId);
  const paths = requireSession(deps, id);
  refuseInterrupted(new EventLog(deps, id, paths));
  return planUndo(deps, id, paths, options).plan;
}

/** Plans an undo that was refused, as `previewRefused` plans a rewind. */
export function previewRefusedUndo(deps: StoreDeps, sessionId: string, options: UndoOptions): RewindPlan {
  const id = parseSessionId(sessionId);
  const paths = requireSession(deps, id);
  return seenPlan(
    () => planUndo(deps, id, paths, options).plan,
    () => planUndo(deps, id, paths, options, 'events').plan,
  );
}

/**
 * Undoes a rewind, a restore or an undo: the log and the files are what they were before it, and what came since is
 * kept, so that the undo can be undone. Rewinds that came after it are undone with it.
 * @throws RewindNotFoundError (`REWIND_NOT_FOUND`) when there is no such record, or none at all.
 * @throws ConflictError (`CONFLICT`) when a file is not what the rewind left, unless forced.
 * @throws IncompleteError (`INCOMPLETE`) when a file cannot be brought back, and a part will not do.
 * @see FORMAT.md, 6, "Undo"
 */
export async function undoRewind(deps: StoreDeps, sessionId: string, options: UndoOptions): Promise<RewindResult> {
  return withSession(deps, sessionId, (session) => {
    refuseInterrupted(session.log);
    return carryOutUndo(session, options);
  });
}

/** Plans and carries out an undo under the lock that the caller holds. */
export function carryOutUndo(session: LockedSession, options: UndoOptions): RewindResult {
  const { plan, workspace, rewindId } = planUndo(session.deps, session.id, session.paths, options);
  const wish = { force: options.force, allowPartial: options.allowPartial };
  return carryOut(session, { plan, workspace }, wish, { undoes: rewindId });
}

interface PlannedUndo {
  readonly plan: RewindPlan;
  readonly workspace: ConfinedRoot | undefined;
  readonly rewindId: string;
}

function planUndo(
  deps: StoreDeps,
  sessionId: SessionId,
  paths: SessionPaths,
  options: UndoOptions,
  part: 'all' | 'events' = 'all',
): PlannedUndo {
  const kept = new KeptRecords(deps, paths);
  const ids = kept.ids().filter((id) => kept.has(id));
  const rewindId = options.rewindId ?? ids.at(-1);
  if (rewindId === undefined || !ids.includes(rewindId)) throw new RewindNotFoundError(sessionId, options.rewindId);
  const before = eventsOf(kept.log(rewindId, sessionId));
  const present = eventsOf(new EventLog(deps, sessionId, paths));
  const records = ids
    .filter((id) => id >= rewindId)
    .map((id) => ({ id, ...readKept(kept.log(id, sessionId), sessionId) }));
  const seen = records.length === 1 ? new Set<EventIdentity>() : everKept(kept, sessionId, ids, rewindId);
  const { workspace, files } =
    part === 'events'
      ? { workspace: undefined, files: [] }
      : undoneFiles(deps, sessionId, paths, records, seen, options);
  const last = [...before.values()].at(-1);
  const plan: RewindPlan = {
    sessionId,
    head: [...present.values()].at(-1)?.sequence ?? 0,
    target: last?.sequence ?? 0,
    targetEventId: last?.id ?? '',
    keepTarget: true,
    ...(workspace === undefined ? {} : { workspace: workspace.real }),
    dropped: notIn(before, present),
    returned: notIn(present, before),
    files,
    uncovered: [],
    openCalls: [],
    wholeTargets: [last?.sequence ?? 0, last?.sequence ?? 0],
    complete: files.every(({ action }) => action !== 'impossible' && action !== 'conflict'),
  };
  return { plan, workspace, rewindId };
}

/** Gives the events of a log without its intent, in order, by what they are known by. */
function eventsOf(log: EventLog): ReadonlyMap<EventIdentity, EventRef> {
  const events = new Map<EventIdentity, EventRef>();
  for (const event of log.events()) {
    if (decodeIntent(event, log.sessionId) === undefined) events.set(identityOf(event, hashBytes), refOf(event));
  }
  return events;
}

function notIn(
  those: ReadonlyMap<EventIdentity, EventRef>,
  these: ReadonlyMap<EventIdentity, EventRef>,
): readonly EventRef[] {
  return [...these].flatMap(([identity, event]) => (those.has(identity) ? [] : [event]));
}

function undoneFiles(
  deps: StoreDeps,
  sessionId: SessionId,
  paths: SessionPaths,
  records: readonly KeptWork[],
  seen: ReadonlySet<EventIdentity>,
  options: UndoOptions,
): { readonly workspace: ConfinedRoot | undefined; readonly files: readonly FileChange[] } {
  const keptIn = records.flatMap(({ intent }) => (intent === undefined ? [] : [intent.workspace]));
  if (keptIn.length === 0) return { workspace: undefined, files: [] };
  const recorded = readRecordedWorkspace(deps, sessionId);
  const { workspace, isOwn } = openWorkspaceOfUndo(deps, recorded, keptIn, options);
  const blobs = new BlobStore(deps, paths);
  const toUndo = filesToUndo(records, (event) => seen.has(event));
  const names = new Set(toUndo.map(({ path }) => path));
  const files = toUndo.map(({ path, before, left, folderModes }): FileChange => {
    const located = locate(deps, workspace, path, (at) => names.has(at));
    const present = withHolds(deps, workspace, readPresent(deps, workspace, located), path, names);
    const missing = unavailableReason(blobs, before);
    const obstacle = missing ?? obstacleTo(present) ?? unwritableReason(deps, workspace, located.resolved, present);
    const modes = folderModes === undefined ? {} : { folderModes };
    const decision = decide(present, before, left, obstacle);
    return { path, resolved: located.resolved, wanted: before, present, ...decision, ...modes };
  });
  const isKnown = (state: FileState, { present }: FileChange): boolean =>
    (present.kind === 'file' || present.kind === 'link') && hasContent(present, state);
  const isTrace = (file: FileChange, at: number): boolean =>
    [file.wanted, ...(toUndo[at]?.left ?? [])].some((state) => isKnown(state, file));
  if (!isOwn && !files.some(isTrace)) throw noTraceIn(workspace, sessionId);
  const settled = settleShapes(files);
  // A rewind that left nothing in it is no volume that is not mounted.
  const wasEmptied = settled.every(({ action }) => action !== 'conflict');
  if (options.workspace === undefined && !wasEmptied) refuseEmpty(deps, workspace, settled);
  return { workspace, files: settled };
}

function decide(
  present: PresentState,
  before: FileState,
  left: readonly FileState[],
  obstacle: string | undefined,
): Pick<FileChange, 'action' | 'reason'> & { readonly forced?: 'restore' | 'delete' } {
  if (hasState(present, before)) return { action: 'leave', reason: 'is as it was before' };
  if (obstacle !== undefined) return { action: 'impossible', reason: obstacle };
  // Whether a folder can go is seen when all files are known.
  if (present.kind === 'folder' && before.kind === 'absent') return { action: 'leave', reason: 'is as it was before' };
  const action = before.kind === 'absent' ? 'delete' : 'restore';
  const isAsLeft = (state: FileState): boolean => isInState(present, state, true);
  if (left.some((state) => hasContent(present, state) || isAsLeft(state)))
    return { action, reason: 'is as the rewind left it' };
  return { action: 'conflict', reason: 'was changed after the rewind', forced: action };
}

function obstacleTo(present: PresentState): string | undefined {
  switch (present.kind) {
    case 'file':
    case 'absent':
    case 'link':
      return undefined;
    case 'folder':
      return present.holds === undefined ? 'is a folder now' : undefined;
    case 'special':
      return 'is a special file now';
    case 'outside':
      return 'leads out of the workspace';
    case 'blocked':
      return 'cannot be reached: something that is no folder is in the way';
    case 'unreadable':
      return `cannot be read (${present.reason})`;
    default:
      return present satisfies never;
  }
}

/** Reads a kept log: its events without the intent, the intent at its end, and its checkpoints. */
function readKept(log: EventLog, sessionId: string): Omit<KeptWork, 'id'> {
  const events: EventRef[] = [];
  const checkpoints: KeptCheckpoint[] = [];
  let intent: RewindIntent | undefined;
  for (const event of log.events()) {
    const found = decodeIntent(event, sessionId);
    if (found !== undefined) intent = found;
    else events.push(refOf(event));
    if (found === undefined && event.type === 'session_checkpoint') {
      checkpoints.push({ ...event, identity: identityOf(event, hashBytes) });
    }
  }
  return { events, checkpoints, intent };
}

/** Gives every event that was in the log when a record was made, or before. */
function everKept(
  kept: KeptRecords,
  sessionId: string,
  ids: readonly string[],
  last: string,
): ReadonlySet<EventIdentity> {
  return identitiesOf(ids.filter((id) => id <= last).map((id) => kept.log(id, sessionId)));
}

function identitiesOf(logs: readonly EventLog[]): ReadonlySet<EventIdentity> {
  const identities = new Set<EventIdentity>();
  for (const log of logs) {
    for (const item of log.scan()) if (item.kind === 'event') identities.add(identityOf(item.event, hashBytes));
  }
  return identities;
}
