import { PayloadDamagedError } from '../../errors.js';
import { joinBytes } from '../../model/bytes.js';
import { type DecodedCompaction, decodeCompaction, originalsOf } from '../../model/compaction-payload.js';
import {
  encodeString,
  parseRawJson,
  type RawJson,
  rawItems,
  rawJson,
  rawMembers,
  rawMemberValues,
} from '../../model/json.js';
import type { CopiedEvents } from './copied-events.js';

type FindCopy = (id: string) => number | undefined;

/**
 * The payload of a compaction in the numbers of a fork, without references to what was not copied; all else keeps its
 * bytes. Undefined when it is to be copied as it stands: it cannot be decoded, or its events cannot be told.
 * @see FORMAT.md, 5, "A fork of a compacted session is compacted"; FAULTS.md, 5
 */
export function compactionForFork(
  event: { readonly id: string; readonly payload: RawJson | undefined },
  copied: CopiedEvents,
  forkId: string,
): RawJson | undefined {
  const compaction = decode(event);
  if (compaction === undefined || event.payload === undefined) return undefined;
  const findCopy = isInherited(compaction, copied)
    ? findInherited(compaction, copied)
    : (id: string) => copied.sequenceOf(id);
  if (findCopy === undefined) return undefined;
  const through = lastReplaced(compaction, copied, findCopy);
  return changeMembers(event.payload, (name, value) => {
    switch (name) {
      case 'compactableEvents':
      case 'preservedEvents':
        return changeReferences(value, findCopy, forkId);
      case 'compactedThroughEventId':
        return through === 0 ? undefined : rawJson(encodeString(`${forkId}:${through}`));
      case 'compactedThroughSequence':
        return through === 0 ? undefined : rawJson(String(through));
      default:
        return value;
    }
  });
}

function decode(event: { readonly id: string; readonly payload: RawJson | undefined }): DecodedCompaction | undefined {
  try {
    return decodeCompaction(event);
  } catch (error) {
    if (error instanceof PayloadDamagedError) return undefined;
    throw error;
  }
}

/** Whether a fork of Zero's took the references over as they stood, in the numbers of the session before it. */
function isInherited({ compactable }: DecodedCompaction, copied: CopiedEvents): boolean {
  return compactable.length > 0 && compactable.every(({ id }) => isForeignId(id, copied));
}

function findInherited(compaction: DecodedCompaction, copied: CopiedEvents): FindCopy | undefined {
  const originals = originalsOf(compaction);
  if (!originals.every((ref, index) => copied.isOfType(index + 1, ref.type))) return undefined;
  const sequences = new Map(originals.map((ref, index) => [ref.id, index + 1]));
  return (id) => sequences.get(id);
}

/** The sequence in the fork of the last event that the summary stands for; 0 when the fork has none of them. */
function lastReplaced(compaction: DecodedCompaction, copied: CopiedEvents, findCopy: FindCopy): number {
  const { compactable, throughEventId, throughSequence } = compaction;
  if (compactable.length > 0) return compactable.reduce((last, { id }) => Math.max(last, findCopy(id) ?? 0), 0);
  // A cutoff in the numbers of a session before the parent says nothing about the parent's events.
  return throughEventId !== '' && isForeignId(throughEventId, copied) ? 0 : copied.countThrough(throughSequence);
}

function isForeignId(id: string, copied: CopiedEvents): boolean {
  return !copied.isIdOfParent(id) && copied.sequenceOf(id) === undefined;
}

function changeReferences(list: RawJson, findCopy: FindCopy, forkId: string): RawJson {
  const items = rawItems(list);
  if (items === undefined) return list;
  const changed: RawJson[] = [];
  for (const item of items) {
    const id = rawMemberValues(item)?.get('id');
    const copy = id === undefined ? undefined : findCopy(String(parseRawJson(id)));
    if (copy === undefined) continue;
    changed.push(
      changeMembers(item, (name, value) => {
        if (name === 'id') return rawJson(encodeString(`${forkId}:${copy}`));
        return name === 'sequence' ? rawJson(String(copy)) : value;
      }),
    );
  }
  return enclose('[', changed, ']');
}

/** Other values in an object: names, order and what is not changed keep their bytes; `undefined` takes a member out. */
function changeMembers(object: RawJson, change: (name: string, value: RawJson) => RawJson | undefined): RawJson {
  const changed: RawJson[] = [];
  for (const { name, nameStart, start, end } of rawMembers(object) ?? []) {
    const value = change(name, object.subarray(start, end) as RawJson);
    if (value !== undefined) changed.push(joinBytes([object.subarray(nameStart, start), value]) as RawJson);
  }
  return enclose('{', changed, '}');
}

function enclose(open: string, parts: readonly RawJson[], close: string): RawJson {
  const comma = rawJson(',');
  const separated = parts.flatMap((part, at) => (at === 0 ? [part] : [comma, part]));
  return joinBytes([rawJson(open), ...separated, rawJson(close)]) as RawJson;
}
