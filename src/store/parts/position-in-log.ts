import { type Position, type PositionedEvent, resolvePosition } from '../../plan/position.js';
import type { EventLog, LogLine } from './event-log.js';

/**
 * Finds the sequence that a position (CLI.md, "Positions") names in a log as it is now, 0 before the first. Damaged lines
 * are passed over. Who changes something holds the session's lock: what counts from the end counts then.
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
