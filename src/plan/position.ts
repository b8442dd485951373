import { EventNotFoundError, InvalidArgumentError, type LogDamagedError } from '../errors.js';
import type { EventRef, StoredEvent } from '../model/event.js';
import { eventName } from '../model/ids.js';
import { isOwnCheckpoint } from '../model/rewind-record.js';
import { usedTwice } from '../model/used-twice.js';

export const POSITION = 'position';

/** Which event of a log is meant. */
export type Position =
  /** Before the first event. */
  | { readonly kind: 'none' }
  | { readonly kind: 'sequence'; readonly sequence: number }
  | { readonly kind: 'event'; readonly id: string }
  /** The event with exactly so many after it. */
  | { readonly kind: 'before-last'; readonly after: number }
  | { readonly kind: 'last-checkpoint' };

/** An event as a position looks at it; the payload matters for checkpoints only. */
export type PositionedEvent = Pick<EventRef, 'sequence' | 'exactSequence' | 'type'> &
  Pick<StoredEvent, 'id' | 'payload'> & {
    /** 1-based, where it is known: read forwards. */
    readonly line?: number | undefined;
  };

export interface PositionSource {
  readonly sessionId: string;
  forwards(): Iterable<PositionedEvent> | AsyncIterable<PositionedEvent>;
  backwards(): Iterable<PositionedEvent> | AsyncIterable<PositionedEvent>;
}

export const BEFORE_FIRST = 0;

const NUMBER = /^(?:0|[1-9]\d*)$/;
const FROM_END = /^-([1-9]\d*)$/;
const EVENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}:[1-9]\d*$/;

/**
 * Reads `12`, `0`, `ID:12`, `-N` or `last-checkpoint` (CLI.md, "Positions"); no space around it.
 * @param allowNone - Whether `0`, before the first event, can be meant.
 */
export function parsePosition(text: string, { allowNone = false }: { readonly allowNone?: boolean } = {}): Position {
  if (text === 'last-checkpoint') return { kind: 'last-checkpoint' };
  if (EVENT_ID.test(text)) return { kind: 'event', id: text };
  const after = FROM_END.exec(text)?.[1];
  if (after !== undefined) return { kind: 'before-last', after: safeNumber(text, after) };
  if (!NUMBER.test(text)) throw notAPosition(text);
  const sequence = safeNumber(text, text);
  if (sequence > 0) return { kind: 'sequence', sequence };
  if (allowNone) return { kind: 'none' };
  const message = '0 is before the first event, and an event is needed here';
  throw new InvalidArgumentError(POSITION, message, 'Give the sequence of an event.');
}

/**
 * The sequence of the event that a position names, by the log as it is now: read from one end, no further than needed.
 * @param allowNone - Whether before the first event is a position: what `last-checkpoint` can come to.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`), with the nearest two that exist.
 * @throws LogDamagedError (`LOG_DAMAGED`) when the log uses the sequence or the id for two events (FAULTS.md, 27).
 */
export async function resolvePosition(
  position: Position,
  log: PositionSource,
  { allowNone = false }: { readonly allowNone?: boolean } = {},
): Promise<number> {
  switch (position.kind) {
    case 'none':
      return BEFORE_FIRST;
    case 'sequence':
      return findSequence(position.sequence, log);
    case 'event':
      return findEvent(position.id, log);
    case 'before-last':
      return findBeforeLast(position.after, log);
    case 'last-checkpoint':
      return findLastCheckpoint(log, allowNone);
    default:
      return position satisfies never;
  }
}

async function findSequence(wanted: number, log: PositionSource): Promise<number> {
  let below: number | undefined;
  let found: PositionedEvent | undefined;
  for await (const event of log.forwards()) {
    const { sequence } = event;
    if (found !== undefined && sequence === wanted) throw usedFor(log, `the sequence ${wanted}`, found, event);
    if (found !== undefined) return wanted;
    if (sequence > wanted) throw new EventNotFoundError(log.sessionId, wanted, nearest(below, sequence));
    if (sequence === wanted) found = event;
    else below = sequence;
  }
  if (found !== undefined) return wanted;
  throw new EventNotFoundError(log.sessionId, wanted, nearest(below));
}

async function findEvent(wanted: string, log: PositionSource): Promise<number> {
  let found: PositionedEvent | undefined;
  for await (const event of log.forwards()) {
    if (eventName(event, log.sessionId) !== wanted) continue;
    if (found !== undefined) throw usedFor(log, `the id ${wanted}`, found, event);
    found = event;
  }
  if (found !== undefined) return found.sequence;
  throw new EventNotFoundError(log.sessionId, wanted, await nearestToId(wanted, log));
}

async function findBeforeLast(after: number, log: PositionSource): Promise<number> {
  let passed = 0;
  let first: number | undefined;
  for await (const { sequence } of log.backwards()) {
    if (passed === after) return sequence;
    passed += 1;
    first = sequence;
  }
  throw new EventNotFoundError(log.sessionId, `-${after}`, nearest(first));
}

async function findLastCheckpoint(log: PositionSource, allowNone: boolean): Promise<number> {
  let checkpoint: number | undefined;
  for await (const event of log.backwards()) {
    if (checkpoint !== undefined) return event.sequence;
    if (event.type === 'session_checkpoint' && !isOwnCheckpoint(event)) checkpoint = event.sequence;
  }
  if (checkpoint !== undefined && allowNone) return BEFORE_FIRST;
  throw new EventNotFoundError(log.sessionId, 'last-checkpoint', nearest(checkpoint));
}

async function nearestToId(id: string, log: PositionSource): Promise<readonly number[]> {
  // The sequence in the id of another session's event says nothing here.
  if (!id.startsWith(`${log.sessionId}:`)) return [];
  const wanted = Number(id.slice(log.sessionId.length + 1));
  let below: number | undefined;
  for await (const { sequence } of log.forwards()) {
    if (sequence > wanted) return nearest(below, sequence);
    below = sequence;
  }
  return nearest(below);
}

function nearest(...sequences: readonly (number | undefined)[]): readonly number[] {
  return sequences.filter((sequence) => sequence !== undefined);
}

function safeNumber(text: string, digits: string): number {
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) throw notAPosition(text);
  return number;
}

function notAPosition(text: string): InvalidArgumentError {
  const forms = 'Give a sequence (12), an event id (ID:12), -N for N events from the end, or last-checkpoint.';
  return new InvalidArgumentError(POSITION, `${JSON.stringify(text)} names no event`, forms);
}

function usedFor(log: PositionSource, what: string, first: PositionedEvent, second: PositionedEvent): LogDamagedError {
  return usedTwice(log.sessionId, what, first.line || undefined, second.line || undefined);
}
