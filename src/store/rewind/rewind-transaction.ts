import { StalePlanError } from '../../errors.js';
import type { ConfinedRoot } from '../../fs/confined-path.js';
import { type FileStat, sameFile } from '../../fs/file-system.js';
import type { FileState, StoredEvent } from '../../model/event.js';
import { encodeEventLine } from '../../model/event-codec.js';
import type { BlobHash } from '../../model/ids.js';
import type { KeptRecord } from '../../model/kept-record.js';
import {
  decodeIntent,
  encodeIntent,
  encodeMarker,
  encodeRestore,
  type IntendedChange,
  type RestoreReport,
  type RewindIntent,
  workOf,
} from '../../model/rewind-record.js';
import { specAndGoalBetween } from '../../plan/derive-state.js';
import { isInState, isReachable, stagedBeside } from '../../plan/rewind/changed-shape.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import { hashBytes } from '../parts/blob-store.js';
import type { EventLog } from '../parts/event-log.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession, MetadataChanges } from '../parts/locked-session.js';
import { blobsNamedBy, type LogSurvey, surveyLog } from '../parts/log-survey.js';
import { type KeepsEvent, rewriteLog } from '../parts/rewrite-log.js';
import { rollBack } from '../recovery/roll-back.js';
import {
  changeFiles,
  removeEmptyFolders,
  type SeenEntry,
  type StateChange,
  syncPresent,
} from '../workspace/change-files.js';
import { completeRecords, kindOf } from './rewind-history.js';

/** One change of log and files, all or nothing. */
interface RewindTransaction {
  readonly target: number;
  readonly changes: readonly FileChange[];
  readonly workspace: ConfinedRoot | undefined;
  /** Files that are as they are to be, resolved: they have to be so after a power cut, too. */
  readonly settled?: readonly string[] | undefined;
  /** Tells which events stay in the log. */
  readonly keeps: KeepsEvent;
  /** Gives what the marker says; undefined writes none. */
  readonly marker:
    | ((rewindId: string) => { readonly report: RestoreReport; readonly undoes: string | undefined })
    | undefined;
  /** A kept record whose log, less its intent, takes the place of the present one. */
  readonly restoreLog?: string | undefined;
  readonly dropsEvents: boolean;
}

export interface TransactionResult {
  readonly rewindId: string;
}

/**
 * Carries out a rewind, an undo, a restore or a cut.
 *
 * Order (FORMAT.md, 6): intent, synced · files staged, renamed, synced · the old log kept · one rename of a log that
 * already holds the marker, which is the commit · metadata. Interrupted before the commit it is rolled back. Where no
 * event goes, a checkpoint with what the files were stands in front of the marker, under the intent's number.
 * @throws StalePlanError (`STALE_PLAN`) when somebody changes a file while it is under way; nothing is changed then.
 */
export function runTransaction(session: LockedSession, transaction: RewindTransaction): TransactionResult {
  session.assertMayRewrite();
  const kept = new KeptRecords(session.deps, session.paths);
  const rewindId = kept.freshId();
  const counted = session.metadataOrNone()?.eventCount ?? 0;
  const tail = session.sealedTail(counted);
  completeRecords(session);
  const survey = surveyLog(session.log.events(), session.id);
  // Zero may have lowered what is counted, and uses numbers again; we never do (FORMAT.md, 5).
  const next = session.nextSequence(tail, Math.max(counted, survey.highest, kept.high()));
  const { changes, workspace, settled = [] } = transaction;
  session.blobs.putBack(neededBlobs(session, transaction));
  if (workspace !== undefined) syncPresent(session, workspace, settled);
  if (changes.length === 0 || workspace === undefined) {
    commitAlone(session, transaction, { rewindId, sequence: next, survey });
    return { rewindId };
  }
  const begun = announce(session, workspace, rewindId, next, transaction);
  const changed = new Set<string>();
  try {
    changeFiles(session, workspace, rewindId, begun.changes, (path) => changed.add(path));
    // Before the commit: nobody would come back for what a crash leaves after it.
    for (const { resolved, wanted } of changes) {
      if (wanted.kind === 'absent') removeEmptyFolders(session, workspace, resolved, wanted.newDirs);
    }
    commit(session, transaction, { rewindId, sequence: next + 1, survey, begun });
  } catch (error) {
    rollBackAfter(session, workspace, begun.intent, changed, error);
    throw error;
  }
  return { rewindId };
}

