import { EventNotFoundError } from '../errors.js';
import { OWN_TOOL_PREFIX, type StoredEvent } from '../model/event.js';
import { viewEvent } from '../model/event-codec.js';
import { trimSpace } from '../model/ids.js';
import type { CommandContext } from './context.js';

/** The position before the first event. */
export const BEFORE_FIRST = 0;

/**
 * Gives the sequence of the event that a position names, by the log as it is now. Damaged lines are passed over; the
 * log is read as far as needed, never held.
 * @param allowNone - Whether `0`, before the first event, is a position here.
 * @throws {@link EventNotFoundError} (`EVENT_NOT_FOUND`), with the nearest events that exist.
 * @see CLI.md, "Positions"
 */
export async function findPosition(
  context: CommandContext,
  sessionId: string,
  text: string,
  { allowNone = false }: { readonly allowNone?: boolean } = {},
): Promise<number> {
  const position = trimSpace(text);
  if (/^0+$/.test(position) && allowNone) return BEFORE_FIRST;
  if (/^\d+$/.test(position)) return findSequence(context, sessionId, Number(position));
  if (/^-\d+$/.test(position)) return findFromEnd(context, sessionId, position);
  if (position === 'last-checkpoint') return findLastCheckpoint(context, sessionId, allowNone);
  for await (const event of goodEvents(context, sessionId)) if (event.id === position) return event.sequence;
  throw new EventNotFoundError(sessionId, position);
}

async function findSequence(context: CommandContext, sessionId: string, wanted: number): Promise<number> {
  const nearest: number[] = [];
  for await (const { sequence } of goodEvents(context, sessionId)) {
    if (sequence === wanted) return wanted;
    if (sequence > wanted) {
      nearest.push(sequence);
      break;
    }
    nearest.splice(0, 1, sequence);
  }
  throw new EventNotFoundError(sessionId, wanted, nearest);
}

async function findFromEnd(context: CommandContext, sessionId: string, position: string): Promise<number> {
  const after = -Number(position);
  let passed = 0;
  let first: number | undefined;
  for await (const { sequence } of goodEvents(context, sessionId, 'backwards')) {
    if (passed === after && after > 0) return sequence;
    passed += 1;
    first = sequence;
  }
  throw new EventNotFoundError(sessionId, position, first === undefined ? [] : [first]);
}

async function findLastCheckpoint(context: CommandContext, sessionId: string, allowNone: boolean): Promise<number> {
  let isBefore = false;
  for await (const event of goodEvents(context, sessionId, 'backwards')) {
    if (isBefore) return event.sequence;
    isBefore = isCheckpointOfUser(event);
  }
  if (isBefore && allowNone) return BEFORE_FIRST;
  throw new EventNotFoundError(sessionId, 'last-checkpoint');
}

/** Tells whether an event is a checkpoint, and not one that we recorded for ourselves. */
export function isCheckpointOfUser(event: StoredEvent): boolean {
  if (event.type !== 'session_checkpoint') return false;
  const view = viewEvent(event);
  return view.type !== 'checkpoint' || !view.tool.startsWith(OWN_TOOL_PREFIX);
}

async function* goodEvents(
  { store, signal }: CommandContext,
  sessionId: string,
  direction: 'forwards' | 'backwards' = 'forwards',
): AsyncGenerator<StoredEvent> {
  for await (const item of store.scanEvents(sessionId, { direction, signal })) {
    if (item.kind === 'event') yield item.event;
  }
}
