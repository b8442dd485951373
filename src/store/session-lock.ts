import { parseSessionId } from '../model/ids.js';
import type { StoreDeps } from './deps.js';
import { LockedSession } from './locked-session.js';
import { recover } from './recover.js';
import { requireSession } from './session-folder.js';

/**
 * Runs work on a session while nobody else, Zero included, writes to it; what a crash left is put right first.
 *
 * Never two sessions at once: an operation that needs a second one lets go of the first (RELIABILITY.md, 3.2).
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`), SessionBusyError (`SESSION_BUSY`), LockLostError (`LOCK_LOST`)
 */
export async function withSession<T>(
  deps: StoreDeps,
  sessionId: string,
  work: (session: LockedSession) => T | Promise<T>,
): Promise<T> {
  return withSessionAsItIs(deps, sessionId, async (session) => {
    recover(session);
    return work(session);
  });
}

/** As {@link withSession}, with nothing put right first: for a parent whose files keep their bytes. */
export async function withSessionAsItIs<T>(
  deps: StoreDeps,
  sessionId: string,
  work: (session: LockedSession) => T | Promise<T>,
): Promise<T> {
  const id = parseSessionId(sessionId);
  const paths = requireSession(deps, id);
  deps.assertOwner();
  return deps.locks.withLock(id, paths.folder, async (hold) => {
    // The folder may have gone while we waited.
    requireSession(deps, id);
    return work(new LockedSession(deps, id, paths, hold));
  });
}
