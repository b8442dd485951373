import { randomInt, randomUUID } from 'node:crypto';
import * as callbackFs from 'node:fs';
import { lstat, rename, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, ignoring, LockLostError, LockUnavailableError, PathRefusedError } from '../errors.js';
import { nodeFileSystem } from '../fs/file-system.js';
import { type OnRefused, refusalOf } from '../fs/refused-step.js';
import type { Deadline } from './deadline.js';
import { type LeftOverWatch, watchFolder } from './left-over-watch.js';
import { LockHeldError, type LockHolder } from './lock-holder.js';
import { type LockOwner, ownerPathOf, readLockOwner, removeLockOwner, writeLockOwner } from './lock-owner.js';
import { type MonotonicClock, monotonicClock } from './monotonic-clock.js';
import { hasEnded, type ProcessIdentity } from './process-identity.js';

interface ExclusiveLockOptions {
  /** This process, as those who meet its lock should know it. */
  readonly self: ProcessIdentity;
  readonly deadline: Deadline;
  /**
   * Whether the caller holds a lock (flock) that keeps everybody else out of this one. Only then may what is left over
   * be removed: two processes that do it side by side would both end up as holders.
   */
  readonly holdsOuterLock: boolean;
  /** Without an outer lock: after how many milliseconds a silent lock is left over; at least 2,000. */
  readonly staleMs?: number;
  /** Told when the directory cannot be given a time. Without an outer lock it is refused: no sign of life. */
  readonly onRefused?: OnRefused | undefined;
  /** For how long a lock stays as it is before it counts as left over. */
  readonly clock?: MonotonicClock;
}

/** How often a holder shows that it lives, milliseconds. */
const TOUCH_MS = 2_000;
/** After this long without one, milliseconds, a lock is left over: three signs of life are missing. */
const LEFT_OVER_MS = 6_000;

export interface ExclusiveLock {
  /** Aborted, with a {@link LockLostError}, once the lock is known to be lost: look before each commit. */
  readonly lost: AbortSignal;
  /** Throws a {@link LockLostError} when the lock is not ours any more: for each commit without an outer lock. */
  assertStillOurs(): void;
}

/**
 * Runs work under a lock directory, which also works where flock does not; its owner is named in a file beside it.
 *
 * Losing the lock stops nothing by itself: the work is told, and whatever it had committed before is a success.
 * @throws {@link LockHeldError} when somebody else holds it until the deadline.
 * @throws {@link LockUnavailableError} (`LOCK_UNAVAILABLE`) without an outer lock where no time can be set.
 * @throws {@link PathRefusedError} (`PATH_REFUSED`) when the path or its parent is there and is no folder.
 */
export async function withExclusiveLock<T>(
  path: string,
  options: ExclusiveLockOptions,
  work: (lock: ExclusiveLock) => Promise<T>,
): Promise<T> {
  const held = await acquire(path, options);
  try {
    return await work(held);
  } finally {
    await held.release();
  }
}

const DEFAULT_STALE_MS = 30_000;

interface HeldLock extends ExclusiveLock {
  release(): Promise<void>;
}

/** One taking of the lock, try after try. */
interface Taking extends ExclusiveLockOptions {
  readonly path: string;
  readonly owner: LockOwner;
  readonly watch: LeftOverWatch;
}

async function acquire(path: string, options: ExclusiveLockOptions): Promise<HeldLock> {
  const { deadline, self, clock = monotonicClock } = options;
  const owner: LockOwner = { ...self, token: randomUUID() };
  const taking = { ...options, path, owner, watch: watchFolder(path, LEFT_OVER_MS, clock) };
  for (;;) {
    const held = await tryAcquire(taking);
    if (held !== undefined) return held;
    deadline.throwIfGivenUp();
    if (deadline.until.aborted) throw new LockHeldError(path, holderOf(path, self), deadline.timeoutMs);
    await sleep(randomInt(5, 51)); // uneven, so that those who wait do not all come at once
  }
}

