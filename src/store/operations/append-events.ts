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

/** What an append of a batch on condition did. */
export interface AppendBatchUnlessAny {
  readonly appended: boolean;
  /** The events that were appended; none when the condition held. */
  readonly events: readonly StoredEvent[];
}

/** A condition on the events of a log, which it reads as a stream, oldest first. */
type LogCondition = (events: Iterable<StoredEvent>) => boolean;

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

/** Appends a batch, all of it or nothing, unless the condition holds; the look and the append are one step. */
export async function appendEventsUnless(
  deps: StoreDeps,
  sessionId: string,
  { inputs, unless }: { readonly inputs: readonly EventInput[]; readonly unless: LogCondition },
): Promise<AppendBatchUnlessAny> {
  parseSessionId(sessionId);
  for (const { type } of inputs) requireEventType(type);
  return withSession(deps, sessionId, (session) => {
    session.document(); // fails first where the metadata cannot be read
    if (unless(session.log.events())) return { appended: false, events: [] };
    // Payloads that are not needed are not looked at (golden case append/unless-exists-bad-payload).
    return { appended: true, events: session.append(inputs.map(encodeInput)) };
  });
}

/** As {@link appendEventsUnless}, for one event. */
export async function appendEventUnless(
  deps: StoreDeps,
  sessionId: string,
  { input, unless }: { readonly input: EventInput; readonly unless: LogCondition },
): Promise<AppendUnlessExists> {
  const { appended, events } = await appendEventsUnless(deps, sessionId, { inputs: [input], unless });
  return { appended, event: events[0] ?? null };
}

/** The condition that holds when a single event matches; the log is read only as far as that event. */
export function anyEvent(matches: (event: StoredEvent) => boolean): LogCondition {
  return (events) => {
    for (const event of events) if (matches(event)) return true;
    return false;
  };
}

/** Gives a session another title, trimmed; with an expected title only if it still has that one. */
export async function updateTitle(
  deps: StoreDeps,
  sessionId: string,
  { title, expected }: { readonly title: string; readonly expected?: string },
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

export async function updateModel(deps: StoreDeps, sessionId: string, modelId: string): Promise<SessionMetadata> {
  const changes = { modelId: trimSpace(modelId) };
  return withSession(deps, sessionId, (session) => session.updateMetadata(changes));
}
