import { isRecord, parseRawJson, type RawJson } from './json.js';

/** One thing that can be undone. */
export interface RewindRecord {
  readonly rewindId: string;
  /** When, RFC 3339. */
  readonly createdAt: string;
  /** `undo` where a marker says which rewind, or which compaction, it undid; `restore` where no event was dropped. */
  readonly kind: 'rewind' | 'restore' | 'undo' | 'cut';
  readonly targetSequence: number;
  /** Events in the log before it. */
  readonly events: number;
  /** The last event of that log. */
  readonly head: number;
  readonly files: number;
  readonly undoes: string;
}

/** `record.json`: what a history tells of a kept log, so that nobody has to read it for that (FORMAT.md, 6). */
export interface KeptRecord extends RewindRecord {
  /** The highest sequence that the kept log has used up: no marker may have one below it. */
  readonly high: number;
}

const KINDS: ReadonlySet<unknown> = new Set<RewindRecord['kind']>(['rewind', 'restore', 'undo', 'cut']);
const encoder = new TextEncoder();

export function encodeKeptRecord(record: KeptRecord): Uint8Array {
  const { rewindId, createdAt, kind, targetSequence, events, head, files, undoes, high } = record;
  const members = { rewindId, createdAt, kind, targetSequence, events, head, files, undoes, high };
  return encoder.encode(`${JSON.stringify(members, null, 2)}\n`);
}

/** Reads `record.json`; undefined when it is not the record with this id: then the log tells. */
export function decodeKeptRecord(bytes: Uint8Array, id: string): KeptRecord | undefined {
  let value: unknown;
  try {
    value = parseRawJson(bytes as RawJson);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { rewindId, createdAt, kind, targetSequence, events, head, files, undoes, high } = value;
  if (rewindId !== id || typeof createdAt !== 'string' || typeof undoes !== 'string' || !KINDS.has(kind))
    return undefined;
  if (![targetSequence, events, head, files, high].every(isCount)) return undefined;
  return { rewindId, createdAt, kind, targetSequence, events, head, files, undoes, high } as KeptRecord;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
