import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LockUnavailableError, PathRefusedError } from '../../src/errors.js';
import { startDeadline } from '../../src/locks/deadline.js';
import type { FileLock, FileLocker } from '../../src/locks/file-lock.js';
import { createFileLocker } from '../../src/locks/file-lock.js';
import { findFlockWays } from '../../src/locks/flock-way.js';
import { findLockHolder, readHeldLocks } from '../../src/locks/held-locks.js';
import { LockHeldError, LockUnknownError } from '../../src/locks/lock-holder.js';
import type { ForeignHolder, LockActor } from '../support/lock-actor.js';
import { startForeignHolder, startLockActor } from '../support/lock-actor.js';

const DIST = new URL('../../dist', import.meta.url).href;

let folder: string;
let path: string;
const running: { end(): Promise<void> }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-lock-'));
  path = join(folder, 'session.lock');
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.end()));
  rmSync(folder, { recursive: true, force: true });
});

async function foreignHolder(): Promise<ForeignHolder> {
  const holder = await startForeignHolder(path);
  running.push({ end: holder.letGo });
  return holder;
}

function lockActor(): LockActor {
  const actor = startLockActor();
  running.push(actor);
  return actor;
}

async function acquire(options: { timeoutMs: number; signal?: AbortSignal; locker?: FileLocker }): Promise<FileLock> {
  const deadline = startDeadline(options.timeoutMs, options.signal);
  try {
    return await (options.locker ?? createFileLocker()).acquire(path, deadline);
  } finally {
    deadline.end();
  }
}

/** What a foreign `flock -n` says: can it have the lock? */
function isFreeForOthers(): boolean {
  try {
    execFileSync('flock', ['-n', '-x', path, 'true']);
    return true;
  } catch {
    return false;
  }
}

