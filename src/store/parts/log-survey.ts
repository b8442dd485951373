import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { StoredEvent } from '../../model/event.js';
import type { BlobHash } from '../../model/ids.js';
import { decodeIntent, type RewindIntent } from '../../model/rewind-record.js';

/** What one pass over a log tells whoever keeps it. */
export interface LogSurvey {
  /** The blobs that its checkpoints name, those of an intent included. */
  readonly blobs: ReadonlySet<BlobHash>;
  /** How many events it has, intents left out. */
  readonly events: number;
  /** Sequence of the last of these; 0 when there is none. */
  readonly head: number;
  /** The highest sequence of these. */
  readonly highest: number;
  /** The highest sequence of an intent, or 0. */
  readonly highestIntent: number;
  /** The last intent. */
  readonly intent: RewindIntent | undefined;
}

/** Reads a log once, for all that is to be known when it is kept. */
export function surveyLog(events: Iterable<StoredEvent>, sessionId: string): LogSurvey {
  const blobs = new Set<BlobHash>();
  const seen = { events: 0, head: 0, highest: 0, highestIntent: 0 };
  let intent: RewindIntent | undefined;
  for (const event of events) {
    for (const hash of blobsNamedBy(event)) blobs.add(hash);
    const { sequence } = event;
    const found = decodeIntent(event, sessionId);
    if (found === undefined) {
      seen.events += 1;
      seen.head = sequence;
      seen.highest = Math.max(seen.highest, sequence);
    } else {
      intent = found;
      seen.highestIntent = Math.max(seen.highestIntent, sequence);
    }
  }
  return { ...seen, blobs, intent };
}

/** The blobs that an event names. A checkpoint that cannot be decoded names none that anybody could find. */
export function blobsNamedBy(event: StoredEvent): readonly BlobHash[] {
  if (event.type !== 'session_checkpoint') return [];
  try {
    return decodeCheckpoint(event).files.flatMap(({ state }) => (state.kind === 'stored' ? (state.hash ?? []) : []));
  } catch {
    return [];
  }
}
