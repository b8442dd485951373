import type { StoredEvent } from '../../model/event.js';
import { parseSessionId } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import type { StoreDeps } from '../base/deps.js';
import { EventLog } from './event-log.js';
import { pathsOf, readMetadata } from './metadata-file.js';
import { requireSession, sessionExists } from './session-folder.js';

/** Gives the metadata of a session, or null when it has none. */
export function getSession(deps: StoreDeps, sessionId: string): SessionMetadata | null {
  const id = parseSessionId(sessionId);
  if (!sessionExists(deps, id)) return null;
  return readMetadata(deps, id, pathsOf(deps, id))?.metadata ?? null;
}

/**
 * Gives the log of a session that has to be there.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`)
 */
export function openLog(deps: StoreDeps, sessionId: string): EventLog {
  const id = parseSessionId(sessionId);
  return new EventLog(deps, id, requireSession(deps, id));
}

/** Gives all events of a session, oldest first. */
export function readAllEvents(deps: StoreDeps, sessionId: string): readonly StoredEvent[] {
  return [...openLog(deps, sessionId).events()];
}
