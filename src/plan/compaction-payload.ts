import { PayloadDamagedError } from '../errors.js';
import type { EventRef } from '../model/event.js';
import { decodePayload } from '../model/event-codec.js';
import { trimSpace } from '../model/ids.js';
import { isRecord, type RawJson } from '../model/json.js';

/** What a compaction event says, decoded. */
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

type Payload = Readonly<Record<string, unknown>>;

const TYPE = 'session_compaction';
const COUNTS = ['preserveLast', 'compactableCount', 'preservedCount', 'promptChars'];

/**
 * Gives what a compaction event says. `null` counts as absent, and so does a reference without an id.
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) without a summary, or when a known member is of the wrong type.
 * @see FORMAT.md, 3 and 4, rehydrate; golden case rehydrate/latest-malformed
 */
export function decodeCompaction(event: { id: string; payload: RawJson | undefined }): DecodedCompaction {
  const payload = decodePayload(event, TYPE);
  const fail = (reason: string): never => {
    throw new PayloadDamagedError(event.id, TYPE, reason);
  };
  for (const name of COUNTS) integerOf(payload, name, fail);
  if (typeof (payload.truncated ?? false) !== 'boolean') fail('truncated is neither true nor false');
  const summary = textOf(payload, 'summary', fail);
  if (trimSpace(summary) === '') fail('the summary is blank');
  return {
    summary,
    compactable: refsOf(payload, 'compactableEvents', fail),
    preserved: refsOf(payload, 'preservedEvents', fail),
    throughEventId: textOf(payload, 'compactedThroughEventId', fail),
    throughSequence: integerOf(payload, 'compactedThroughSequence', fail),
  };
}

function refsOf(payload: Payload, name: string, fail: (reason: string) => never): readonly EventRef[] {
  const list = payload[name] ?? [];
  if (!Array.isArray(list)) return fail(`${name} is no list`);
  const refs = list.map((entry: unknown) => {
    const item = entry ?? {};
    if (!isRecord(item)) return fail(`${name} holds something that is no reference`);
    return {
      id: textOf(item, 'id', fail),
      sequence: integerOf(item, 'sequence', fail),
      type: textOf(item, 'type', fail),
      createdAt: textOf(item, 'createdAt', fail),
    };
  });
  return refs.filter((ref) => ref.id !== '');
}

function textOf(payload: Payload, name: string, fail: (reason: string) => never): string {
  const value = payload[name] ?? '';
  return typeof value === 'string' ? value : fail(`${name} is no text`);
}

function integerOf(payload: Payload, name: string, fail: (reason: string) => never): number {
  const value = payload[name] ?? 0;
  return typeof value === 'number' && Number.isInteger(value) ? value : fail(`${name} is no whole number`);
}
