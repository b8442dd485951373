import type { StoredEvent } from '../../model/event.js';
import { eventName } from '../../model/ids.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from './json.js';
import { sequenceJson } from './numbers.js';
import { isName } from './session-json.js';

/**
 * Gives an event as JSON: the members of its line by their names, the payload as it was stored but for secrets.
 * @param inSession - The session that it was read in: a line may lack the member.
 */
export function eventJson(event: StoredEvent, redaction: Redaction, inSession: string = event.sessionId): JsonMembers {
  const { sessionId, type, createdAt, payload } = event;
  const shown = (name: string) => (isName(name) ? name : redaction.text(name));
  return {
    id: shown(eventName(event, inSession)),
    sessionId: shown(sessionId),
    sequence: sequenceJson(event),
    type: shown(type),
    createdAt: redaction.text(createdAt),
    payload: payload === undefined ? undefined : redaction.json(payload),
  };
}
