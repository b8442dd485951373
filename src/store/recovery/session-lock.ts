import { ZeroSessionsError } from '../../errors.js';
import { syncFolder } from '../../fs/durable-file.js';
import { parseSessionId } from '../../model/ids.js';
import { parseInstant } from '../../model/time.js';
import type { StoreDeps } from '../base/deps.js';
import { LockedSession } from '../parts/locked-session.js';
import { requireSession } from '../parts/session-folder.js';
import { recover, settleMetadata } from './recover.js';

/**
 * Runs work on a session while nobody else, Zero included, writes to it; what a crash left is put right first. Never
 * two sessions at once: an operation that needs a second one lets go of the first (RELIABILITY.md, 3.2).
 */
export async function withSession<T>(
  deps: StoreDeps,
  sessionId: string,
  work: (session: LockedSession) => T | Promise<T>,
): Promise<T> {
  return withSessionAsItIs(deps, sessionId, async (session) => {
    recover(session);
    secureName(session);
    const result = await work(session);
    settleMetadata(session);
    return result;
  });
}

/** After this long a name is on the disk, whoever made it and whether it was synced or not, milliseconds. */
const SETTLED_MS = 5 * 60_000;

/**
 * Syncs the name of a session that may be young: who made it may be Zero, which does not, or was killed before it did.
 */
function secureName(session: LockedSession): void {
  if (isYoung(session)) syncFolder(session.deps.fs, session.deps.root);
}

function isYoung(session: LockedSession): boolean {
  try {
    const made = parseInstant(session.metadata.createdAt);
    const written = session.deps.fs.lstat(session.paths.events)?.mtimeMs;
    // What was written to long after it was made had a name then.
    return made === undefined || written === undefined || Math.abs(written - made) < SETTLED_MS;
  } catch (error) {
    // Metadata that cannot be read are the operation's to report.
    if (error instanceof ZeroSessionsError) return true;
    throw error;
  }
}

/** As {@link withSession}, with nothing put right first: for a parent whose files keep their bytes. */
export async function withSessionAsItIs<T>(
  deps: StoreDeps,
  sessionId: string,
  work: (session: LockedSession) => T | Promise<T>,
): Promise<T> {
  const id = parseSessionId(sessionId);
  const { folder } = requireSession(deps, id);
  deps.assertOwner();
  return deps.locks.withLock(id, folder, async (hold) => {
    // The folder may have gone while we waited.
    requireSession(deps, id);
    return work(new LockedSession(deps, id, hold));
  });
}
