import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import type { Inode, Tree } from '../support/memory-file-system.js';
import { inodeAt } from '../support/recording-file-system.js';

// This reader stands in for the reference program. It is made from FORMAT.md, 1 to 3, and shares no code with src/.

/** What the reader needs of a disk. Nothing is followed. */
export interface ReadOnlyDisk {
  /** Names in a folder, or undefined when there is no folder at the path. */
  readonly names: (path: string) => readonly string[] | undefined;
  /** Bytes of a regular file, or undefined when there is none at the path. */
  readonly bytes: (path: string) => Uint8Array | undefined;
}

export interface StrictEvent {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly createdAt: string;
  readonly payload: unknown;
  /** The line as it stands. */
  readonly line: string;
}

export interface StrictSession {
  readonly id: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly events: readonly StrictEvent[];
  /** Bytes after the last whole line. */
  readonly torn: string;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const METADATA_KEYS =
  'sessionId sessionKind title cwd modelId provider tag depth parentSessionId rootSessionId agentName taskId forkedFromEventId forkedFromSequence spawnedFromEventId spawnedFromSequence specId specFilePath specStatus specDraftModelId specDraftReasoning specUserComment specRejectReason specSourceSessionId specImplSessionId goal createdAt updatedAt eventCount lastEventType'.split(
    ' ',
  );
const EVENT_KEYS = ['id', 'sessionId', 'sequence', 'type', 'createdAt', 'payload'];

/**
 * Lists the sessions of a store and reads each, log and blobs included.
 * @throws Error that says what is wrong and where; a folder without metadata and log is no session.
 */
export function readStoreStrictly(disk: ReadOnlyDisk, root: string): readonly StrictSession[] {
  const sessions: StrictSession[] = [];
  for (const name of disk.names(root) ?? []) {
    if (!ID.test(name) || disk.names(`${root}/${name}`) === undefined) continue;
    const metadata = disk.bytes(`${root}/${name}/metadata.json`);
    const log = disk.bytes(`${root}/${name}/events.jsonl`);
    if (metadata === undefined && log === undefined) continue;
    sessions.push(readSessionStrictly(disk, `${root}/${name}`, name));
  }
  return sessions;
}

/** Reads one session, log and blobs included. @throws Error that says what is wrong and where. */
export function readSessionStrictly(disk: ReadOnlyDisk, folder: string, id: string): StrictSession {
  const metadata = readMetadata(disk.bytes(`${folder}/metadata.json`), id);
  const { events, torn } = readLog(disk.bytes(`${folder}/events.jsonl`), id, `${folder}/events.jsonl`);
  const eventCount = metadata.eventCount as number;
  if (eventCount > 0 && disk.bytes(`${folder}/events.jsonl`) === undefined) throw new Error(`${id}: the log is gone`);
  for (const event of events) checkBlobs(disk, `${folder}/checkpoints/blobs`, event);
  return { id, metadata, events, torn };
}

function readMetadata(bytes: Uint8Array | undefined, id: string): Readonly<Record<string, unknown>> {
  if (bytes === undefined) throw new Error(`${id}: there are no metadata`);
  const text = Buffer.from(bytes).toString('utf8');
  let metadata: Record<string, unknown>;
  try {
    metadata = JSON.parse(text);
  } catch {
    throw new Error(`${id}: metadata are no JSON: ${JSON.stringify(text.slice(0, 80))}`);
  }
  if (!text.endsWith('}\n')) throw new Error(`${id}: metadata do not end in a newline`);
  const keys = Object.keys(metadata).filter((key) => METADATA_KEYS.includes(key));
  const ordered = METADATA_KEYS.filter((key) => keys.includes(key));
  if (keys.join() !== ordered.join()) throw new Error(`${id}: metadata keys are out of order: ${keys.join()}`);
  if (metadata.sessionId !== id) throw new Error(`${id}: metadata name ${String(metadata.sessionId)}`);
  for (const key of ['createdAt', 'updatedAt']) {
    if (!TIME.test(String(metadata[key]))) throw new Error(`${id}: ${key} is ${String(metadata[key])}`);
  }
  if (!Number.isSafeInteger(metadata.eventCount)) throw new Error(`${id}: eventCount is no number`);
  return metadata;
}

/** Reads a log: the events, and what an interrupted append left behind them. */
export function readLog(
  bytes: Uint8Array | undefined,
  id: string,
  path: string,
): { readonly events: readonly StrictEvent[]; readonly torn: string } {
  // Latin-1 keeps every byte, so that lines can be compared as they stand.
  const lines = Buffer.from(bytes ?? new Uint8Array(0))
    .toString('latin1')
    .split('\n');
  const rest = lines.pop() as string;
  const events: StrictEvent[] = [];
  const read = (line: string, at: number): void => {
    const event = readEvent(line, id, `${path}:${at + 1}`);
    const before = events.at(-1);
    if (before !== undefined && event.sequence <= before.sequence) {
      throw new Error(`${path}:${at + 1}: sequence ${event.sequence} after ${before.sequence}`);
    }
    events.push(event);
  };
  for (const [at, line] of lines.entries()) if (line.trim() !== '') read(line, at);
  // The reference program leaves out a line with zeros behind it; it is whole, and a whole one must not be dropped.
  const line = rest.replace(/\0+$/, '');
  if (line === '' || !isJson(line)) return { events, torn: rest };
  read(line, lines.length);
  return { events, torn: '' };
}

function readEvent(line: string, id: string, where: string): StrictEvent {
  if (!isJson(line)) throw new Error(`${where}: malformed line ${JSON.stringify(line.slice(0, 100))}`);
  const event = JSON.parse(Buffer.from(line, 'latin1').toString('utf8'));
  const keys = Object.keys(event);
  if (keys.join() !== EVENT_KEYS.filter((key) => keys.includes(key)).join()) throw new Error(`${where}: keys ${keys}`);
  if (event.sessionId !== id || event.id !== `${id}:${event.sequence}`) throw new Error(`${where}: is ${event.id}`);
  if (!Number.isSafeInteger(event.sequence) || event.sequence < 1) throw new Error(`${where}: no sequence`);
  if (typeof event.type !== 'string' || event.type.trim() === '') throw new Error(`${where}: no type`);
  if (!TIME.test(event.createdAt)) throw new Error(`${where}: createdAt is ${event.createdAt}`);
  return { ...event, payload: event.payload, line };
}

function checkBlobs(disk: ReadOnlyDisk, blobs: string, event: StrictEvent): void {
  for (const hash of blobsOf(event)) {
    const bytes = disk.bytes(`${blobs}/${hash}`);
    if (bytes === undefined) throw new Error(`${event.id}: blob ${hash} is missing`);
    const found = createHash('sha256').update(bytes).digest('hex');
    if (found !== hash) throw new Error(`${event.id}: blob ${hash} holds ${found}`);
  }
}

/** Gives the blobs that a checkpoint names. */
export function blobsOf({ type, payload }: StrictEvent): readonly string[] {
  if (type !== 'session_checkpoint') return [];
  const { files = [] } = payload as { readonly files?: readonly { readonly blob?: string }[] };
  return files.flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Gives a tree in memory as a disk to read. */
export function treeAsDisk(tree: Tree): ReadOnlyDisk {
  const at = (path: string): Inode | undefined => inodeAt(tree, path);
  return {
    names: (path) => {
      const inode = at(path);
      return inode?.kind === 'directory' ? [...inode.entries.keys()].sort() : undefined;
    },
    bytes: (path) => {
      const inode = at(path);
      return inode?.kind === 'file' ? inode.data : undefined;
    },
  };
}

/** The real disk. */
export const realDisk: ReadOnlyDisk = {
  names: (path) => (isKind(path, 'isDirectory') ? readdirSync(path).sort() : undefined),
  bytes: (path) => (isKind(path, 'isFile') ? readFileSync(path) : undefined),
};

function isKind(path: string, kind: 'isDirectory' | 'isFile'): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.[kind]() ?? false;
}
