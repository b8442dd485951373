import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readLog, readSessionStrictly, realDisk, type StrictEvent } from './strict-reader.js';

/** A session whose process was killed, with the workspace that it edits and rewinds. */
export interface RewoundSession {
  readonly root: string;
  readonly session: string;
  readonly workspace: string;
}

/** The files that store-actor.mjs edits, and that a rewind and an undo bring to one version, all of them. */
const FILES = Array.from({ length: 8 }, (_, at) => `${at % 3 === 0 ? 'deep/' : ''}file-${at}.txt`);
const INTENT = 'zero-sessions/rewind-intent';

/** How far a rewind or an undo had come, in the order in which it goes. */
export const STAGES = [
  'before the intent',
  'intent, no file changed',
  'intent, some files changed',
  'intent, all files changed',
  'after the commit',
] as const;
export type Stage = (typeof STAGES)[number];

/** Tells from the disk, before anything is recovered, how far the call had come that found this log. */
export function stageOf(place: RewoundSession, logBefore: Buffer): Stage {
  const log = readFileSync(logOf(place));
  const last = readLog(log, place.session, logOf(place)).events.at(-1);
  if (last !== undefined && isIntent(last)) {
    const { files } = last.payload as { files: readonly { path: string; to: { blob: string } }[] };
    const changed = files.filter(({ path, to }) => hashOf(join(place.workspace, path)) === to.blob).length;
    if (changed === 0) return 'intent, no file changed';
    return changed === files.length ? 'intent, all files changed' : 'intent, some files changed';
  }
  return log.equals(logBefore) ? 'before the intent' : 'after the commit';
}

/**
 * Finds what is wrong after the recovery of a rewind or an undo: files and log are both as they were or both new, the
 * new log is the right one byte for byte, the old one is kept, and nothing is left over.
 */
export function faultsAfterRewind(place: RewoundSession, logBefore: Buffer): readonly string[] {
  const log = readFileSync(logOf(place));
  const version = versionIn(readLog(log, place.session, logOf(place)).events);
  const found = contents(place);
  return [
    ...(found.every((content) => content === version) ? [] : [`the log says ${version}, the files ${found}`]),
    ...(log.equals(logBefore) ? [] : faultsOfNewLog(place, log, logBefore)),
    ...faultsAtRest(place),
  ];
}

/** Finds what is wrong after a kill in another call: parts of an edit, an intent, or anything temporary. */
export function faultsAfterCall(place: RewoundSession): readonly string[] {
  const versions = new Set(contents(place));
  return [...(versions.size <= 1 ? [] : [`the files are ${[...versions]}`]), ...faultsAtRest(place)];
}

/** Finds what is wrong whatever was hit: an intent, metadata that are not those of the log, anything temporary. */
export function faultsAtRest(place: RewoundSession): readonly string[] {
  const { events, metadata, torn } = readSessionStrictly(realDisk, join(place.root, place.session), place.session);
  const last = events.at(-1);
  const isCounted = metadata.lastEventType === last?.type && Number(metadata.eventCount) >= (last?.sequence ?? 0);
  return [
    ...(events.some(isIntent) ? ['an intent is in the log'] : []),
    ...(torn === '' ? [] : [`a torn tail: ${torn}`]),
    ...(isCounted ? [] : [`metadata count ${metadata.eventCount}, the log ends with ${last?.sequence} ${last?.type}`]),
    ...[place.workspace, join(place.root, place.session)].flatMap(temporaryNames),
    ...recordsSharingTheLog(place),
  ];
}

// Kept lines as they were, then one marker with a sequence that was never used; and what it replaced is kept.
function faultsOfNewLog(place: RewoundSession, log: Buffer, logBefore: Buffer): readonly string[] {
  const before = readLog(logBefore, place.session, 'the log before').events;
  const after = readLog(log, place.session, logOf(place)).events;
  const marker = after.at(-1);
  if (marker?.type !== 'session_rewind') return [`the log is neither the old one nor ends with a marker`];
  const { rewindId, undoes, targetSequence } = marker.payload as Record<string, unknown>;
  const lines = undoes === undefined ? upTo(before, Number(targetSequence)) : keptEvents(place, String(undoes));
  return [
    ...(sameLines(after.slice(0, -1), lines) ? [] : ['the new log does not hold the lines that stay']),
    ...(marker.sequence > (before.at(-1)?.sequence ?? 0) ? [] : [`marker ${marker.sequence} is a number used before`]),
    ...(sameLines(keptEvents(place, String(rewindId)), before) ? [] : ['the old log is not kept']),
  ];
}

/** The version that the files have when all is well: that of the last edit, unless its end was dropped. */
function versionIn(events: readonly StrictEvent[]): string {
  const at = events.findLastIndex(({ payload }) => isRecord(payload) && 'version' in payload);
  const [edit, ...rest] = events.slice(at);
  const isDone = rest.some(({ type }) => type === 'tool_result');
  return `${isDone ? 'after' : 'before'} ${isRecord(edit?.payload) ? edit.payload.version : 'nothing'}`;
}

function keptEvents(place: RewoundSession, record: string): readonly StrictEvent[] {
  const path = join(place.root, place.session, '.zs', 'kept', record, 'events.jsonl');
  return readLog(realDisk.bytes(path), place.session, path).events.filter((event) => !isIntent(event));
}

// Until the commit the record is the log itself: an append would go into both.
function recordsSharingTheLog(place: RewoundSession): readonly string[] {
  const kept = join(place.root, place.session, '.zs', 'kept');
  const { ino } = statSync(logOf(place), { bigint: true });
  const records = realDisk.names(kept) ?? [];
  return records.filter((record) => statSync(join(kept, record, 'events.jsonl'), { bigint: true }).ino === ino);
}

function temporaryNames(folder: string): readonly string[] {
  if (realDisk.names(folder) === undefined) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.includes('.zs-tmp-') || name.includes('.zs-new-'));
}

function contents({ workspace }: RewoundSession): readonly string[] {
  return FILES.map((name) => Buffer.from(realDisk.bytes(join(workspace, name)) ?? []).toString());
}

function hashOf(path: string): string {
  return createHash('sha256')
    .update(realDisk.bytes(path) ?? '')
    .digest('hex');
}

function logOf({ root, session }: RewoundSession): string {
  return join(root, session, 'events.jsonl');
}

function upTo(events: readonly StrictEvent[], target: number): readonly StrictEvent[] {
  return events.filter(({ sequence }) => sequence <= target);
}

function sameLines(found: readonly StrictEvent[], expected: readonly StrictEvent[]): boolean {
  return found.map(({ line }) => line).join('\n') === expected.map(({ line }) => line).join('\n');
}

function isIntent({ type, payload }: StrictEvent): boolean {
  return type === 'session_checkpoint' && isRecord(payload) && payload.tool === INTENT;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
