import type { StoredEvent } from '../model/event.js';

export function rehydrateEvents(_events: readonly StoredEvent[]): readonly StoredEvent[] {
  throw new Error('stub');
}
/** The same as {@link rehydrateEvents}, under the name that a model's view of a session has in the reference. */
export function replayEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  return rehydrateEvents(events);
}
