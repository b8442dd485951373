import { ZeroSessionsError } from '../../errors.js';
import type { LineDamage, StoredEvent } from '../../model/event.js';
import { asStoreError } from '../../store/base/system-errors.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { CommandContext } from '../command.js';

/** Which events of a session are wanted. */
export interface EventSelection {
  /** First and last sequence, both inclusive; undefined for no such end. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Types; empty for all. */
  readonly types: ReadonlySet<string>;
  /** Only so many, the last that are wanted by the rest. */
  readonly tail: number | undefined;
  /** As a model would see them, compactions honoured. */
  readonly replay: boolean;
}

// So much of the end of a log is held; a longer tail is found first and then read again.
const MAX_HELD_BYTES = 16 * 1024 * 1024;

/**
 * Gives the events that are wanted as they are read, oldest first, with the damaged lines met on the way among them.
 *
 * What cannot be read any further ends the stream as damage, so that what was shown stays valid; only what fails
 * before the first event is thrown.
 */
export async function* readSelection(
  context: CommandContext,
  sessionId: string,
  selection: EventSelection,
): AsyncGenerator<ScannedLine> {
  let begun = false;
  try {
    for await (const item of selectedItems(context, sessionId, selection)) {
      begun = true;
      yield item;
    }
  } catch (cause) {
    const error = asStoreError(cause);
    if (!begun || !(error instanceof ZeroSessionsError) || context.signal.aborted) throw error;
    const damage: LineDamage = { line: 0, code: 'LOG_DAMAGED', message: error.message };
    yield { kind: 'damage', damage };
  }
}

function selectedItems(
  context: CommandContext,
  sessionId: string,
  selection: EventSelection,
): AsyncGenerator<ScannedLine> {
  if (selection.replay) return replayedItems(context, sessionId, selection);
  if (selection.tail === undefined) return itemsFrom(context, sessionId, selection, selection.from);
  return lastItems(context, sessionId, selection, selection.tail);
}

async function* itemsFrom(
  { store, signal }: CommandContext,
  sessionId: string,
  { to, types }: EventSelection,
  from: number | undefined,
): AsyncGenerator<ScannedLine> {
  for await (const item of store.scanEvents(sessionId, { ...range(from, to), signal })) {
    if (item.kind === 'damage' || isOfType(item.event, types)) yield item;
    // What comes after the end of the range is not looked at: damage there is no matter here.
    if (item.kind === 'event' && item.event.sequence === to) return;
  }
}

/** Reads the end of the log only, unless it is long or damaged: then line numbers and order come from the beginning. */
async function* lastItems(
  context: CommandContext,
  sessionId: string,
  selection: EventSelection,
  count: number,
): AsyncGenerator<ScannedLine> {
  const { from, to, types } = selection;
  const { store, signal } = context;
  if (count === 0) return;
  const held: StoredEvent[] = [];
  let bytes = 0;
  let matches = 0;
  let first: number | undefined;
  let isDamaged = false;
  for await (const item of store.scanEvents(sessionId, { ...range(from, to), direction: 'backwards', signal })) {
    if (item.kind === 'damage') {
      isDamaged = true;
      continue;
    }
    if (!isOfType(item.event, types)) continue;
    matches += 1;
    first = item.event.sequence;
    bytes += item.event.payload?.length ?? 0;
    if (bytes <= MAX_HELD_BYTES) held.push(item.event);
    else held.length = 0;
    if (matches === count) break;
  }
  const isWhole = matches === count;
  if (!isDamaged && held.length === matches) {
    for (const event of held.reverse()) yield { kind: 'event', event };
    return;
  }
  let begun = !isWhole;
  for await (const item of itemsFrom(context, sessionId, selection, isWhole ? first : from)) {
    begun ||= item.kind === 'event';
    if (begun) yield item;
  }
}

async function* replayedItems(
  { store, signal }: CommandContext,
  sessionId: string,
  { from = 1, to = Number.POSITIVE_INFINITY, types, tail }: EventSelection,
): AsyncGenerator<ScannedLine> {
  const last: StoredEvent[] = [];
  for await (const event of store.replayEvents(sessionId, { signal })) {
    if (event.sequence < from || event.sequence > to || !isOfType(event, types)) continue;
    if (tail === undefined) {
      yield { kind: 'event', event };
      continue;
    }
    last.push(event);
    if (last.length > tail) last.shift();
  }
  for (const event of last) yield { kind: 'event', event };
}

function isOfType(event: StoredEvent, types: ReadonlySet<string>): boolean {
  return types.size === 0 || types.has(event.type);
}

function range(from: number | undefined, to: number | undefined): { from?: number; to?: number } {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}
