import { type Position, type PositionedEvent, resolvePosition } from '../../plan/position.js';
import type { EventLog, LogLine } from './event-log.js';

/**
 * Gives the sequence of the event that a position names in a log as it is now, 0 before the first. Damaged lines are
 * passed over. Where something is changed, the caller holds the session's lock: what counts from the end counts then.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when there is no such event.
 * @throws LogDamagedError (`LOG_DAMAGED`) when the log uses the sequence or the id for two events.
 * @see CLI.md, "Positions"
 */
export function positionIn(log: EventLog, position: Position): Promise<number> {
  const source = {
    sessionId: log.sessionId,
    forwards: () => goodEvents(log.scan()),
    backwards: () => goodEvents(log.scanBackwards()),
  };
  return resolvePosition(position, source, { allowNone: true });
}

function* goodEvents(lines: Iterable<LogLine>): Generator<PositionedEvent> {
  for (const item of lines) if (item.kind === 'event') yield { ...item.event, line: item.line.number };
}