describe.runIf(platform() === 'linux')('acquire', () => {
  test('given no file, then an empty private one is made, others are kept out, and it stays after the release', async () => {
    const umask = process.umask(0o277);
    const lock = await acquire({ timeoutMs: 1000 }).finally(() => process.umask(umask));

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
    await lock.release();
    expect(isFreeForOthers()).toBe(true);
    expect(statSync(path)).toMatchObject({ size: 0, mode: 0o100600 });
  });

  test('given perl in place of the command, then others are kept out just the same', async () => {
    const ways = (await findFlockWays()).filter((way) => way.how === 'perl');
    const lock = await acquire({ timeoutMs: 1000, locker: createFileLocker(ways) });

    expect(isFreeForOthers()).toBe(false);
    await expect(acquire({ timeoutMs: 30, locker: createFileLocker(ways) })).rejects.toThrow(LockHeldError);
    await lock.release();
    expect(isFreeForOthers()).toBe(true);
  });

  test('26. given a foreign holder, then it fails after the deadline and names that process', async () => {
    const holder = await foreignHolder();

    const failure = await acquire({ timeoutMs: 80 }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(LockHeldError);
    expect(failure).toMatchObject({
      path,
      timeoutMs: 80,
      holder: { pid: holder.pid, name: `process ${holder.pid} (flock)` },
    });
  });

  test('given a holder that asked through a command, then its own process is named, not the one that has ended', async () => {
    const actor = lockActor();
    await actor.tell('take', path);

    expect(await findLockHolder(path)).toMatchObject({ pid: actor.pid });
    await expect(acquire({ timeoutMs: 0 })).rejects.toMatchObject({ holder: { pid: actor.pid } });
  });

  test('26. given a foreign holder that lets go, then the lock is had without another try', async () => {
    const holder = await foreignHolder();
    const waiting = acquire({ timeoutMs: 20_000 });
    await sleep(50);

    await holder.letGo();
    const lock = await waiting;

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test('given a free lock and no time at all, then it is had', async () => {
    const lock = await acquire({ timeoutMs: 0 });

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test('31. given 8 pending waits, then other file calls complete meanwhile and no waiter stays behind', async () => {
    await foreignHolder();
    const waits = Array.from({ length: 8 }, () => acquire({ timeoutMs: 700 }).catch((error: unknown) => error));
    await sleep(150);

    const before = performance.now();
    await stat(folder);
    const took = performance.now() - before;

    expect(took).toBeLessThan(100);
    for (const outcome of await Promise.all(waits)) expect(outcome).toBeInstanceOf(LockHeldError);
    expect(execFileSync('cat', ['/proc/locks'], { encoding: 'utf8' })).not.toMatch(
      `-> FLOCK.*:${statSync(path, { bigint: true }).ino} `,
    );
  });

  test('given a caller that gives up, then its reason comes back and nothing is held', async () => {
    const holder = await foreignHolder();
    const caller = new AbortController();
    const waiting = acquire({ timeoutMs: 20_000, signal: caller.signal });
    await sleep(30);

    caller.abort(new Error('not any more'));

    await expect(waiting).rejects.toThrow('not any more');
    await holder.letGo();
    expect(isFreeForOthers()).toBe(true);
  });

  test('given a holder that is killed, then the lock is free at once', async () => {
    const actor = lockActor();
    await actor.tell('take', path);
    await actor.end();

    const lock = await acquire({ timeoutMs: 0 });

    await lock.release();
  });

  test('given a file that is replaced while somebody holds it, then the holder sees it and the next locks the new one', async () => {
    const first = await acquire({ timeoutMs: 1000 });
    rmSync(path);
    expect(await first.isInPlace()).toBe(false);

    const second = await acquire({ timeoutMs: 0 });

    expect(await second.isInPlace()).toBe(true);
    expect(await first.isInPlace()).toBe(false);
    await Promise.all([first.release(), second.release()]);
  });

  test('given a file that is replaced while we wait for it, then the file in place is the one locked', async () => {
    const holder = await foreignHolder();
    const waiting = acquire({ timeoutMs: 20_000 });
    await sleep(50);
    writeFileSync(join(folder, 'new'), '');
    renameSync(join(folder, 'new'), path);

    await holder.letGo();
    const lock = await waiting;

    expect(await lock.isInPlace()).toBe(true);
    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test.each([
    ['a symbolic link', () => symlinkSync(join(folder, 'elsewhere'), path)],
    ['a folder', () => mkdirSync(path)],
    ['a named pipe', () => execFileSync('mkfifo', [path])],
  ])('given %s in its place, then it is refused at once and left alone', async (kind, make) => {
    make();

    const failure = await acquire({ timeoutMs: 20_000 }).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(PathRefusedError);
    expect(failure).toMatchObject({ message: expect.stringContaining(`${path} is ${kind}`) });
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  });

  test('given no folder, then the system says so', async () => {
    rmSync(folder, { recursive: true });

    await expect(acquire({ timeoutMs: 20_000 })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('given a platform without a way, then it says that files cannot be locked', async () => {
    const locker = createFileLocker(await findFlockWays('win32'));

    await expect(acquire({ timeoutMs: 0, locker })).rejects.toThrow(LockUnavailableError);
  });

  test('given a way that lets everybody in, then the lock is refused instead of trusted', async () => {
    // Linux takes no notice of the flag with which macOS locks: every open succeeds, as on a broken mount.
    const locker = createFileLocker(await findFlockWays('darwin'));

    await expect(acquire({ timeoutMs: 0, locker })).rejects.toThrow(/could be locked twice at once/);
  });

  test('given a planted program called flock on PATH, then it is not run', async () => {
    const planted = join(folder, 'flock');
    writeFileSync(planted, `#!/bin/sh\ntouch ${join(folder, 'run')}\n`);
    chmodSync(planted, 0o755);
    vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);

    const lock = await acquire({ timeoutMs: 1000 }).finally(() => vi.unstubAllEnvs());

    await lock.release();
    expect(existsSync(join(folder, 'run'))).toBe(false);
  });
});

describe.runIf(platform() === 'linux')('finding 17: acquire with a command that does not do its work', () => {
  let commands: string;

  beforeEach(() => {
    commands = join(folder, 'commands');
    mkdirSync(commands);
  });

  function command(name: 'flock' | 'perl', script: string): void {
    writeFileSync(join(commands, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(commands, name), 0o755);
  }

  async function acquireBy(timeoutMs: number): Promise<FileLock> {
    return acquire({ timeoutMs, locker: createFileLocker(await findFlockWays('linux', [commands])) });
  }

  // Each line is what the next call of the command does; the last is what it does from then on.
  function script(...lines: readonly string[]): string {
    const cases = lines.map((line, at) => `${at === lines.length - 1 ? '*' : at}) ${line};;`).join('\n');
    return `n=$(cat ${folder}/count 2>/dev/null || echo 0); echo $((n + 1)) > ${folder}/count\ncase $n in\n${cases}\nesac`;
  }

  test.each([
    ['hangs', 'exec /bin/sleep 300', /flock did not end$/],
    ['is ended by a signal', 'kill -TERM $$', /flock ended with SIGTERM$/],
    ['ends without a word', 'exit 3', /flock ended with exit code 3$/],
    ['cannot be ended, as far as its pipe tells', '/bin/sleep 300 & wait', /flock did not end$/],
  ])('given one that %s, then there is no lock, and the deadline holds', async (_, what, reason) => {
    command('flock', what);
    const before = performance.now();

    const failure = await acquireBy(200).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(LockUnknownError);
    expect((failure as Error).message).toMatch(reason);
    expect(performance.now() - before).toBeLessThan(2500);
  });

  test('given one that hangs with all that it has open, then our process ends all the same', () => {
    command('flock', '/bin/sleep 20 & wait');
    const script = `
      import { startDeadline } from '${DIST}/locks/deadline.js';
      import { createFileLocker } from '${DIST}/locks/file-lock.js';
      import { findFlockWays } from '${DIST}/locks/flock-way.js';
      const locker = createFileLocker(await findFlockWays('linux', [process.argv[1]]));
      await locker.acquire(process.argv[2], startDeadline(100)).catch(({ name }) => console.log(name));`;
    const before = performance.now();

    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script, commands, path], {
      encoding: 'utf8',
    });

    expect(said).toBe('LockUnknownError\n');
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('given one that is ended once, then the next try has the lock', async () => {
    command('flock', script('kill -KILL $$', 'exec /usr/bin/flock "$@"'));

    const lock = await acquireBy(10_000);

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test('given one that is always ended and another that works, then the other is taken', async () => {
    command('flock', 'kill -KILL $$');
    command('perl', 'exec /usr/bin/perl "$@"');

    const lock = await acquireBy(10_000);

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test('given one that locks nothing, and a second look that is cut short, then that proves no lock', async () => {
    command('flock', script('exit 0', 'kill -TERM $$', 'exit 0', 'kill -TERM $$', 'exec /bin/sleep 300'));

    await expect(acquireBy(300)).rejects.toThrow(LockUnknownError);
  });

  test('given a wait whose command is ended, then it is waited for again', async () => {
    const holder = await foreignHolder();
    command('flock', script('exec /usr/bin/flock "$@"', 'kill -TERM $$', 'exec /usr/bin/flock "$@"'));
    const waiting = acquireBy(20_000);
    await sleep(300);

    await holder.letGo();
    const lock = await waiting;

    expect(isFreeForOthers()).toBe(false);
    await lock.release();
  });

  test('given somebody who holds it until the deadline, then that is what is known', async () => {
    await foreignHolder();
    command('flock', 'exec /usr/bin/flock "$@"');

    await expect(acquireBy(200)).rejects.toThrow(LockHeldError);
  });
});

describe.runIf(platform() === 'linux')('readHeldLocks', () => {
  test('given a held, a waited-for and a free file, then it tells them apart and makes nothing', async () => {
    await foreignHolder();
    const free = join(folder, 'free');
    writeFileSync(free, '');
    const waiting = acquire({ timeoutMs: 300 }).catch((error: unknown) => error);
    await sleep(100);

    const locks = await readHeldLocks(folder);

    expect(locks?.isHeld(statSync(path, { bigint: true }).ino)).toBe(true);
    expect(locks?.isHeld(statSync(free, { bigint: true }).ino)).toBe(false);
    await waiting;
  });

  test('given no such folder, then it cannot tell', async () => {
    expect(await readHeldLocks(join(folder, 'none'))).toBeUndefined();
    expect(await findLockHolder(join(folder, 'none'))).toBeUndefined();
  });
});
