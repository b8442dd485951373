import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { type ForeignHolder, startForeignHolder } from '../support/lock-actor.js';
import { runCommandLine } from '../support/run-cli.js';
import { aSession } from '../support/session-builder.js';
import { type TempStore, tempStore } from '../support/temp-store.js';

/** A session that another program holds as Zero does. */
async function heldSession(): Promise<{ readonly temp: TempStore; readonly holder: ForeignHolder }> {
  const temp = tempStore([aSession().withMessages(2), aSession('other').withMessages(1)]);
  const holder = await startForeignHolder(temp.path('session.lock'));
  onTestFinished(() => holder.letGo());
  return { temp, holder };
}

describe.runIf(platform() === 'linux')('a session that Zero holds', () => {
  test('26. a write waits, and is busy after the deadline; readers and other sessions do not wait', async () => {
    const { temp, holder } = await heldSession();
    const store = openStore({ root: temp.root, lockTimeoutMs: 400 });
    const before = [temp.text('events.jsonl'), temp.text('metadata.json')];
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 10);
    onTestFinished(() => clearInterval(ticking));

    const write = store.appendEvent('s', aMessage());
    const busy = expect(write).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      message: expect.stringContaining(`${holder.pid}`),
    });
    expect(await store.readEvents('s')).toHaveLength(2);
    expect(await store.appendEvent('other', aMessage())).toMatchObject({ sequence: 2 });
    await busy;

    // The event loop had its turns all the while: with one blocked wait there would have been none.
    expect(turns).toBeGreaterThan(5);
    expect([temp.text('events.jsonl'), temp.text('metadata.json')]).toEqual(before);
    await holder.letGo();
    expect(await store.appendEvent('s', aMessage())).toMatchObject({ sequence: 3 });
  });

  test('26. a write that waits goes on as soon as the lock is let go', async () => {
    const { temp, holder } = await heldSession();
    const store = openStore({ root: temp.root, lockTimeoutMs: 20_000 });
    const write = store.appendEvent('s', aMessage());
    await sleep(100);
    expect(temp.text('events.jsonl')).not.toContain('s:3');

    await holder.letGo();

    expect(await write).toMatchObject({ sequence: 3 });
  });

  test('26. the program says so, names the process and exits with 4', async () => {
    const { temp, holder } = await heldSession();

    const { code, err } = await runCommandLine(['rename', 's', 't', '--lock-timeout', '100'], { root: temp.root });

    expect([code, err]).toEqual([4, expect.stringContaining(`process ${holder.pid}`)]);
  });
});