/** Takes the intent of an interrupted rewind out of the log, wherever it stands; the log with it is kept. */
export function takeIntentOut(session: LockedSession, intent: RewindIntent): void {
  const kept = new KeptRecords(session.deps, session.paths);
  const id = kept.freshId();
  // The record of what never reached its commit is not one to undo; a fresh one holds the log and the contents.
  kept.discard(intent.id);
  completeRecords(session);
  const { events, head, highest, blobs } = surveyLog(session.log.events(), session.id);
  const { target: targetSequence, files } = intent;
  const createdAt = session.stamp();
  const record = { rewindId: id, createdAt, kind: kindOf(undefined, intent), targetSequence, undoes: '' };
  // The intent's own sequence is free again.
  kept.keep({ ...record, events, head, files: files.length, high: highest });
  keepBlobs(session, blobs, () => namedByNewLog(session, session.log, () => true));
  rewriteLog(session, session.log, () => true, []);
}

interface Begun {
  readonly intent: RewindIntent;
  /** The event that announces it. */
  readonly announcement: StoredEvent;
  readonly changes: readonly StateChange[];
}

// The present content is made durable and stored before the first file is touched.
function announce(
  session: LockedSession,
  workspace: ConfinedRoot,
  id: string,
  sequence: number,
  transaction: RewindTransaction,
): Begun {
  const { changes, target, marker, restoreLog, dropsEvents } = transaction;
  syncPresent(
    session,
    workspace,
    changes.filter(isReachable).map(({ resolved }) => resolved),
  );
  const found = changes.map((change) => keepPresent(session, workspace, change));
  const files = found.map(({ change }) => change);
  const intent: RewindIntent = {
    id,
    sessionId: session.id,
    target,
    workspace: workspace.named,
    files,
    undoes: restoreLog,
    filesOnly: restoreLog === undefined && (!dropsEvents || marker === undefined),
    // With it recovery knows an intent of ours from one that came with a copy of the log (FORMAT.md, 5).
    log: session.log.identity(),
  };
  const [announcement] = session.numbered(
    [{ type: 'session_checkpoint', payload: encodeIntent(intent) }],
    sequence,
  ) as [StoredEvent];
  session.assertHeld();
  session.log.append(encodeEventLine(announcement));
  const paths = new Set(files.map(({ path }) => path));
  const states = found.map(({ change: { path, to }, seen, folderModes }, place) => ({
    path,
    to,
    beside: stagedBeside(path, paths),
    place,
    seen,
    folderModes,
  }));
  return { intent, announcement, changes: states };
}

interface KeptFile {
  readonly change: IntendedChange;
  readonly seen: SeenEntry;
  readonly folderModes: readonly number[] | undefined;
}

/**
 * Stores what a file holds now.
 * @throws StalePlanError (`STALE_PLAN`) when that is not what the plan was made for.
 */
function keepPresent(
  session: LockedSession,
  workspace: ConfinedRoot,
  { resolved, present, wanted, folderModes, forced }: FileChange,
): KeptFile {
  const { fs } = session.deps;
  const to = wanted;
  if (present.kind === 'absent' && present.missingFolders > 0) {
    const before: FileState = { kind: 'absent', newDirs: present.missingFolders };
    return { change: { path: resolved, before, to }, seen: 'absent', folderModes };
  }
  const isFolder = present.kind === 'folder';
  const found = workspace.inFolderOf(resolved, (folder, name) => {
    const entry = `${folder.path}/${name}`;
    const seen = seenEntry(fs.lstat(entry));
    const before = storePresent(session, entry, isFolder);
    return before === undefined ? undefined : { before, seen };
  });
  if (found === undefined || !isInState(present, found.before, isFolder)) {
    throw new StalePlanError(`${JSON.stringify(resolved)} was changed by somebody else at this moment`);
  }
  const modes = to.kind === 'absent' ? modesOfFolders(session, workspace, resolved, to.newDirs) : [];
  const { before, seen } = found;
  const mtimeMs = seen === 'absent' ? undefined : seen.mtimeMs;
  const isForeign = forced !== undefined;
  return { change: { path: resolved, before, to, folderModes: modes, mtimeMs, isForeign }, seen, folderModes };
}

