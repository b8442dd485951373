import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LockLostError, PathRefusedError } from '../../src/errors.js';
import { startDeadline } from '../../src/locks/deadline.js';
import type { ExclusiveLock } from '../../src/locks/exclusive-lock.js';
import { withExclusiveLock } from '../../src/locks/exclusive-lock.js';
import { LockHeldError } from '../../src/locks/lock-holder.js';
import { readLockOwner } from '../../src/locks/lock-owner.js';
import { type MonotonicClock, monotonicClock } from '../../src/locks/monotonic-clock.js';
import type { ProcessIdentity } from '../../src/locks/process-identity.js';
import { hasEnded, identifyProcess } from '../../src/locks/process-identity.js';
import type { LockActor } from '../support/lock-actor.js';
import { startLockActor } from '../support/lock-actor.js';

/** How many times eight processes meet one stale lock; the long run asks for more. */
const ROUNDS = Number(process.env.ZERO_SESSIONS_STALE_LOCK_ROUNDS ?? 30);

let folder: string;
let path: string;
let owner: string;
let flock: string;
const actors: LockActor[] = [];
const self = await identifyProcess(process.pid);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exclusive-lock-'));
  path = join(folder, 'locks', 'a');
  owner = `${path}.owner`;
  flock = join(folder, 'session.lock');
});

afterEach(async () => {
  await Promise.all(actors.splice(0).map((actor) => actor.end()));
  rmSync(folder, { recursive: true, force: true });
});

function lockActor(env?: Readonly<Record<string, string>>): LockActor {
  const actor = startLockActor(env);
  actors.push(actor);
  return actor;
}

/** A process that was there and has ended, as it would have described itself. */
async function endedProcess(): Promise<ProcessIdentity> {
  const actor = startLockActor();
  await actor.tell('check');
  const identity = await identifyProcess(actor.pid);
  await actor.end();
  return identity;
}

function leaveLock(by: object | undefined, ageMs = 0): void {
  mkdirSync(path, { recursive: true });
  const then = new Date(Date.now() - ageMs);
  utimesSync(path, then, then);
  if (by !== undefined) writeFileSync(owner, JSON.stringify({ ...by, token: 'theirs' }));
}

async function locked<T>(
  work: (lock: ExclusiveLock) => Promise<T>,
  options: {
    timeoutMs?: number;
    holdsOuterLock?: boolean;
    staleMs?: number;
    signal?: AbortSignal;
    clock?: MonotonicClock;
  } = {},
): Promise<T> {
  const { timeoutMs = 10_000, holdsOuterLock = true, staleMs = 30_000, signal, clock = monotonicClock } = options;
  const deadline = startDeadline(timeoutMs, signal);
  try {
    return await withExclusiveLock(path, { self, deadline, holdsOuterLock, staleMs, clock }, work);
  } finally {
    deadline.end();
  }
}

const nothing = async () => {};

