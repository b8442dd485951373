import { InterruptedRewindError, StalePlanError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import { createFile, removeQuietly, syncFile, syncFolder } from '../fs/durable-file.js';
import { readFully, writeFully } from '../fs/jsonl.js';
import type { FileState, StoredEvent } from '../model/event.js';
import { decodeCheckpoint, encodeEventLine } from '../model/event-codec.js';
import { type BlobHash, parseBlobHash } from '../model/ids.js';
import {
  decodeIntent,
  encodeIntent,
  encodeMarker,
  isRewindIntent,
  type RestoreReport,
  type RewindIntent,
} from '../model/rewind-record.js';
import { specAndGoalAfter, specAndGoalWithout } from '../plan/derive-state.js';
import type { FileChange, PresentState } from '../plan/file-change.js';
import { changeFiles, removeEmptyFolders, stateChanges, syncPresent } from './change-files.js';
import type { EventLog } from './event-log.js';
import { KeptRecords } from './kept-records.js';
import { FILE_MODE, TEMP_PREFIX } from './layout.js';
import type { LockedSession, MetadataChanges } from './locked-session.js';
import { rollBack } from './roll-back.js';

const COPY_BYTES = 1024 * 1024;

/** One change of log and files, all or nothing. */
export interface RewindTransaction {
  readonly target: number;
  readonly changes: readonly FileChange[];
  readonly workspace: ConfinedRoot | undefined;
  /** The last sequence that the new log keeps; undefined leaves the log as it is. */
  readonly keepThrough: number | undefined;
  /** Gives what the marker says; undefined writes none. */
  readonly marker:
    | ((rewindId: string) => { readonly report: RestoreReport; readonly undoes: string | undefined })
    | undefined;
  /** A kept record whose log, less its intent, takes the place of the present one. */
  readonly restoreLog?: string | undefined;
  readonly dropsEvents?: boolean;
}

export interface TransactionResult {
  readonly rewindId: string;
}

/**
 * Carries out a rewind, an undo, a restore or a cut.
 *
 * Order (FORMAT.md, 6): intent, synced · files staged, renamed, synced · the old log kept · one rename of a log that
 * already holds the marker, which is the commit · metadata. Interrupted before the commit it is rolled back.
 */
export function runTransaction(session: LockedSession, transaction: RewindTransaction): TransactionResult {
  session.assertMayRewrite();
  const rewindId = session.deps.newId();
  const tail = session.sealedTail();
  const next = session.nextSequence(tail);
  const { changes, workspace } = transaction;
  if (changes.length === 0 || workspace === undefined) {
    commit(session, transaction, rewindId, next, []);
    return { rewindId };
  }
  const intent = announce(session, workspace, rewindId, next, transaction);
  try {
    changeFiles(session, workspace, rewindId, stateChanges(changes));
    commit(session, transaction, rewindId, next + 1, hashesOf(intent));
  } catch (error) {
    rollBackAfter(session, intent, error);
    throw error;
  }
  for (const { resolved, wanted } of changes) {
    if (wanted.kind === 'absent') removeEmptyFolders(session, workspace, resolved, wanted.newDirs);
  }
  return { rewindId };
}

/**
 * Refuses to go on where an unfinished rewind stands in the log with something behind it.
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`)
 */
export function refuseInterrupted(session: LockedSession): void {
  const intent = findIntent(session);
  if (intent === undefined) return;
  const { event, isLast } = intent;
  const reason = isLast ? 'its files could not be put back' : 'something was written after it';
  throw new InterruptedRewindError(session.id, event.sequence, reason);
}

/** Gives the event of an unfinished rewind of this session, wherever it stands in the log. */
export function findIntent(
  session: LockedSession,
): { readonly event: StoredEvent; readonly isLast: boolean } | undefined {
  let found: StoredEvent | undefined;
  let last = 0;
  for (const event of session.log.events()) {
    last = event.sequence;
    if (isRewindIntent(event) && decodeIntent(event, session.id) !== undefined) found = event;
  }
  return found === undefined ? undefined : { event: found, isLast: found.sequence === last };
}

/** Takes the intent of an interrupted rewind out of the log, wherever it stands; the log with it is kept. */
export function takeIntentOut(session: LockedSession, intent: RewindIntent): void {
  const kept = new KeptRecords(session.deps, session.paths);
  // The record of what never reached its commit is not one to undo; a fresh one holds the log and the contents.
  kept.discard(intent.id);
  kept.keep(session.deps.newId(), hashesOf(intent));
  replaceLog(session, session.log, Number.POSITIVE_INFINITY, undefined);
}

// The present content is made durable and stored before the first file is touched.
function announce(
  session: LockedSession,
  workspace: ConfinedRoot,
  id: string,
  sequence: number,
  { changes, target }: RewindTransaction,
): RewindIntent {
  syncPresent(
    session,
    workspace,
    changes.map(({ resolved }) => resolved),
  );
  const files = changes.map(({ resolved, present, wanted }) => ({
    path: resolved,
    before: keepPresent(session, workspace, resolved, present),
    to: wanted,
  }));
  const intent: RewindIntent = { id, sessionId: session.id, target, workspace: workspace.named, files };
  const [event] = session.numbered([{ type: 'session_checkpoint', payload: encodeIntent(intent) }], sequence);
  session.assertHeld();
  session.log.append(encodeEventLine(event as StoredEvent));
  return intent;
}

function keepPresent(session: LockedSession, workspace: ConfinedRoot, path: string, present: PresentState): FileState {
  if (present.kind === 'absent') return { kind: 'absent', newDirs: present.missingFolders };
  if (present.kind === 'link') return { kind: 'link', target: present.target };
  if (present.kind !== 'file') throw new Error(`planned to change ${path}, which is ${present.kind}`);
  const { fs } = session.deps;
  const stored = workspace.inFolderOf(path, (folder, name) => {
    const fd = fs.openRead(`${folder.path}/${name}`);
    try {
      return session.blobs.storeFile(fd);
    } finally {
      fs.close(fd);
    }
  });
  if (stored === undefined) throw new Error(`${path} went away while it was kept`);
  return { kind: 'stored', blob: stored.hash, hash: stored.hash, bytes: stored.bytes, mode: present.mode };
}

function commit(
  session: LockedSession,
  transaction: RewindTransaction,
  rewindId: string,
  sequence: number,
  intentHashes: readonly BlobHash[],
): void {
  const { marker, keepThrough, restoreLog, changes } = transaction;
  const kept = new KeptRecords(session.deps, session.paths);
  const says = marker?.(rewindId);
  const event =
    says === undefined
      ? undefined
      : session.numbered([{ type: 'session_rewind', payload: encodeMarker({ ...says, rewindId }) }], sequence)[0];
  const drops = transaction.dropsEvents ?? keepThrough !== undefined;
  if (!drops && changes.length === 0 && restoreLog === undefined) {
    if (event !== undefined) session.log.append(encodeEventLine(event));
  } else {
    if (restoreLog !== undefined) kept.returnBlobs(restoreLog);
    kept.keep(rewindId, [
      ...intentHashes,
      ...droppedHashes(session.log, keepThrough ?? Number.POSITIVE_INFINITY, restoreLog),
    ]);
    const source = restoreLog === undefined ? session.log : kept.log(restoreLog, session.id);
    replaceLog(
      session,
      source,
      restoreLog === undefined ? (keepThrough ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
      event,
    );
  }
  if (event !== undefined)
    session.recordAppended(
      [event],
      drops || restoreLog !== undefined ? derived(session, kept.log(rewindId, session.id), transaction) : {},
    );
}

/** Writes a log of the kept lines, byte for byte, and the marker; one rename puts it in place. */
function replaceLog(
  session: LockedSession,
  source: EventLog,
  keepThrough: number,
  marker: StoredEvent | undefined,
): void {
  const { fs, newId } = session.deps;
  const temp = `${session.paths.folder}/${TEMP_PREFIX}${newId()}`;
  createFile(fs, temp, new Uint8Array(0), FILE_MODE);
  try {
    const to = fs.openAppend(temp);
    try {
      copyKeptLines(session, source, keepThrough, to);
      if (marker !== undefined) writeFully(fs, to, encodeEventLine(marker));
      syncFile(fs, to, temp);
    } finally {
      fs.close(to);
    }
    session.assertHeld();
    fs.rename(temp, session.paths.events);
  } catch (error) {
    removeQuietly(fs, temp);
    throw error;
  }
  syncFolder(fs, session.paths.folder);
}

function copyKeptLines(session: LockedSession, source: EventLog, keepThrough: number, to: number): void {
  const { fs } = session.deps;
  if (!source.exists()) return;
  const ranges = keptRanges(session, source, keepThrough);
  const from = fs.openRead(source.path);
  try {
    const chunk = new Uint8Array(COPY_BYTES);
    for (const range of ranges) {
      for (let at = range.from; at < range.to; ) {
        const count = readFully(fs, from, chunk, at, Math.min(chunk.length, range.to - at));
        if (count === 0) throw new StalePlanError(`${source.path} became shorter while it was copied`);
        writeFully(fs, to, chunk.subarray(0, count));
        at += count;
      }
    }
  } finally {
    fs.close(from);
  }
}

/** Gives the pieces of a log that stay; blank lines stay or go with the event before them. */
function keptRanges(session: LockedSession, source: EventLog, keepThrough: number): readonly ByteRange[] {
  const ranges: { from: number; to: number }[] = [];
  let open = { from: 0, to: 0 };
  let keepsOpen = true; // blank lines before the first event
  const close = (at: number): void => {
    open.to = at;
    const last = ranges.at(-1);
    if (!keepsOpen || at === open.from) return;
    if (last?.to === open.from) last.to = at;
    else ranges.push(open);
  };
  for (const item of source.scan()) {
    if (item.kind === 'damage') throw source.damaged(item.damage);
    close(item.line.start);
    open = { from: item.line.start, to: item.line.end };
    keepsOpen =
      item.kind === 'event' && item.event.sequence <= keepThrough && decodeIntent(item.event, session.id) === undefined;
  }
  close(source.size());
  return ranges;
}

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/** The blobs that only the events which go name; with a log restored whole, all that the present one names. */
function droppedHashes(log: EventLog, keepThrough: number, restoreLog: string | undefined): readonly BlobHash[] {
  const dropped = new Set<BlobHash>();
  const kept = new Set<BlobHash>();
  for (const event of log.events()) {
    if (event.type !== 'session_checkpoint') continue;
    const into = restoreLog === undefined && event.sequence <= keepThrough ? kept : dropped;
    for (const hash of hashesOfCheckpoint(event)) into.add(hash);
  }
  return [...dropped].filter((hash) => !kept.has(hash));
}

function hashesOfCheckpoint(event: StoredEvent): readonly BlobHash[] {
  try {
    return decodeCheckpoint(event).files.flatMap(({ state }) =>
      state.kind === 'stored' && state.hash !== undefined ? [state.hash] : [],
    );
  } catch {
    return []; // a checkpoint that cannot be decoded names nothing
  }
}

function hashesOf(intent: RewindIntent): readonly BlobHash[] {
  return intent.files.flatMap(({ before }) => {
    const hash = before.kind === 'stored' ? parseBlobHash(before.blob) : undefined;
    return hash === undefined ? [] : [hash];
  });
}

// Spec and goal follow the events that are left (FAULTS.md, 19); an undo may also bring some back.
function derived(
  session: LockedSession,
  before: EventLog,
  { keepThrough, restoreLog }: RewindTransaction,
): MetadataChanges {
  const dropped = (function* () {
    for (const event of before.events()) {
      if (restoreLog !== undefined || event.sequence > (keepThrough ?? Number.POSITIVE_INFINITY)) yield event;
    }
  })();
  const changes = specAndGoalWithout(session.log.events(), dropped, session.metadata.sessionKind);
  return restoreLog === undefined ? changes : { ...changes, ...specAndGoalAfter(session.log.events()) };
}

function rollBackAfter(session: LockedSession, intent: RewindIntent, cause: unknown): void {
  try {
    rollBack(session, intent);
  } catch (error) {
    const message = `The rewind failed and could not be undone at once; the next command tries again: ${(error as Error).message}`;
    session.deps.warn({
      code: 'REWIND_RECOVERED',
      sessionId: session.id,
      message: `${message} (${(cause as Error).message})`,
    });
  }
}
