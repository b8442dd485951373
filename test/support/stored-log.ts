import type { EventRef, StoredEvent } from '../../src/index.js';
import { parseEventLine } from '../../src/model/event-codec.js';
import type { LogOutline } from '../../src/model/log-outline.js';
import { aLine, type LineParts } from './event-builder.js';

/** What can be said of an event of a log that was read; the rest is filled in. */
export type EventParts = Omit<LineParts, 'payload'> & { readonly payload?: unknown };

/** Gives the events of a log as they are when read: numbered from 1 unless said otherwise. */
export function aLog(sessionId: string, parts: readonly EventParts[]): readonly StoredEvent[] {
  return parts.map(({ payload, ...line }, at) => {
    const text = payload === undefined ? {} : { payload: JSON.stringify(payload) };
    return parseEventLine(Buffer.from(aLine({ sessionId, sequence: at + 1, ...line, ...text })));
  });
}

/** Gives so many messages. */
export function messages(count: number): readonly EventParts[] {
  return Array.from({ length: count }, () => ({}));
}

/** Gives the references to events, as plans and compactions hold them. */
export function refs(events: readonly StoredEvent[]): readonly EventRef[] {
  return events.map(({ id, sequence, type, createdAt }) => ({ id, sequence, type, createdAt }));
}

/** Gives the outline of a log. */
export function outlineOf(events: readonly StoredEvent[]): LogOutline {
  const ofType = (type: string): readonly StoredEvent[] => events.filter((event) => event.type === type);
  return {
    sessionId: events[0]?.sessionId ?? 's',
    events: refs(events),
    checkpoints: ofType('session_checkpoint'),
    compactions: ofType('session_compaction'),
    forks: ofType('session_fork'),
    rewound: ofType('session_rewind').length > 0,
    highest: events.at(-1)?.sequence ?? 0,
  };
}
