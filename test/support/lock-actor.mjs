// A process that takes locks with the built library, driven by lines on its stdin; each answer is a line of JSON.
//   take LOCKFILE [LOCKDIR]  take flock, then the lock directory under it, and keep them
//   take - LOCKDIR           take the lock directory alone
//   check                    is what is held still ours?
//   free                     give them back
//   meet LOCKFILE LOCKDIR CLAIM   take both, note whether anybody else was inside, give them back
import { rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDeadline } from '../../dist/locks/deadline.js';
import { withExclusiveLock } from '../../dist/locks/exclusive-lock.js';
import { createFileLocker } from '../../dist/locks/file-lock.js';
import { identifyProcess } from '../../dist/locks/process-identity.js';

if (process.env.LOCK_ACTOR_CLOCK === 'moved') {
  // By an hour to and fro, four times a second: a clock that is being set, a laptop that wakes up.
  const { now } = Date;
  Date.now = () => now() + (Math.floor(now() / 250) % 2) * 3_600_000;
}
const staleMs = Number(process.env.LOCK_ACTOR_STALE_MS ?? 30_000);
const timeoutMs = Number(process.env.LOCK_ACTOR_TIMEOUT_MS ?? 20_000);
const locker = createFileLocker();
const self = await identifyProcess(process.pid);
let free = () => {};
let check = async () => {};
let freed = Promise.resolve();

/** Runs work under both locks in their one order, or under the directory alone. */
async function underLocks(lockFile, lockDirectory, work) {
  const deadline = startDeadline(timeoutMs);
  const flock = lockFile === '-' ? undefined : await locker.acquire(lockFile, deadline);
  try {
    if (lockDirectory === undefined) return await work({ assertStillOurs: async () => {} });
    const options = { self, deadline, holdsOuterLock: flock !== undefined, staleMs };
    return await withExclusiveLock(lockDirectory, options, work);
  } finally {
    deadline.end();
    await flock?.release();
  }
}

const commands = {
  async take(lockFile, lockDirectory) {
    await new Promise((held, failed) => {
      freed = underLocks(lockFile, lockDirectory, async (lock) => {
        check = () => lock.assertStillOurs();
        const until = new Promise((resolve) => {
          free = resolve;
        });
        held();
        await until;
      });
      freed.catch(failed);
    });
  },
  check: () => check(),
  async free() {
    free();
    await freed;
  },
  async meet(lockFile, lockDirectory, claim) {
    await underLocks(lockFile, lockDirectory, async () => {
      writeFileSync(claim, '', { flag: 'wx' }); // fails when another holder is inside
      await sleep(2);
      rmSync(claim);
    });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...args] = line.split('\t');
  try {
    await commands[name](...args);
    console.log(JSON.stringify({ done: name }));
  } catch (error) {
    console.log(JSON.stringify({ failed: name, code: error.code ?? error.name, message: error.message }));
  }
}
free();
