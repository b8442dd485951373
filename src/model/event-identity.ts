import type { StoredEvent } from './event.js';

/** The hash of bytes as text: handed in, since this layer has none of its own. */
export type HashBytes = (bytes: Uint8Array) => string;

declare const identity: unique symbol;
/** What one event is known by, wherever it stands: two events are the same where these texts are. */
export type EventIdentity = string & { readonly [identity]: true };

/** Id, sequence, type, time and payload: Zero uses a number or an id again after a rewind (FORMAT.md, 5, identity). */
export function identityOf(event: StoredEvent, hash: HashBytes): EventIdentity {
  const { id, sequence, type, createdAt, payload } = event;
  const content = payload === undefined ? '' : hash(payload);
  // As JSON, so that no text can pass for two others.
  return JSON.stringify([id, String(sequence), type, createdAt, content]) as EventIdentity;
}