describe.each([{ holdsOuterLock: true }, { holdsOuterLock: false }])('withExclusiveLock, %o', (mode) => {
  test('given a free lock, then a private directory and its owner are there meanwhile, and gone afterwards', async () => {
    const result = await locked(async (lock) => {
      lock.assertStillOurs();
      expect(statSync(path).mode).toBe(0o40700);
      expect(statSync(owner).mode).toBe(0o100600);
      expect(readLockOwner(path)).toMatchObject({ ...self });
      return 'result';
    }, mode);

    expect(result).toBe('result');
    expect(existsSync(path)).toBe(false);
    expect(existsSync(owner)).toBe(false);
  });

  test('given work that fails, then its error comes back and the lock is free', async () => {
    const failing = locked(() => Promise.reject(new Error('no luck')), mode);

    await expect(failing).rejects.toThrow('no luck');
    await locked(nothing, { ...mode, timeoutMs: 0 });
  });

  test('given an owner that runs, then it is waited for until the deadline, and named', async () => {
    const actor = lockActor();
    await actor.tell('take', '-', path);

    const failure = await locked(nothing, { ...mode, timeoutMs: 100 }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(LockHeldError);
    expect(failure).toMatchObject({ path, holder: { pid: actor.pid, name: `process ${actor.pid}` } });
    expect(await actor.tell('check')).toBe('done');
  });

  test('given an owner that releases, then the lock is had', async () => {
    const actor = lockActor();
    await actor.tell('take', '-', path);
    const waiting = locked(nothing, mode);
    await sleep(30);

    expect(await actor.tell('free')).toBe('done');

    await waiting;
  });

  test('given a caller that gives up, then its reason comes back', async () => {
    leaveLock(self);
    const signal = AbortSignal.timeout(30);

    await expect(locked(nothing, { ...mode, signal })).rejects.toThrow(/timeout/);
  });

  test.each([
    ['is removed', () => rmSync(path, { recursive: true })],
    ['has another owner', () => writeFileSync(owner, JSON.stringify({ ...self, token: 'theirs' }))],
  ])(
    '29. given a lock that %s meanwhile, then the next look finds it lost, and the work goes on',
    async (_, happen) => {
      const result = await locked(async (lock) => {
        happen();
        expect(() => lock.assertStillOurs()).toThrow(LockLostError);
        return 'result';
      }, mode);

      expect(result).toBe('result');
    },
  );

  test('given a lock that somebody took over, then releasing leaves theirs alone', async () => {
    await locked(async () => {
      rmSync(path, { recursive: true });
      leaveLock(self);
    }, mode);

    expect(existsSync(path)).toBe(true);
    expect(readFileSync(owner, 'utf8')).toContain('theirs');
  });

  test.each([
    ['a file', () => writeFileSync(path, '')],
    ['a symbolic link', () => symlinkSync(folder, path)],
  ])('given %s in its place, then it is refused', async (_, make) => {
    mkdirSync(join(folder, 'locks'));
    make();

    await expect(locked(nothing, mode)).rejects.toThrow(PathRefusedError);
  });

  test('given a link in place of the folder of locks, then it is refused and nothing is made behind it', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'locks'));

    await expect(locked(nothing, mode)).rejects.toThrow(PathRefusedError);
    expect(existsSync(join(folder, 'elsewhere', 'a'))).toBe(false);
  });
});

