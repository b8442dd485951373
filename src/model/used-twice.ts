import { LogDamagedError } from '../errors.js';

/** Says that a log uses a sequence or an id for two events, and in which lines. */
export function usedTwice(sessionId: string, what: string, first?: number, second?: number): LogDamagedError {
  const where = first === undefined ? 'for two events' : `for two events: line ${first} has it as well`;
  return new LogDamagedError(sessionId, 'events.jsonl', second, `uses ${what} ${where}`);
}