// A folder of files that go is how the path is while it is no file; the files are in the intent themselves.
function storePresent(session: LockedSession, entry: string, mayBeFolder: boolean): FileState | undefined {
  const { fs } = session.deps;
  const kind = fs.lstat(entry)?.kind;
  if (kind === undefined || (kind === 'directory' && mayBeFolder)) return { kind: 'absent', newDirs: 0 };
  if (kind === 'link') return { kind: 'link', target: fs.readlink(entry) };
  if (kind !== 'file') return undefined;
  const fd = fs.openRead(entry);
  try {
    const { mode } = fs.fstat(fd);
    const stored = session.blobs.storeFile(fd);
    if (stored === undefined) return undefined;
    return { kind: 'stored', blob: stored.hash, hash: stored.hash, bytes: stored.bytes, mode: mode & 0o777 };
  } finally {
    fs.close(fd);
  }
}

function seenEntry(stat: FileStat | undefined): SeenEntry {
  if (stat === undefined) return 'absent';
  const { kind, dev, ino, birthNs, size, mtimeMs } = stat;
  return { kind, dev, ino, birthNs, size, mtimeMs };
}

// Folders that go with a file come back with it, and as private as they were.
function modesOfFolders(
  { deps }: LockedSession,
  workspace: ConfinedRoot,
  path: string,
  count: number,
): readonly number[] {
  const folders = path.split('/').slice(0, -1);
  const modes: number[] = [];
  for (let up = 0; up < count && up < folders.length; up += 1) {
    const folder = folders.slice(0, folders.length - up).join('/');
    const stat = deps.fs.lstat(`${workspace.real}/${folder}`);
    if (stat?.kind !== 'directory') break;
    modes.unshift(stat.mode & 0o777);
  }
  return modes;
}

// Without files to change there is no intent: what was kept for a commit that did not come is of no use.
function commitAlone(session: LockedSession, transaction: RewindTransaction, to: Commit): void {
  const before = session.deps.fs.lstat(session.paths.events);
  try {
    commit(session, transaction, to);
  } catch (error) {
    if (sameFile(session.deps.fs.lstat(session.paths.events), before)) {
      new KeptRecords(session.deps, session.paths).discard(to.rewindId);
    }
    throw error;
  }
}

/** What a commit is known by, and what came before it. */
interface Commit {
  readonly rewindId: string;
  /** The marker's. */
  readonly sequence: number;
  /** Of the log before anything was announced. */
  readonly survey: LogSurvey;
  /** Undefined where no file was changed. */
  readonly begun?: Begun;
}

function commit(session: LockedSession, transaction: RewindTransaction, to: Commit): void {
  const { keeps, restoreLog, changes, dropsEvents } = transaction;
  const { rewindId, survey, begun } = to;
  const kept = new KeptRecords(session.deps, session.paths);
  const added = addedEvents(session, transaction, to);
  const rewrites = dropsEvents || changes.length > 0 || restoreLog !== undefined;
  if (rewrites) {
    const source = restoreLog === undefined ? session.log : kept.log(restoreLog, session.id);
    const stays = restoreLog === undefined ? keeps : () => true;
    const announced = begun === undefined ? [] : blobsNamedBy(begun.announcement);
    kept.keep(recordOf(session, transaction, to, added));
    keepBlobs(session, [...survey.blobs, ...announced], () => namedByNewLog(session, source, stays, added));
    rewriteLog(session, source, stays, added);
  } else {
    for (const event of added) session.log.append(encodeEventLine(event));
  }
  if (added.length === 0) return;
  const changesOfState = dropsEvents || restoreLog !== undefined;
  session.recordAppended(added, changesOfState ? derived(session, kept.log(rewindId, session.id)) : {});
}

