import { LogDamagedError } from '../errors.js';

export function usedTwice(sessionId: string, what: string, first?: number, second?: number): LogDamagedError {
  const where = first === undefined ? 'for two events' : `for two events: line ${first} has it as well`;
  return new LogDamagedError(sessionId, 'events.jsonl', second, `uses ${what} ${where}`);
}
