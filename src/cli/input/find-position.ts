import type { StoredEvent } from '../../model/event.js';
import { isOwnCheckpoint } from '../../model/rewind-record.js';
import { type PositionedEvent, parsePosition, resolvePosition } from '../../plan/position.js';
import type { CommandContext } from '../command.js';

/**
 * Gives the sequence of the event that a position names, by the log as it is now; 0 before the first. Damaged lines are
 * passed over, and the log is read no further than needed.
 * @param allowNone - Whether before the first event is a position here.
 * @throws UsageError (`USAGE`) for what is no position, EventNotFoundError (`EVENT_NOT_FOUND`) with the nearest that exist.
 * @see CLI.md, "Positions"
 */
export function findPosition(
  context: CommandContext,
  sessionId: string,
  text: string,
  options: { readonly allowNone?: boolean } = {},
): Promise<number> {
  const source = {
    sessionId,
    forwards: () => goodEvents(context, sessionId, 'forwards'),
    backwards: () => goodEvents(context, sessionId, 'backwards'),
  };
  return resolvePosition(parsePosition(text, options), source, options);
}

/** Tells whether an event is a checkpoint, and not one that we recorded for ourselves. */
export function isCheckpointOfUser(event: StoredEvent): boolean {
  return event.type === 'session_checkpoint' && !isOwnCheckpoint(event);
}

async function* goodEvents(
  { store, signal }: CommandContext,
  sessionId: string,
  direction: 'forwards' | 'backwards',
): AsyncGenerator<PositionedEvent> {
  for await (const item of store.scanEvents(sessionId, { direction, signal })) {
    if (item.kind === 'event') yield { ...item.event, line: item.line };
  }
}
