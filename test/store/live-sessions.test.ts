import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readLiveSessions } from '../../src/store/live-sessions.js';
import { aSession } from '../support/session-builder.js';
import { tempStore } from '../support/temp-store.js';

describe('the test of who is live', () => {
  test.skipIf(!existsSync('/proc/locks'))(
    'given a process that has one locked, then only that one is live',
    async () => {
      const { deps, root, tree } = tempStore([aSession('held'), aSession('free'), aSession('never')]);
      const lock = join(root, 'held', 'session.lock');
      for (const id of ['held', 'free']) writeFileSync(join(root, id, 'session.lock'), '');
      const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
      onTestFinished(() => void holder.kill());
      await once(holder.stdout, 'data');
      const before = tree();

      const isLive = await readLiveSessions(deps);

      expect([isLive('held'), isLive('free'), isLive('never')]).toEqual([true, false, false]);
      expect(tree()).toEqual(before);
      holder.stdin.end('go\n');
    },
  );

  test('given no store, then nobody is known to be live', async () => {
    const { deps } = tempStore();

    const isLive = await readLiveSessions({ ...deps, root: '/nowhere' });

    expect(isLive('s')).toBeFalsy();
  });
});
