import { howToSettle, LogDamagedError, ZeroSessionsError } from '../../errors.js';
import { removeQuietly } from '../../fs/durable-file.js';
import { sameFile } from '../../fs/file-system.js';
import type { StoredEvent } from '../../model/event.js';
import { decodeIntent, decodeMarker, workOf } from '../../model/rewind-record.js';
import { type SpecAndGoalChanges, specAndGoalAfter, specAndGoalBetween } from '../../plan/derive-state.js';
import { EVENTS_FILE, TEMP_PREFIX } from '../base/layout.js';
import { hashBytes } from '../parts/blob-store.js';
import type { LogTail } from '../parts/event-log.js';
import { KeptRecords } from '../parts/kept-records.js';
import type { LockedSession } from '../parts/locked-session.js';
import { glanceForIntent, interruptedError, openIntendedWorkspace } from './interrupted-rewind.js';
import { RollBack, type RollBackResult, rollBack } from './roll-back.js';

/**
 * Puts right what a crash left; run under the lock before every writing operation (RELIABILITY.md, 3.3).
 *
 * An unfinished rewind that was made here is rolled back, any other is left alone and spoken of. A kept record that
 * nothing came of goes, metadata that lag behind the log are mended, our own temporary files are swept. A torn tail is
 * sealed by whoever appends. It never drops a complete event and never prunes blobs.
 */
export function recover(session: LockedSession): void {
  sweepTemps(session);
  const tail = readTail(session);
  if (tail === undefined) return;
  const rolledBack = rollBackUnfinished(session, tail);
  discardUncommittedRecord(session);
  mendMetadata(session, rolledBack ? session.log.tail() : tail);
}

// Damage at the end is the operation's to report: reading, listing and restoring metadata go on.
function readTail(session: LockedSession): LogTail | undefined {
  try {
    return session.log.tail();
  } catch (error) {
    if (error instanceof LogDamagedError) return undefined;
    throw error;
  }
}

function rollBackUnfinished(session: LockedSession, { last }: LogTail): boolean {
  const intent = last === undefined ? undefined : decodeIntent(last, session.id);
  // Unasked, files are written only for an intent of ours: any other names whatever folder a stranger likes.
  if (intent === undefined || !session.log.isFile(intent.log)) {
    warnOfUnsettled(session);
    return false;
  }
  const workspace = openIntendedWorkspace(session.deps, { intent, madeHere: true });
  const result: RollBackResult =
    'reason' in workspace
      ? { kind: 'left', ...workspace, paths: [] }
      : rollBack(new RollBack(session, intent, workspace));
  const work = workOf(intent);
  if (result.kind === 'rolledBack') {
    const message = `An interrupted ${work} was taken back; files put back: ${result.files}`;
    session.deps.warn({ code: 'REWIND_RECOVERED', sessionId: session.id, message });
    return true;
  }
  const why = [result.reason, ...result.paths].join(' ');
  const message = `An interrupted ${work} (event ${last?.sequence}) was left as it is: ${why}. ${howToSettle(session.id, true)}`;
  session.deps.warn({ code: 'REWIND_UNSETTLED', sessionId: session.id, message });
  return false;
}

// Something was written after it, or it was not made here, so nothing is forced; whoever goes on is told each time.
function warnOfUnsettled(session: LockedSession): void {
  const found = glanceForIntent(session.deps, session.log);
  if (found === undefined) return;
  const { message, hint } = interruptedError(found);
  session.deps.warn({ code: 'REWIND_UNSETTLED', sessionId: session.id, message: `${message}. ${hint}` });
}

/**
 * Discards the record of what was cut short before its commit: it shares the log's bytes, so an append would go into
 * both.
 */
export function discardUncommittedRecord(session: LockedSession): void {
  const { fs } = session.deps;
  const kept = new KeptRecords(session.deps, session.paths);
  const newest = kept.ids().at(-1);
  if (newest === undefined) return;
  const record = fs.lstat(`${kept.folderOf(newest)}/${EVENTS_FILE}`);
  const log = fs.lstat(session.paths.events);
  const shares = sameFile(record, log);
  const unfinished = record === undefined;
  if (shares || unfinished || kept.isCopyOfLog(newest)) kept.discard(newest);
}

/**
 * Carries into the metadata what the log says after the last counted event. Its writer may have been killed before it
 * was synced, so nothing is written yet: {@link settleMetadata} does, or whatever the operation writes.
 */
function mendMetadata(session: LockedSession, { last }: LogTail): void {
  if (last === undefined || decodeIntent(last, session.id) !== undefined || isCounted(session, last)) return;
  try {
    const { eventCount } = session.metadata;
    session.mendMetadata({
      ...specAndGoalNow(session, eventsAfter(session, eventCount)),
      updatedAt: session.updatedAtAfter(last.createdAt),
      eventCount: Math.max(eventCount, last.sequence),
      lastEventType: last.type,
    });
  } catch (error) {
    // Metadata, or a log, that cannot be read are the operation's to report.
    if (!(error instanceof ZeroSessionsError) && (error as { code?: unknown }).code === undefined) throw error;
  }
}

/** Writes what {@link recover} put right in the metadata, once the operation went well. */
export function settleMetadata(session: LockedSession): void {
  try {
    session.settle();
  } catch (error) {
    // A full disk must not make a failure of what is done.
    if (!(error instanceof ZeroSessionsError) && (error as { code?: unknown }).code === undefined) throw error;
  }
}

// Metadata that cannot be read count nothing; they are the operation's to report.
function isCounted(session: LockedSession, { sequence, type }: StoredEvent): boolean {
  try {
    const { eventCount, lastEventType } = session.metadata;
    return sequence <= eventCount && type === (lastEventType ?? '');
  } catch (error) {
    if (error instanceof ZeroSessionsError) return false;
    throw error;
  }
}

/** What the unseen events say of spec and goal; where a rewind is among them, what is other than before it. */
function specAndGoalNow(session: LockedSession, unseen: readonly StoredEvent[]): SpecAndGoalChanges {
  const marker = unseen
    .map((event) => (event.type === 'session_rewind' ? decodeMarker(event) : undefined))
    .findLast(Boolean);
  const kept = new KeptRecords(session.deps, session.paths);
  if (marker === undefined || !kept.has(marker.rewindId)) return specAndGoalAfter(unseen);
  const before = kept.log(marker.rewindId, session.id).events();
  return specAndGoalBetween(before, session.log.events(), session.metadata, hashBytes);
}

/** Reads the events that the metadata have not seen, oldest first, from the end of the log. */
function eventsAfter(session: LockedSession, sequence: number): readonly StoredEvent[] {
  const unseen: StoredEvent[] = [];
  for (const item of session.log.scanBackwards()) {
    if (item.kind !== 'event') continue;
    if (item.event.sequence <= sequence) break;
    unseen.push(item.event);
  }
  return unseen.reverse();
}

function sweepTemps(session: LockedSession): void {
  const { fs } = session.deps;
  for (const { name, kind } of fs.readdir(session.paths.folder)) {
    if (kind === 'file' && name.startsWith(TEMP_PREFIX)) removeQuietly(fs, `${session.paths.folder}/${name}`);
  }
}