describe('withExclusiveLock under an outer lock', () => {
  test('given an owner that has ended, then its lock is taken at once', async () => {
    leaveLock(await endedProcess());

    await locked(async (lock) => lock.assertStillOurs(), { timeoutMs: 0 });
  });

  test('given no outer lock and a lock whose time is old enough, then it is taken over', async () => {
    leaveLock({ ...self, host: 'elsewhere' }, 40_000);

    await locked(async (lock) => lock.assertStillOurs(), { holdsOuterLock: false, timeoutMs: 0 });

    expect(existsSync(owner)).toBe(false);
  });

  test('given no outer lock and an owner that has ended, then the lock is left to go stale', async () => {
    leaveLock(await endedProcess());

    await expect(locked(nothing, { timeoutMs: 30, holdsOuterLock: false })).rejects.toThrow(LockHeldError);
  });

  test.each([
    ['without an owner', undefined],
    ['of another host', { pid: 2 ** 22 + 1, host: 'elsewhere' }],
    ['with a torn owner', { pid: 'x' }],
  ])('given a lock %s, then it is waited for', async (_, by) => {
    leaveLock(by);

    await expect(locked(nothing, { timeoutMs: 30 })).rejects.toThrow(LockHeldError);
    expect(existsSync(path)).toBe(true);
  });

  test('given a process that is killed while it holds both, then the next has both at once', async () => {
    const actor = lockActor();
    await actor.tell('take', flock, path);
    await actor.end();
    expect(existsSync(path)).toBe(true);

    const next = lockActor({ LOCK_ACTOR_TIMEOUT_MS: '0' });

    expect(await next.tell('take', flock, path)).toBe('done');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'given %s, then directory and owner go with the process',
    async (signal) => {
      const actor = lockActor();
      await actor.tell('take', flock, path);

      await actor.end(signal);

      expect(existsSync(path)).toBe(false);
      expect(existsSync(owner)).toBe(false);
      expect(statSync(flock).isFile()).toBe(true);
    },
  );

  test(`30. given 8 processes that meet one stale lock, ${ROUNDS} rounds, then never two are inside`, async () => {
    const met = Array.from({ length: 8 }, () => lockActor());
    const ended = await endedProcess();
    const claim = join(folder, 'claim');

    for (let round = 0; round < ROUNDS; round++) {
      // Left by a process that has ended; one of them by nobody known, which takes a while to find out.
      leaveLock(round === 1 ? undefined : ended);
      const outcomes = await Promise.all(met.map((actor) => actor.tell('meet', flock, path, claim)));
      expect(outcomes, `round ${round}`).toEqual(met.map(() => 'done'));
    }

    expect(statSync(flock).isFile()).toBe(true);
  }, 300_000);
});

describe('finding 18: withExclusiveLock under an outer lock, and a lock that was left over', () => {
  // A second of this clock is fifty of it: six seconds pass in an eighth.
  const fast: MonotonicClock = () => monotonicClock() * 50;

  test.each([
    ['of another container', () => leaveLock({ ...self, pidNamespace: 'pid:[1]' })],
    ['of another host', () => leaveLock({ ...self, host: 'elsewhere' })],
    ['of another boot', () => leaveLock({ ...self, bootId: 'another' })],
    ['of a process that runs and has forgotten it', () => leaveLock(self)],
    ['without an owner', () => leaveLock(undefined)],
    ['with a torn owner', () => leaveLock({ pid: 'x' })],
    ['from the future', () => leaveLock({ ...self, host: 'elsewhere' }, -3_600_000)],
    ['with a time that is long over', () => leaveLock({ ...self, host: 'elsewhere' }, 3_600_000)],
    [
      'with something in it',
      () => {
        leaveLock({ ...self, host: 'elsewhere' });
        writeFileSync(join(path, 'Thumbs.db'), 'x');
      },
    ],
  ])(
    'given one %s, then it is not taken at once, and taken when it has not changed for six seconds',
    async (_, leave) => {
      leave();
      await expect(locked(nothing, { timeoutMs: 60 })).rejects.toThrow(LockHeldError);
      expect(existsSync(path)).toBe(true);

      await locked(async (lock) => lock.assertStillOurs(), { clock: fast });

      expect(existsSync(path)).toBe(false);
      expect(existsSync(owner)).toBe(false);
    },
  );

  test('given something in it, then that is put aside and not deleted', async () => {
    leaveLock({ ...self, host: 'elsewhere' });
    writeFileSync(join(path, 'Thumbs.db'), 'x');

    await locked(nothing, { clock: fast });

    const [aside = ''] = readdirSync(join(folder, 'locks'));
    expect(readFileSync(join(folder, 'locks', aside, 'Thumbs.db'), 'utf8')).toBe('x');
  });

  test('given something put into ours while we hold it, then letting go leaves no lock', async () => {
    await locked(async () => writeFileSync(join(path, 'Thumbs.db'), 'x'));

    expect(existsSync(path)).toBe(false);
    await locked(nothing, { timeoutMs: 0 });
  });

  test('given one that cannot be removed, then the reason is said, and not that somebody holds it', async () => {
    leaveLock(await endedProcess());
    chmodSync(join(folder, 'locks'), 0o500);

    const failure = await locked(nothing, { timeoutMs: 60 })
      .catch((error: unknown) => error)
      .finally(() => chmodSync(join(folder, 'locks'), 0o700));

    // root may remove it all the same
    expect((failure as { code?: unknown } | undefined)?.code).toBe(process.getuid?.() === 0 ? undefined : 'EACCES');
  });

  test('given one that its holder touches, then it is waited for, however long', async () => {
    leaveLock({ ...self, host: 'elsewhere' });
    const touching = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
    onTestFinished(() => clearInterval(touching));

    await expect(locked(nothing, { timeoutMs: 1000, clock: fast })).rejects.toThrow(LockHeldError);
  });

  test('given one that nobody is named for, then the message says no more than that', async () => {
    leaveLock(undefined);

    await expect(locked(nothing, { timeoutMs: 30 })).rejects.toThrow(`is held by whoever made ${path}`);
  });

  test('given a holder without flock whose clock is moved all the time, then it keeps the lock for 17 seconds', async () => {
    const holder = lockActor({ LOCK_ACTOR_CLOCK: 'moved' });
    await holder.tell('take', '-', path);

    await expect(locked(nothing, { timeoutMs: 17_000 })).rejects.toThrow(LockHeldError);

    expect(await holder.tell('check')).toBe('done');
    expect(await holder.tell('free')).toBe('done');
  });
});

describe('withExclusiveLock with a holder that is stopped beyond the stale time', () => {
  const staleMs = { LOCK_ACTOR_STALE_MS: '2000' };
  let place: string;
  let [outer, inner, alone] = ['', '', ''];
  let underFlock: LockActor;
  let withoutFlock: LockActor;

  beforeAll(async () => {
    place = mkdtempSync(join(tmpdir(), 'exclusive-lock-stopped-'));
    [outer, inner, alone] = [join(place, 'session.lock'), join(place, 'inner'), join(place, 'alone')];
    underFlock = startLockActor(staleMs);
    withoutFlock = startLockActor(staleMs);
    await underFlock.tell('take', outer, inner);
    await withoutFlock.tell('take', '-', alone);
    for (const holder of [underFlock, withoutFlock]) holder.send('SIGSTOP');
    await sleep(3300); // the first sign of life may be dated up to a second ahead
  });

  afterAll(async () => {
    await Promise.all([underFlock.end(), withoutFlock.end()]);
    rmSync(place, { recursive: true, force: true });
  });

  test('29. given flock around it, then nobody gets in, and the holder goes on afterwards', async () => {
    const second = lockActor({ ...staleMs, LOCK_ACTOR_TIMEOUT_MS: '100' });
    expect(await second.tell('take', outer, inner)).toBe('LockHeldError');

    underFlock.send('SIGCONT');

    expect(await underFlock.tell('check')).toBe('done');
    expect(await underFlock.tell('free')).toBe('done');
  });

  test('29. given no flock, then the lock is taken over, and the holder finds out before its commit', async () => {
    const second = lockActor({ ...staleMs, LOCK_ACTOR_TIMEOUT_MS: '100' });
    expect(await second.tell('take', '-', alone)).toBe('done');

    withoutFlock.send('SIGCONT');

    expect(await withoutFlock.tell('check')).toBe('LOCK_LOST');
    expect(await withoutFlock.tell('free')).toBe('done');
    expect(await second.tell('check')).toBe('done');
  });
});

describe('hasEnded', () => {
  test('given a process that runs, then not', async () => {
    expect(await hasEnded(self, self)).toBe(false);
    expect(await hasEnded(await identifyProcess(1), self)).toBe(false);
  });

  test('given one that is gone, then yes', async () => {
    expect(await hasEnded(await endedProcess(), self)).toBe(true);
  });

  test.runIf(self.bootId !== undefined)('given a number used again, then yes', async () => {
    expect(await hasEnded({ ...self, startTime: '1' }, self)).toBe(true);
  });

  test('finding 18: given another boot, which may be that of another host of the same name, then it cannot be judged', async () => {
    expect(await hasEnded({ ...self, bootId: 'another' }, self)).toBe(false);
  });

  test.runIf(platform() === 'linux')(
    'finding 19: given no /proc, then a number that is free tells nothing',
    async () => {
      const without = { bootId: undefined, pidNamespace: undefined, startTime: undefined };

      expect(await hasEnded({ ...(await endedProcess()), ...without }, { ...self, ...without })).toBe(false);
    },
  );

  test('given another host or container, then it cannot be judged and counts as running', async () => {
    const gone = await endedProcess();

    expect(await hasEnded({ ...gone, host: `not-${hostname()}` }, self)).toBe(false);
    expect(await hasEnded({ ...gone, pidNamespace: 'pid:[1]' }, self)).toBe(false);
  });
});
