import { parseSessionId, type SessionId } from '../model/ids.js';
import { resolveSelector } from '../plan/selector.js';
import type { StoreDeps } from './deps.js';
import { listSessions } from './list-sessions.js';

/**
 * Gives the id of the session that a name means, by the rules of CLI.md.
 * @throws UsageError (`USAGE`), SessionNotFoundError (`SESSION_NOT_FOUND`), AmbiguousNameError (`AMBIGUOUS_NAME`)
 */
export function resolveSession(deps: StoreDeps, name: string): SessionId {
  const { sessions, unreadable } = listSessions(deps);
  return parseSessionId(resolveSelector(name, { sessions, unreadable: unreadable.map(({ sessionId }) => sessionId) }));
}
