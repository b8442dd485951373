import { EventNotFoundError, InvalidArgumentError, LogDamagedError, SelectorMismatchError } from '../errors.js';
import type { EventRef } from '../model/event.js';
import { trimSpace } from '../model/ids.js';
import type { LogOutline } from '../model/log-outline.js';

/** How the reference names the target of a rewind. */
export interface RewindTargetOptions {
  readonly targetSequence?: number | undefined;
  readonly targetEventId?: string | undefined;
  /** Whether the target itself is kept. */
  readonly keepTarget?: boolean | undefined;
}

/** Which events a rewind keeps and drops: the plan of the reference, about the log alone. */
export interface RewindOutline {
  readonly sessionId: string;
  readonly targetSequence: number;
  readonly targetEventId: string;
  readonly keepTarget: boolean;
  readonly keptCount: number;
  readonly droppedCount: number;
  readonly lastKeptEventId?: string;
  readonly keptEvents: readonly EventRef[];
  readonly droppedEvents: readonly EventRef[];
}

/**
 * Finds the target by sequence, by event id, or by both, and tells which events are kept and which dropped.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the log has no such event, or none at all.
 * @throws SelectorMismatchError (`SELECTOR_MISMATCH`) when sequence and id name different events.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when neither is given.
 * @see FORMAT.md, 4, planRewind
 */
export function outlineRewind(outline: LogOutline, options: RewindTargetOptions): RewindOutline {
  const at = findTarget(outline, options);
  const target = outline.events[at] as EventRef;
  const keepTarget = options.keepTarget ?? false;
  const cut = keepTarget ? at + 1 : at;
  const keptEvents = outline.events.slice(0, cut);
  const droppedEvents = outline.events.slice(cut);
  const lastKept = keptEvents.at(-1);
  return {
    sessionId: outline.sessionId,
    targetSequence: target.sequence,
    targetEventId: target.id,
    keepTarget,
    keptCount: keptEvents.length,
    droppedCount: droppedEvents.length,
    ...(lastKept === undefined ? {} : { lastKeptEventId: lastKept.id }),
    keptEvents,
    droppedEvents,
  };
}

function findTarget({ sessionId, events }: LogOutline, options: RewindTargetOptions): number {
  const sequence = options.targetSequence ?? 0;
  const eventId = trimSpace(options.targetEventId ?? '');
  if (sequence <= 0 && eventId === '') {
    throw new InvalidArgumentError('targetSequence', 'A rewind needs a target', 'Give a sequence or an event id.');
  }
  const bySequence = sequence > 0 ? indexOfSequence(sessionId, events, sequence) : undefined;
  if (eventId === '') return bySequence as number;
  const byId = events.findIndex((event) => event.id === eventId);
  if (byId < 0) throw new EventNotFoundError(sessionId, eventId);
  if (bySequence !== undefined && bySequence !== byId) throw new SelectorMismatchError(sequence, eventId);
  return byId;
}

// Where a sequence stands twice, plan and cut would disagree on what it means (FAULTS.md, 27).
function indexOfSequence(sessionId: string, events: readonly EventRef[], sequence: number): number {
  const at = events.findIndex((event) => event.sequence === sequence);
  if (at < 0) throw new EventNotFoundError(sessionId, sequence, nearestSequences(events, sequence));
  if (events.findLastIndex((event) => event.sequence === sequence) !== at) {
    throw new LogDamagedError(sessionId, 'events.jsonl', undefined, `uses the sequence ${sequence} for two events`);
  }
  return at;
}

/** Gives the sequences next to one that is not there: the one below and the one above, as far as they exist. */
export function nearestSequences(events: readonly EventRef[], sequence: number): readonly number[] {
  const below = events.findLast((event) => event.sequence < sequence)?.sequence;
  const above = events.find((event) => event.sequence > sequence)?.sequence;
  return [below, above].filter((found) => found !== undefined);
}
