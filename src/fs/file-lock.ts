import type { FileHandle } from 'node:fs/promises';
import { lstat } from 'node:fs/promises';
import { errnoOf, LockUnavailableError } from '../errors.js';
import type { Deadline } from './deadline.js';
import { identityOf, sameFile } from './file-system.js';
import type { FlockWay } from './flock-way.js';
import { FlockWayError, findFlockWays } from './flock-way.js';
import { findLockHolder } from './held-locks.js';
import { LockHeldError } from './lock-holder.js';

/** flock(LOCK_EX) on a file, held until it is released or the process dies. */
export interface FileLock {
  readonly path: string;
  /** Tells whether the path still names the locked file: whoever replaces the file lets others lock the new one. */
  isInPlace(): Promise<boolean>;
  /** Gives the lock back. Doing so twice is harmless. The file stays. */
  release(): Promise<void>;
}

/** Takes flock on the files of one file system. */
export interface FileLocker {
  /**
   * Takes flock(LOCK_EX) on a file, which is created empty (0600) when missing.
   *
   * The first lock also proves that a second open of the same file is kept out; the others rely on that.
   * @throws {@link LockHeldError} when somebody else holds it until the deadline, with the process where it is known.
   * @throws {@link PathRefusedError} (`PATH_REFUSED`) for anything but a regular file, which is never waited for.
   * @throws {@link LockUnavailableError} (`LOCK_UNAVAILABLE`) where there is no flock, or none that keeps anybody out.
   * @throws the caller's own reason when they have given up; a system error when the file cannot be opened.
   * @see RELIABILITY.md, 3.2
   */
  acquire(path: string, deadline: Deadline): Promise<FileLock>;
}

/**
 * Makes a locker that takes flock as Zero does, without a native package.
 *
 * @param ways - How to take it, the best first. Defaults to what the platform has.
 * @see PERFORMANCE.md, 5
 */
export function createFileLocker(ways?: readonly FlockWay[]): FileLocker {
  let usable = ways;
  let isProven = false;

  async function acquireBy(way: FlockWay, path: string, deadline: Deadline): Promise<FileLock> {
    for (;;) {
      // Tried once without a limit, so that no deadline is too short for a lock that is free.
      const file = (await way.openLocked(path)) ?? (await waitFor(way, path, deadline));
      if (file !== undefined && (await isOurs(way, path, file))) return fileLock(path, file);
      // Cut short by a signal, or replaced before it was locked: the next turn opens what is there now.
      if (deadline.until.aborted) throw await giveUpReason(path, deadline);
    }
  }

  /** Tells whether the file is the one at the path, and the lock on it a lock; closes it when not. */
  async function isOurs(way: FlockWay, path: string, file: FileHandle): Promise<boolean> {
    try {
      if (await isAt(path, file)) {
        isProven ||= await keepsOthersOut(way, path, file);
        if (isProven) return true;
      }
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return false;
  }

  async function waitFor(way: FlockWay, path: string, deadline: Deadline): Promise<FileHandle | undefined> {
    isProven = true; // somebody else's lock kept us out
    return way.openLocked(path, deadline.until);
  }

  return {
    async acquire(path, deadline) {
      usable ??= await findFlockWays();
      const reasons: string[] = [];
      for (const way of usable) {
        try {
          return await acquireBy(way, path, deadline);
        } catch (error) {
          if (!(error instanceof FlockWayError)) throw error;
          reasons.push(error.message);
        }
      }
      throw new LockUnavailableError(reasons.join('; ') || 'this platform has no command that takes flock');
    },
  };
}

/**
 * Some mounts let everybody have the lock; on one of those this throws instead of giving true.
 *
 * Gives false when the file was replaced meanwhile, which proves nothing.
 */
async function keepsOthersOut(way: FlockWay, path: string, locked: FileHandle): Promise<boolean> {
  const second = await way.openLocked(path);
  if (second === undefined) return true;
  try {
    const [one, other] = await Promise.all([locked.stat({ bigint: true }), second.stat({ bigint: true })]);
    if (!sameFile(identityOf(one), identityOf(other))) return false;
  } finally {
    await second.close();
  }
  throw new FlockWayError(`${path} could be locked twice at once`);
}

async function giveUpReason(path: string, deadline: Deadline): Promise<unknown> {
  deadline.throwIfGivenUp();
  return new LockHeldError(path, await findLockHolder(path), deadline.timeoutMs);
}

async function isAt(path: string, file: FileHandle): Promise<boolean> {
  try {
    const [found, held] = await Promise.all([lstat(path, { bigint: true }), file.stat({ bigint: true })]);
    return sameFile(identityOf(found), identityOf(held));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

function fileLock(path: string, file: FileHandle): FileLock {
  let closing: Promise<void> | undefined;
  return {
    path,
    isInPlace: () => isAt(path, file),
    release: () => {
      closing ??= file.close(); // closing is what unlocks; the file is never removed, since others may wait for it
      return closing;
    },
  };
}
