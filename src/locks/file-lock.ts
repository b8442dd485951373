import { randomInt } from 'node:crypto';
import { type FileHandle, lstat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ignoring, LockUnavailableError } from '../errors.js';
import { type FileIdentity, identityOf, sameFile } from '../fs/file-system.js';
import type { Deadline } from './deadline.js';
import { type FlockWay, FlockWayError, findFlockWays, type LockTry } from './flock-way.js';
import { findLockHolder } from './held-locks.js';
import { LockHeldError, LockUnknownError } from './lock-holder.js';

/** flock(LOCK_EX) on a file, held until it is released or the process dies. */
export interface FileLock {
  readonly path: string;
  /** Whether the path still names the locked file: whoever replaces the file lets others lock the new one. */
  isInPlace(): Promise<boolean>;
  /** Doing so twice is harmless. The file stays. */
  release(): Promise<void>;
}

export interface FileLocker {
  /**
   * Takes flock(LOCK_EX) on a file, which is created empty (0600) when missing.
   *
   * The first lock also proves that a second open of the same file is kept out; the others rely on that.
   * @throws {@link LockHeldError} when somebody else holds it until the deadline, with the process where it is known.
   * @throws {@link LockUnknownError} when no try came to an end until then: whether anybody holds it cannot be told.
   * @throws {@link PathRefusedError} (`PATH_REFUSED`) for anything but a regular file, which is never waited for.
   * @throws {@link LockUnavailableError} (`LOCK_UNAVAILABLE`) where there is no flock, or none that keeps anybody out.
   */
  acquire(path: string, deadline: Deadline): Promise<FileLock>;
}

/** @param ways - How to take it, the best first. Defaults to what the platform has. */
export function createFileLocker(ways?: readonly FlockWay[]): FileLocker {
  let known = ways;
  const proven = new Set<FlockWay>();

  async function acquire(path: string, deadline: Deadline): Promise<FileLock> {
    known ??= await findFlockWays();
    const usable = [...known];
    const reasons: string[] = [];
    for (;;) {
      const way = usable[0];
      if (way === undefined) break;
      try {
        const outcome = await acquireBy(way, path, deadline);
        if (outcome.kind === 'locked') return fileLock(path, outcome.file);
        // Cut short, or replaced before it was locked: the next turn opens what is there now.
        if (deadline.until.aborted) throw await giveUpReason(path, deadline, outcome);
        await sleep(randomInt(5, 51));
        // A command that is ended each time must not keep us from another that is not.
        usable.push(...usable.splice(0, 1));
      } catch (error) {
        if (!(error instanceof FlockWayError)) throw error;
        reasons.push(error.message);
        usable.shift();
      }
    }
    throw new LockUnavailableError(reasons.join('; ') || 'this platform has no command that takes flock');
  }

  /** Tries once, waits if somebody else has it, and returns only a lock on the file that is at the path. */
  async function acquireBy(way: FlockWay, path: string, deadline: Deadline): Promise<LockTry> {
    let outcome = await tryOnce(way, path, deadline);
    if (outcome.kind === 'held') {
      proven.add(way); // somebody else's lock kept us out
      const waited = await way.waitForLock(path, deadline.until);
      // The wait was cut short, as the deadline has it: what the try found out is what is known.
      outcome = waited.kind === 'unknown' && deadline.until.aborted ? outcome : waited;
    }
    if (outcome.kind !== 'locked') return outcome;
    let doubt: string | undefined = 'it was not looked at';
    try {
      doubt = await doubtAbout(way, path, outcome.file, deadline);
    } finally {
      if (doubt !== undefined) await outcome.file.close();
    }
    return doubt === undefined ? outcome : { kind: 'unknown', reason: doubt };
  }

  /** Why a locked file may not be the lock that everybody means; undefined when it is. */
  async function doubtAbout(
    way: FlockWay,
    path: string,
    file: FileHandle,
    deadline: Deadline,
  ): Promise<string | undefined> {
    const replaced = `${path} was replaced meanwhile`;
    if (!(await isAt(path, file))) return replaced;
    if (proven.has(way)) return undefined;
    const second = await tryOnce(way, path, deadline);
    if (second.kind === 'unknown') return second.reason; // a try that was cut short proves nothing
    if (second.kind === 'held') {
      proven.add(way);
      return undefined;
    }
    try {
      if (!sameFile(await identityOfOpen(file), await identityOfOpen(second.file))) return replaced;
    } finally {
      await second.file.close();
    }
    // Some mounts let everybody have the lock.
    throw new FlockWayError(`${path} could be locked twice at once`);
  }

  return { acquire };
}

async function tryOnce(way: FlockWay, path: string, deadline: Deadline): Promise<LockTry> {
  const limit = deadline.startTry();
  try {
    return await way.tryLock(path, limit.until);
  } finally {
    limit.end();
  }
}

async function giveUpReason(path: string, deadline: Deadline, outcome: LockTry): Promise<unknown> {
  deadline.throwIfGivenUp();
  if (outcome.kind === 'unknown') return new LockUnknownError(path, outcome.reason, deadline.timeoutMs);
  return new LockHeldError(path, await findLockHolder(path), deadline.timeoutMs);
}

async function isAt(path: string, file: FileHandle): Promise<boolean> {
  const found = await lstat(path, { bigint: true }).catch(ignoring('ENOENT'));
  return found !== undefined && sameFile(identityOf(found), await identityOfOpen(file));
}

async function identityOfOpen(file: FileHandle): Promise<FileIdentity> {
  return identityOf(await file.stat({ bigint: true }));
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
