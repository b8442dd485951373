import { InvalidArgumentError } from '../../errors.js';
import type { EventInput, StoredEvent } from '../../model/event.js';
import { encodeInput, requireEventType } from '../../model/event-codec.js';
import { parseSessionId, trimSpace } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { StoreDeps } from '../base/deps.js';
import { withSession } from '../recovery/session-lock.js';

/** What an append on condition did. */
export interface AppendUnlessExists {
  readonly appended: boolean;
  /** The event that was appended, or null. */
  readonly event: StoredEvent | null;
}

/**
 * Appends a batch: all of it or nothing, with contiguous sequences. An empty batch touches nothing.
 * @see FORMAT.md, 3, "Appending"
 */
export async function appendEvents(
  deps: StoreDeps,
  sessionId: string,
  inputs: readonly EventInput[],
): Promise<readonly StoredEvent[]> {
  parseSessionId(sessionId);
  if (inputs.length === 0) return [];
  // All payloads are checked before the first byte is written.
  const encoded = inputs.map(encodeInput);
  return withSession(deps, sessionId, (session) => session.append(encoded));
}

/**
 * Appends an event unless the log satisfies the condition; the look and the append are one step.
 * @param exists - Sees all events, oldest first. Without it the event is always appended.
 */
export async function appendEventUnlessExists(
  deps: StoreDeps,
  sessionId: string,
  input: EventInput,
  exists: ((events: readonly StoredEvent[]) => boolean) | undefined,
): Promise<AppendUnlessExists> {
  return appendUnless(deps, sessionId, input, (events) => exists?.([...events]) ?? false);
}

/** As {@link appendEventUnlessExists}, with a condition on single events: the log is read as a stream. */
export async function appendEventUnlessAny(
  deps: StoreDeps,
  sessionId: string,
  input: EventInput,
  matches: (event: StoredEvent) => boolean,
): Promise<AppendUnlessExists> {
  return appendUnless(deps, sessionId, input, (events) => {
    for (const event of events) if (matches(event)) return true;
    return false;
  });
}

/** What an append of a batch on condition did. */
export interface AppendBatchUnlessAny {
  readonly appended: boolean;
  /** The events that were appended; none when the condition held. */
  readonly events: readonly StoredEvent[];
}

/**
 * Appends a batch, all of it or nothing, unless the condition holds for an event that is there; the look and the append
 * are one step.
 */
export async function appendEventsUnlessAny(
  deps: StoreDeps,
  sessionId: string,
  inputs: readonly EventInput[],
  matches: (event: StoredEvent) => boolean,
): Promise<AppendBatchUnlessAny> {
  return appendBatchUnless(deps, sessionId, inputs, (events) => {
    for (const event of events) if (matches(event)) return true;
    return false;
  });
}

async function appendUnless(
  deps: StoreDeps,
  sessionId: string,
  input: EventInput,
  exists: (events: Iterable<StoredEvent>) => boolean,
): Promise<AppendUnlessExists> {
  const { appended, events } = await appendBatchUnless(deps, sessionId, [input], exists);
  return { appended, event: events[0] ?? null };
}

async function appendBatchUnless(
  deps: StoreDeps,
  sessionId: string,
  inputs: readonly EventInput[],
  exists: (events: Iterable<StoredEvent>) => boolean,
): Promise<AppendBatchUnlessAny> {
  parseSessionId(sessionId);
  for (const { type } of inputs) requireEventType(type);
  return withSession(deps, sessionId, (session) => {
    session.document(); // fails first where the metadata cannot be read
    if (exists(session.log.events())) return { appended: false, events: [] };
    // Payloads that are not needed are not looked at (golden case append/unless-exists-bad-payload).
    return { appended: true, events: session.append(inputs.map(encodeInput)) };
  });
}

/**
 * Gives a session another title, trimmed. `updatedAt` stays: a new title is no activity.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when it is blank.
 */
export async function updateTitle(deps: StoreDeps, sessionId: string, title: string): Promise<SessionMetadata> {
  const { session } = await changeTitle(deps, sessionId, undefined, title);
  return session;
}

/** Gives a session another title if it still has the expected one; `applied` tells whether the title is in force. */
export async function updateTitleIfCurrent(
  deps: StoreDeps,
  sessionId: string,
  expected: string,
  title: string,
): Promise<{ readonly session: SessionMetadata; readonly applied: boolean }> {
  return changeTitle(deps, sessionId, trimSpace(expected), title);
}

/** Gives a session another model, or none when it is blank. `updatedAt` stays. */
export async function updateModel(deps: StoreDeps, sessionId: string, modelId: string): Promise<SessionMetadata> {
  const model = trimSpace(modelId);
  return withSession(deps, sessionId, (session) => session.updateMetadata({ modelId: model }));
}

async function changeTitle(
  deps: StoreDeps,
  sessionId: string,
  expected: string | undefined,
  title: string,
): Promise<{ readonly session: SessionMetadata; readonly applied: boolean }> {
  parseSessionId(sessionId);
  const wanted = trimSpace(title);
  if (wanted === '') throw new InvalidArgumentError('title', 'A title cannot be blank');
  return withSession(deps, sessionId, (session) => {
    const current = session.metadata.title ?? '';
    if (expected !== undefined && expected !== current) return { session: session.metadata, applied: false };
    return { session: session.updateMetadata({ title: wanted }), applied: true };
  });
}
