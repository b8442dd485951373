import { decodeCheckpoint } from '../model/checkpoint-codec.js';
import type { StoredEvent } from '../model/event.js';
import type { BlobHash } from '../model/ids.js';

/** Gives the blobs that an event names. A checkpoint that cannot be decoded names none that anybody could find. */
export function blobsNamedBy(event: StoredEvent): readonly BlobHash[] {
  if (event.type !== 'session_checkpoint') return [];
  try {
    return decodeCheckpoint(event).files.flatMap(({ state }) =>
      state.kind === 'stored' && state.hash !== undefined ? [state.hash] : [],
    );
  } catch {
    return [];
  }
}

/** Gives the blobs that events name, each once. */
export function blobsNamedIn(events: Iterable<StoredEvent>): ReadonlySet<BlobHash> {
  const named = new Set<BlobHash>();
  for (const event of events) for (const hash of blobsNamedBy(event)) named.add(hash);
  return named;
}