/** Gives what a history is to say of a commit. */
function recordOf(
  session: LockedSession,
  { marker, target }: RewindTransaction,
  { rewindId, survey, begun }: Commit,
  added: readonly StoredEvent[],
): KeptRecord {
  const says = marker?.(rewindId);
  const undoes = says?.undoes ?? '';
  return {
    rewindId,
    createdAt: added.at(-1)?.createdAt ?? session.stamp(),
    kind: kindOf(says === undefined ? undefined : { undoes }, begun?.intent),
    targetSequence: says?.report.targetSequence ?? target,
    events: survey.events,
    head: survey.head,
    files: begun?.intent.files.length ?? 0,
    undoes,
    // Without a marker the intent is taken off again, and its sequence is free.
    high: says !== undefined && begun !== undefined ? begun.announcement.sequence : survey.highest,
  };
}

// Spec and goal follow the events that are left (FAULTS.md, 19); an undo may also bring some back.
function derived(session: LockedSession, before: EventLog): MetadataChanges {
  const metadata = session.metadataOrNone();
  if (metadata === undefined) return {};
  return specAndGoalBetween(before.events(), session.log.events(), metadata, hashBytes);
}

/** Gives what stands behind the lines that stay: the marker, after what the files were where no event goes. */
function addedEvents(
  session: LockedSession,
  { marker, restoreLog, dropsEvents }: RewindTransaction,
  { rewindId, sequence, begun }: Commit,
): readonly StoredEvent[] {
  if (marker === undefined) return [];
  const payload = encodeMarker({ ...marker(rewindId), rewindId });
  const events = session.numbered([{ type: 'session_rewind', payload }], sequence);
  if (begun === undefined || dropsEvents || restoreLog !== undefined) return events;
  return [{ ...begun.announcement, payload: encodeRestore(begun.intent.files) }, ...events];
}

/** Gives the blobs that the files and the log of a transaction need: Zero may have pruned them meanwhile. */
function neededBlobs(session: LockedSession, { changes, restoreLog }: RewindTransaction): ReadonlySet<BlobHash> {
  const kept = new KeptRecords(session.deps, session.paths);
  const source = restoreLog === undefined ? [] : kept.log(restoreLog, session.id).events();
  const needed = new Set(surveyLog(source, session.id).blobs);
  for (const { wanted } of changes) if (wanted.kind === 'stored' && wanted.hash !== undefined) needed.add(wanted.hash);
  return needed;
}

/** Makes sure of the blobs that the present log names, before another takes its place. */
function keepBlobs(
  session: LockedSession,
  named: Iterable<BlobHash>,
  namedAfterwards: () => ReadonlySet<BlobHash>,
): void {
  let staying: ReadonlySet<BlobHash> | undefined;
  const stays = (hash: BlobHash): boolean => {
    staying ??= namedAfterwards();
    return staying.has(hash);
  };
  const { length: lost } = session.blobs.keep(named, stays);
  if (lost === 0) return;
  const what = lost === 1 ? '1 file content that the log names is' : `${lost} file contents that the log names are`;
  const message = `${what} missing or altered, and so not kept with it`;
  session.deps.warn({ code: 'BLOB_NOT_KEPT', sessionId: session.id, message });
}

function namedByNewLog(
  session: LockedSession,
  source: EventLog,
  stays: KeepsEvent,
  added: readonly StoredEvent[] = [],
): ReadonlySet<BlobHash> {
  const staying = function* (): Generator<StoredEvent> {
    for (const event of source.events()) {
      if (stays(event) && decodeIntent(event, session.id) === undefined) yield event;
    }
    yield* added;
  };
  return surveyLog(staying(), session.id).blobs;
}

/** Takes back at once what failed; where that is not possible the next command tries again. */
function rollBackAfter(
  session: LockedSession,
  workspace: ConfinedRoot,
  intent: RewindIntent,
  changed: ReadonlySet<string>,
  cause: unknown,
): void {
  let reason: string;
  try {
    session.assertHeld();
    const result = rollBack(session, intent, workspace, changed);
    if (result.kind === 'rolledBack') return;
    reason = [result.reason, ...result.paths].join(' ');
  } catch (error) {
    reason = (error as Error).message;
  }
  const failed = (cause as Error).message;
  const message = `The ${workOf(intent)} failed (${failed}) and was not taken back at once: ${reason}`;
  session.deps.warn({ code: 'REWIND_RECOVERED', sessionId: session.id, message });
}
