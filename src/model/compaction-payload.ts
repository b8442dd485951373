import { PayloadDamagedError } from '../errors.js';
import type { EventRef } from './event.js';
import { trimSpace } from './ids.js';
import type { RawJson } from './json.js';
import { type PayloadReader, readPayload } from './payload-reader.js';

export interface DecodedCompaction {
  readonly summary: string;
  /** The events that the summary stands for; empty when only a last sequence is given. */
  readonly compactable: readonly EventRef[];
  readonly preserved: readonly EventRef[];
  /** Empty when there is none. */
  readonly throughEventId: string;
  /** 0 when there is none. */
  readonly throughSequence: number;
}

const TYPE = 'session_compaction';
const COUNTS = ['preserveLast', 'compactableCount', 'preservedCount', 'promptChars'];

/** Reads a compaction event; `null` counts as absent, and so does a reference without an id (FORMAT.md, 3 and 4). */
export function decodeCompaction(event: { id: string; payload: RawJson | undefined }): DecodedCompaction {
  const payload = readPayload(event, TYPE);
  for (const name of COUNTS) payload.integer(name);
  payload.flag('truncated');
  const summary = payload.text('summary');
  if (trimSpace(summary) === '') throw new PayloadDamagedError(event.id, TYPE, 'the summary is blank');
  return {
    summary,
    compactable: refsOf(payload, 'compactableEvents'),
    preserved: refsOf(payload, 'preservedEvents'),
    throughEventId: payload.text('compactedThroughEventId'),
    throughSequence: payload.integer('compactedThroughSequence'),
  };
}

function refsOf(payload: PayloadReader, name: string): readonly EventRef[] {
  const refs = payload.records(name).map((ref) => ({
    id: ref.text('id'),
    sequence: ref.integer('sequence'),
    type: ref.text('type'),
    createdAt: ref.text('createdAt'),
  }));
  return refs.filter(({ id }) => id !== '');
}

/**
 * The events that a fork of Zero's has, in its order: a plan lists every event, and a fork copies all but usage. So the
 * copies are found by counting; where a type does not agree nobody knows what the summary stands for.
 */
export function originalsOf({ compactable, preserved }: DecodedCompaction): readonly EventRef[] {
  const copied = [...compactable, ...preserved].filter((ref) => ref.type !== 'provider_usage');
  return copied.sort((a, b) => a.sequence - b.sequence);
}
