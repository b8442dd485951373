import type { StoredEvent } from './event.js';

/** Gives the hash of bytes as text: handed in, since this layer has none of its own. */
export type HashBytes = (bytes: Uint8Array) => string;

declare const identity: unique symbol;
/** What one event is known by, wherever it stands: two events are the same where these texts are. */
export type EventIdentity = string & { readonly [identity]: true };

/**
 * Gives what an event is known by: its id, sequence, type, time as written, and the bytes of its payload. A number or
 * an id alone will not do, since Zero uses both again after a rewind.
 * @see FORMAT.md, 5, "An event's identity"
 */
export function identityOf(event: StoredEvent, hash: HashBytes): EventIdentity {
  const { id, sequence, type, createdAt, payload } = event;
  const content = payload === undefined ? '' : hash(payload);
  // As JSON, so that no text can pass for two others.
  return JSON.stringify([id, String(sequence), type, createdAt, content]) as EventIdentity;
}
