import { PayloadDamagedError } from '../../errors.js';
import { type DecodedCompaction, decodeCompaction, originalsOf } from '../../model/compaction-payload.js';
import type { EventRef, StoredEvent } from '../../model/event.js';
import { decodePayload } from '../../model/event-codec.js';
import { type EventId, eventIdOf, type Sequence, validSessionId } from '../../model/ids.js';
import type { LogOutline, OutlinedPayload } from '../../model/log-outline.js';

/** Which events of a log a model sees, and where the summary stands. */
export interface ReplayPlan {
  /** The last compaction event, which stands for the replaced ones; undefined when there is none. */
  readonly compaction: StoredEvent | undefined;
  /** Index of the first event that is replaced: the compaction stands there. Undefined: it stands in front of all. */
  readonly insteadOf: number | undefined;
  readonly replacedCount: number;
  /** How many events a model sees, the compaction included. */
  readonly count: number;
  /** Whether the event at this index of the log is seen in its own place; a sequence can stand there twice. */
  keeps(index: number): boolean;
}

/**
 * The events as a model should see them: the last compaction takes the place of the first of the events that it stands
 * for. One that replaces nothing that is there stands in front (FORMAT.md, 4, rehydrate; 5, forks).
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when the payload of the last compaction is malformed.
 */
export function rehydrateEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const plan = planReplay(outlineOf(events));
  if (plan.compaction === undefined) return events;
  const compaction = events.findLast(isCompaction) as StoredEvent;
  return [...replayed({ ...plan, compaction }, events)];
}

/** {@link rehydrateEvents} under the name that a model's view of a session has in the reference. */
export function replayEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return rehydrateEvents(events);
}

/**
 * What a model sees of a log, from its outline alone: a log can be larger than memory.
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when the payload of the last compaction is malformed.
 */
export function planReplay(outline: LogOutline): ReplayPlan {
  const at = outline.events.findLastIndex(isCompaction);
  const ref = outline.events[at];
  const stored = outline.compactions.at(-1);
  if (ref === undefined || stored === undefined) return planAsLogged(outline);
  const replaced = new Set(replacedBy(outline, at, decodeCompaction(stored)));
  replaced.delete(at);
  return {
    compaction: {
      id: ref.id as EventId,
      sessionId: outline.sessionId,
      sequence: ref.sequence as Sequence,
      type: ref.type,
      createdAt: ref.createdAt ?? '',
      payload: stored.payload,
    },
    insteadOf: replaced.values().next().value,
    replacedCount: replaced.size,
    count: outline.events.length - replaced.size,
    keeps: (index) => index !== at && !replaced.has(index),
  };
}

/** The events of a log as a plan for it has them; the log is read once and not held. */
export async function* replayStream(
  plan: ReplayPlan,
  events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>,
): AsyncGenerator<StoredEvent> {
  yield* inFront(plan);
  let index = 0;
  for await (const event of events) {
    yield* inPlace(plan, index, event);
    index += 1;
  }
}

/** Events, or references to them, as a plan for their log has them: all of its events, in their order. */
export function* replayed<Event>(plan: ReplayPlan, events: Iterable<Event>): Generator<Event | StoredEvent> {
  yield* inFront(plan);
  let index = 0;
  for (const event of events) {
    yield* inPlace(plan, index, event);
    index += 1;
  }
}

function inFront({ insteadOf, compaction }: ReplayPlan): readonly StoredEvent[] {
  return insteadOf === undefined && compaction !== undefined ? [compaction] : [];
}

function inPlace<Event>(plan: ReplayPlan, index: number, event: Event): readonly (Event | StoredEvent)[] {
  if (plan.keeps(index)) return [event];
  return index === plan.insteadOf && plan.compaction !== undefined ? [plan.compaction] : [];
}

/** For a log whose last compaction cannot be decoded. */
export function planAsLogged(outline: LogOutline): ReplayPlan {
  const count = outline.events.length;
  return { compaction: undefined, insteadOf: undefined, replacedCount: 0, count, keeps: () => true };
}

function replacedBy(outline: LogOutline, at: number, compaction: DecodedCompaction): readonly number[] {
  const { events } = outline;
  const { compactable, throughSequence } = compaction;
  if (compactable.length === 0) {
    if (isForeignCutoff(outline, at, compaction)) return [];
    return indexesOf(events, (event) => event.sequence <= throughSequence);
  }
  const ids = new Set(compactable.map((ref) => ref.id));
  const named = indexesOf(events, (event) => ids.has(event.id));
  const isForeign = named.length === 0 && isCopy(outline, at) && compactable.every((ref) => isForeignId(outline, ref));
  return isForeign ? copiesOf(outline, at, compaction) : named;
}

/**
 * The copies of the events that a compaction names by their ids in another session. They are found by counting.
 * Where a type does not agree we do not know what the summary stands for, and replace nothing: nothing is lost then.
 */
function copiesOf({ events }: LogOutline, at: number, compaction: DecodedCompaction): readonly number[] {
  const originals = originalsOf(compaction);
  const agree = originals.length <= at && originals.every((ref, index) => ref.type === events[index]?.type);
  if (!agree) return [];
  const ids = new Set(compaction.compactable.map((ref) => ref.id));
  return indexesOf(originals, (ref) => ids.has(ref.id));
}

// Whether what stands at an index came with a fork; a rewind to before the marker takes the marker away.
function isCopy({ events, rewound }: LogOutline, at: number): boolean {
  const marker = events.findLastIndex((event) => event.type === 'session_fork');
  return marker < 0 ? rewound : at < marker;
}

/** A sequence of the parent's says nothing about the copies once some events were left out. */
function isForeignCutoff(outline: LogOutline, at: number, compaction: DecodedCompaction): boolean {
  const { throughEventId, throughSequence } = compaction;
  if (!isForeignId(outline, { id: throughEventId, sequence: throughSequence }) || !isCopy(outline, at)) return false;
  if (outline.events.some((event) => event.id === throughEventId)) return false;
  const marker = outline.forks.at(-1);
  return marker === undefined || !copiedAll(marker);
}

function copiedAll(marker: OutlinedPayload): boolean {
  try {
    const { parentEventCount, copiedEventCount } = decodePayload(marker, 'session_fork');
    return parentEventCount === copiedEventCount;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return false;
    throw error;
  }
}

/** Whether an event's id is one that Zero and we would give it in another session; anything else names nothing. */
function isForeignId({ sessionId }: LogOutline, { id, sequence }: Pick<EventRef, 'id' | 'sequence'>): boolean {
  const owner = id.slice(0, id.lastIndexOf(':'));
  return owner !== sessionId && validSessionId(owner) && id === eventIdOf(owner, sequence);
}

function indexesOf<T>(items: readonly T[], wanted: (item: T) => boolean): readonly number[] {
  return items.flatMap((item, index) => (wanted(item) ? [index] : []));
}

function isCompaction(event: EventRef): boolean {
  return event.type === 'session_compaction';
}

function outlineOf(events: readonly StoredEvent[]): LogOutline {
  return {
    sessionId: events[0]?.sessionId ?? '',
    events,
    checkpoints: [],
    compactions: events.filter(isCompaction),
    forks: events.filter((event) => event.type === 'session_fork'),
    rewound: events.some((event) => event.type === 'session_rewind'),
    highest: 0,
  };
}
