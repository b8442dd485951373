import { readHeldLocks } from '../fs/held-locks.js';
import type { StoreDeps } from './deps.js';
import { sessionPaths } from './layout.js';

/**
 * Gives a test of whether some process holds the lock of a session right now; nothing is locked or created for it.
 *
 * The test gives undefined where the system does not tell who holds what (no /proc).
 * @see CLI.md, list
 */
export async function readLiveSessions(
  deps: Pick<StoreDeps, 'root' | 'fs'>,
): Promise<(sessionId: string) => boolean | undefined> {
  const held = await readHeldLocks(deps.root);
  if (held === undefined) return () => undefined;
  return (sessionId) => {
    const lock = deps.fs.lstat(sessionPaths(`${deps.root}/${sessionId}`).lock);
    return lock !== undefined && held.isHeld(lock.ino);
  };
}
