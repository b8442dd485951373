import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LineDamage, StoredEvent } from '../../model/event.js';
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

/**
 * Gives the events of a session as a stream. A torn tail is left out.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`) when there is neither metadata nor log.
 * @throws LogDamagedError (`LOG_DAMAGED`), naming the line, when one that is reached is malformed.
 * @throws PathRefusedError (`PATH_REFUSED`) when the log is no regular file; SystemError (`SYSTEM`)
 * @see FORMAT.md, 3, "Reading"
 */
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

/** As {@link streamEvents}, with damaged lines reported among the events instead of ending the stream. */
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

/** Gives the lines of a log as they stand, blank ones left out, damaged and torn ones marked. */
export async function* streamRawLines(
  deps: StoreDeps,
  sessionId: string,
  options: Pick<ReadOptions, 'signal'>,
): AsyncGenerator<RawLogLine> {
  for await (const { kind, line } of streamLines(
    orStoreError(() => openLog(deps, sessionId)),
    options,
  )) {
    yield { number: line.number, start: line.start, bytes: new Uint8Array(line.bytes), kind };
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
    if (item.kind !== 'event') {
      yield item;
      continue;
    }
    const { sequence } = item.event;
    // Sequences rise, so what lies beyond the range need not be read, nor can damage there matter.
    if (backwards ? sequence < from : sequence > to) return;
    if (sequence >= from && sequence <= to) yield item;
  }
}
