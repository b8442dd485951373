import { setImmediate as nextTurn } from 'node:timers/promises';
import { LogDamagedError } from '../../errors.js';
import { readChunks } from '../../fs/read-chunks.js';
import type { LineDamage, StoredEvent } from '../../model/event.js';
import { sequenceText } from '../../model/ids.js';
import type { StoreDeps } from '../base/deps.js';
import { eachOrStoreError, orStoreError } from '../base/system-errors.js';
import type { EventLog, LogLine } from '../parts/event-log.js';
import { openLog } from '../parts/read-session.js';

/** Which events are wanted, in which direction. */
export interface ReadOptions {
  /** First sequence wanted, inclusive. Backwards: the last one given. */
  readonly from?: number;
  /** Last sequence wanted, inclusive. */
  readonly to?: number;
  /** `backwards` reads from the end of the log, window by window: the newest event comes first. */
  readonly direction?: 'forwards' | 'backwards';
  readonly signal?: AbortSignal;
}

/** A line as it stands in the log. */
export interface RawLogLine {
  /** 1-based. */
  readonly number: number;
  /** Offset of the first byte. */
  readonly start: number;
  /** Without its newline. */
  readonly bytes: Uint8Array;
  readonly kind: 'event' | 'damage' | 'torn';
  /** Of an event, as it is written: it may be more than a number holds. */
  readonly sequence?: string;
}

/** An event, or what is wrong with a line: it is none, or an event whose sequence is not above all before it. */
export type ScannedLine =
  | {
      readonly kind: 'event';
      readonly event: StoredEvent;
      /** 1-based; 0 or nothing where it is not known. */
      readonly line?: number;
    }
  | { readonly kind: 'damage'; readonly damage: LineDamage };

/** So many lines are read before the event loop gets its turn. */
const LINES_PER_TURN = 512;

export async function* streamEvents(
  deps: StoreDeps,
  sessionId: string,
  options: ReadOptions,
): AsyncGenerator<StoredEvent> {
  const log = orStoreError(() => openLog(deps, sessionId));
  for await (const item of streamLines(log, options)) {
    if (item.kind === 'damage') throw log.damaged(item.damage);
    if (item.kind === 'event') yield item.event;
  }
}

export async function* streamScan(
  deps: StoreDeps,
  sessionId: string,
  options: ReadOptions,
): AsyncGenerator<ScannedLine> {
  const log = orStoreError(() => openLog(deps, sessionId));
  for await (const item of streamLines(log, options, log.scanInOrder())) {
    if (item.kind === 'damage') yield { kind: 'damage', damage: item.damage };
    if (item.kind !== 'event') continue;
    const { event, line, disorder } = item;
    yield { kind: 'event', event, line: line.number };
    if (disorder === undefined) continue;
    yield { kind: 'damage', damage: { line: disorder.line, code: 'LOG_DAMAGED', message: disorder.message } };
  }
}

export async function* streamRawLines(
  deps: StoreDeps,
  sessionId: string,
  options: Pick<ReadOptions, 'signal'>,
): AsyncGenerator<RawLogLine> {
  const log = orStoreError(() => openLog(deps, sessionId));
  // What is given as it stands, its reader judges.
  for await (const item of streamLines(log, options, log.scanInOrder())) {
    const { kind, line } = item;
    const sequence = kind === 'event' ? { sequence: sequenceText(item.event) } : {};
    yield { number: line.number, start: line.start, bytes: new Uint8Array(line.bytes), kind, ...sequence };
  }
}

/** The file that a log is in. */
export interface LogFile {
  readonly path: string;
  /** Undefined where there is none. */
  readonly bytes: number | undefined;
  /** Whether its last line is torn: an append that was cut short. */
  readonly isTorn: boolean;
}

export function describeLog(deps: StoreDeps, sessionId: string): LogFile {
  const log = openLog(deps, sessionId);
  const { path } = log;
  return log.exists()
    ? { path, bytes: log.size(), isTorn: hasTornTail(log) }
    : { path, bytes: undefined, isTorn: false };
}

function hasTornTail(log: EventLog): boolean {
  try {
    return log.tail().tornFrom !== undefined;
  } catch (error) {
    if (error instanceof LogDamagedError) return false; // whoever reads the line is told
    throw error;
  }
}

export function* copyOfLog(deps: StoreDeps, sessionId: string): Generator<Uint8Array> {
  const log = openLog(deps, sessionId);
  if (!log.exists()) return;
  const fd = deps.fs.openRead(log.path);
  try {
    // A copy of each: whoever has it may still be writing it when the next is read.
    for (const chunk of readChunks(deps.fs, fd, { to: deps.fs.fstat(fd).size })) yield new Uint8Array(chunk);
  } finally {
    deps.fs.close(fd);
  }
}

async function* streamLines(log: EventLog, options: ReadOptions, forwards = log.scan()): AsyncGenerator<LogLine> {
  const { from = 1, to = Number.POSITIVE_INFINITY, direction = 'forwards', signal } = options;
  const backwards = direction === 'backwards';
  let count = 0;
  for (const item of eachOrStoreError(backwards ? log.scanBackwards() : forwards)) {
    signal?.throwIfAborted();
    count += 1;
    if (count % LINES_PER_TURN === 0) await nextTurn();
    const sequence = item.kind === 'event' ? item.event.sequence : undefined;
    // Sequences rise, so what lies beyond the range need not be read, nor can damage there matter.
    if (sequence !== undefined && (backwards ? sequence < from : sequence > to)) return;
    if (sequence === undefined || (sequence >= from && sequence <= to)) yield item;
  }
}
