import { LockUnavailableError, SessionBusyError } from '../../errors.js';
import { nodeFileSystem } from '../../fs/file-system.js';
import type { OnRefused } from '../../fs/refused-step.js';
import { type Deadline, startDeadline } from '../../locks/deadline.js';
import { withExclusiveLock } from '../../locks/exclusive-lock.js';
import { createFileLocker, type FileLock } from '../../locks/file-lock.js';
import { LockHeldError, LockUnknownError } from '../../locks/lock-holder.js';
import { identifyThisProcess } from '../../locks/process-identity.js';
import { createTurnQueue } from '../../locks/turn-queue.js';
import type { SessionId } from '../../model/ids.js';
import type { LockHold, LockProvider, StoreWarning } from '../base/deps.js';
import { LOCK_FILE, LOCKS_DIR } from '../base/layout.js';

interface FileLockOptions {
  readonly root: string;
  /** Milliseconds for all layers together. */
  readonly timeoutMs: number;
  readonly flock: 'auto' | 'off';
  readonly warn: (warning: StoreWarning) => void;
  /** Told when a lock folder cannot be given a time: the flock alone holds then. */
  readonly onRefused?: OnRefused;
  /** Gives a lock file to the owner of the store. */
  readonly own?: (path: string) => void;
  /** Ends every wait with its reason. */
  readonly signal?: AbortSignal | undefined;
}

// One queue for all stores of the process: two of them may be open on one folder.
const turns = createTurnQueue();

/**
 * Holds sessions by files: the callers of this process in turn, then flock on Zero's `session.lock`, then our lock
 * folder under it. Always in this order, and Zero takes only the second, so nobody waits in a circle.
 * @see RELIABILITY.md, 3.2
 */
export function fileLocks({
  root,
  timeoutMs,
  flock,
  warn,
  onRefused,
  own = () => {},
  signal,
}: FileLockOptions): LockProvider {
  const locker = createFileLocker();
  let warned = false;

  async function takeFlock(folder: string, deadline: Deadline): Promise<FileLock | undefined> {
    if (flock === 'off') return undefined;
    try {
      return await locker.acquire(`${folder}/${LOCK_FILE}`, deadline);
    } catch (error) {
      if (!(error instanceof LockUnavailableError)) throw error;
      if (!warned) warn({ code: 'NO_FLOCK', sessionId: undefined, message: `${error.message}. ${error.hint}` });
      warned = true;
      return undefined;
    }
  }

  async function underBothLocks<T>(
    { id, folder }: { readonly id: SessionId; readonly folder: string },
    deadline: Deadline,
    work: (hold: LockHold) => Promise<T>,
  ): Promise<T> {
    const lock = await takeFlock(folder, deadline);
    try {
      const self = await identifyThisProcess();
      const holdsOuterLock = lock !== undefined;
      return await withExclusiveLock(
        `${root}/${LOCKS_DIR}/${id}`,
        { self, deadline, holdsOuterLock, onRefused },
        (held) => {
          deadline.end();
          for (const path of [`${folder}/${LOCK_FILE}`, `${root}/${LOCKS_DIR}`]) own(path);
          const appendOnly = holdsOuterLock || flock === 'off' ? undefined : 'there is no working flock';
          return work({
            assertHeld: () => held.assertStillOurs(),
            appendOnly,
          });
        },
      );
    } finally {
      await lock?.release();
    }
  }

  return {
    async withLock(id, folder, work) {
      const deadline = startDeadline(timeoutMs, signal);
      try {
        const endTurn = await turns.take(keyOf(folder), deadline);
        try {
          return await underBothLocks({ id, folder }, deadline, work);
        } finally {
          endTurn();
        }
      } catch (error) {
        if (error instanceof LockHeldError)
          throw new SessionBusyError(id, error.holder?.name, timeoutMs, { cause: error });
        if (error instanceof LockUnknownError)
          throw new SessionBusyError(id, undefined, timeoutMs, { cause: error, trouble: error.reason });
        throw error;
      } finally {
        deadline.end();
      }
    },
  };
}

/** One key for a folder, under whatever path it is reached. */
function keyOf(folder: string): string {
  const stat = nodeFileSystem.lstat(folder);
  return stat === undefined ? folder : `${stat.dev}:${stat.ino}`;
}