async function tryAcquire(taking: Taking): Promise<HeldLock | undefined> {
  const { path, owner } = taking;
  await makeParent(path);
  // Named before the directory exists, so that a crash leaves none without an owner. Without the outer lock that could
  // make us the owner of somebody else's directory.
  const isNamedFirst = (await isFree(taking)) && taking.holdsOuterLock;
  if (isNamedFirst) await writeLockOwner(path, owner);
  const held = await makeDirectory(taking);
  if (held === undefined) {
    if (isNamedFirst) await removeIfOurs(path, owner);
    return undefined;
  }
  try {
    if (!isNamedFirst) await writeLockOwner(path, owner);
    return held;
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** Whether the way is free, once what was left over there is removed. */
async function isFree({ path, watch, holdsOuterLock, self }: Taking): Promise<boolean> {
  if (!(await isDirectory(path))) return true;
  if (!holdsOuterLock) return false;
  const named = readLockOwner(path);
  const isDead = named !== undefined && (await hasEnded(named, self));
  if (!isDead && !(await watch.isLeftOver())) return false;
  await removeFolder(path);
  return true;
}

/** Something in the directory (of a file manager, say) is not ours to delete: it is put aside. */
async function removeFolder(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return;
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
    await rename(path, `${path}.aside-${randomUUID()}`);
  }
}

async function makeDirectory(taking: Taking): Promise<HeldLock | undefined> {
  const { path, owner, holdsOuterLock, staleMs = DEFAULT_STALE_MS, onRefused = () => {} } = taking;
  // Loaded here because readers take no lock.
  const { lock } = await import('proper-lockfile');
  const lost = new AbortController();
  const guarded = guardedFs(owner, holdsOuterLock ? onRefused : undefined);
  try {
    const unlock = await lock(path, {
      lockfilePath: path, // the directory itself, and not a second one beside it: session.lock must stay a file
      realpath: false,
      // Under an outer lock nothing is judged by the time of day, ours or theirs.
      stale: holdsOuterLock ? Number.MAX_SAFE_INTEGER : staleMs,
      update: TOUCH_MS,
      fs: guarded.fs,
      // The default throws from a timer, where no caller can catch it.
      onCompromised: (cause) => lost.abort(new LockLostError(path, { cause })),
    });
    guarded.startGuarding();
    return heldLock(taking, lost.signal, unlock);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ELOCKED' || code === 'ENOENT') return undefined; // ENOENT: taken away while it was made
    if (!isTimeRefused(error)) throw error;
    const hint = 'Put the store on a file system that keeps times, or work where there is flock.';
    throw new LockUnavailableError(`${path} cannot be given a time (${code})`, { cause: error, hint });
  }
}

function isTimeRefused(error: unknown): boolean {
  const call = (error as { syscall?: unknown } | null)?.syscall;
  return typeof call === 'string' && call.startsWith('utime') && refusalOf('utimes', error) !== undefined;
}

function heldLock({ path, owner, holdsOuterLock }: Taking, lost: AbortSignal, unlock: () => Promise<void>): HeldLock {
  return {
    lost,
    // Synchronous, so that nothing can come between the look and the commit.
    assertStillOurs() {
      lost.throwIfAborted();
      // The token decides, and not the number of the inode: that is used again for the very next directory.
      const isThere = callbackFs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
      if (!isThere || readLockOwner(path)?.token !== owner.token) throw new LockLostError(path);
    },
    async release() {
      const removeName = () => removeIfOurs(path, owner);
      // The name goes last, so that a crash leaves no directory without one. But once the directory is gone and no
      // outer lock keeps others out, the name may be somebody else's.
      for (const step of holdsOuterLock ? [unlock, removeName] : [removeName, unlock]) {
        try {
          await step();
        } catch (error) {
          // The work is done, whatever became of its lock: lost, or left to go stale.
          if (errnoOf(error) === undefined) throw error;
        }
      }
    },
  };
}

/**
 * What proper-lockfile needs of the file system. Left alone, the package removes whatever stands at the path when it
 * releases or the process exits, also the directory of whoever took over a stale lock. And under an outer lock a
 * directory is never judged by its time.
 * @param onRefused - Under an outer lock: told when no time can be set, which is no trouble then.
 */
function guardedFs(owner: LockOwner, onRefused: OnRefused | undefined): { readonly fs: object; startGuarding(): void } {
  let isGuarding = false;
  // Some file systems keep times by ten milliseconds or two seconds: what they make of ours is no sign of another.
  let touched: Date | undefined;
  const belongsToAnother = (path: string) => {
    const named = isGuarding ? readLockOwner(path) : undefined;
    return named !== undefined && named.token !== owner.token;
  };
  return {
    startGuarding: () => {
      isGuarding = true;
    },
    fs: {
      stat: (path: string, done: (error: Error | null, stat?: Pick<callbackFs.Stats, 'mtime'>) => void) => {
        callbackFs.stat(path, (error, stat) => {
          if (error !== null) return done(error);
          if (isGuarding && touched !== undefined && !belongsToAnother(path)) return done(null, { mtime: touched });
          touched = stat.mtime;
          done(null, stat);
        });
      },
      utimes: (path: string, accessed: Date, modified: Date, done: callbackFs.NoParamCallback) => {
        callbackFs.utimes(path, accessed, modified, (error) => {
          const errno = refusalOf('utimes', error);
          if (error !== null && (errno === undefined || onRefused === undefined)) return done(error);
          if (errno !== undefined) onRefused?.('utimes', errno);
          touched = modified;
          done(null);
        });
      },
      mkdir: (path: string, done: callbackFs.NoParamCallback) => {
        callbackFs.mkdir(path, 0o700, (error) => {
          const isHeld = onRefused !== undefined && error?.code === 'EEXIST';
          done(isHeld ? Object.assign(error, { code: 'ELOCKED' }) : error);
        });
      },
      rmdir: (path: string, done: callbackFs.NoParamCallback) => {
        if (belongsToAnother(path)) done(null);
        else removeFolder(path).then(() => done(null), done);
      },
      // Called while the process exits, after Ctrl-C for one.
      rmdirSync: (path: string) => {
        if (belongsToAnother(path)) return;
        callbackFs.rmdirSync(path);
        callbackFs.rmSync(ownerPathOf(path), { force: true });
      },
    },
  };
}

async function makeParent(path: string): Promise<void> {
  const parent = dirname(path);
  try {
    nodeFileSystem.mkdir(parent, 0o700);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    await isDirectory(parent); // refuses anything else
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(ignoring('ENOENT'));
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw new PathRefusedError(path, found.isSymbolicLink() ? 'a symbolic link' : 'not a folder');
}

async function removeIfOurs(path: string, owner: LockOwner): Promise<void> {
  if (readLockOwner(path)?.token === owner.token) await removeLockOwner(path);
}

function holderOf(path: string, self: ProcessIdentity): LockHolder {
  const owner = readLockOwner(path);
  if (owner === undefined) return { name: `whoever made ${path}` };
  const where = owner.host === self.host ? '' : ` on ${owner.host}`;
  return { pid: owner.pid, name: `process ${owner.pid}${where}` };
}
