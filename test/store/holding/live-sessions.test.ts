import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PeerRegistry } from '../../support/peer-registry.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('the test of who is live', () => {
  test.skipIf(!existsSync('/proc/locks'))(
    'given a process that has one locked, then only that one is live',
    async () => {
      const { store, root, tree } = tempStore([aSession('held'), aSession('free'), aSession('never')]);
      const lock = join(root, 'held', 'session.lock');
      for (const id of ['held', 'free']) writeFileSync(join(root, id, 'session.lock'), '');
      const holder = spawn('flock', [lock, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
      onTestFinished(() => void holder.kill());
      await once(holder.stdout, 'data');
      const before = tree();

      const { isLive } = await store.liveSessions();

      expect([isLive('held'), isLive('free'), isLive('never')]).toEqual([true, false, false]);
      expect(tree()).toEqual(before);
      holder.stdin.end('go\n');
    },
  );

  test('given no store, then nobody is known to be live', async () => {
    const { store } = tempStore([], { root: '/nowhere' });

    const { isLive } = await store.liveSessions();

    expect(isLive('s')).toBeFalsy();
  });
});

describe('finding 41: what a running Zero registered', () => {
  test.each([
    ['the runtime folder', 'XDG_RUNTIME_DIR', ['zero', 'peers', 'registry']],
    ['the home', 'HOME', ['.cache', 'zero', 'peers', 'registry']],
  ] as const)('given an entry of a process that runs below %s, then its session is live', async (_, name, below) => {
    const registry = new PeerRegistry(below);
    registry.add({ sessionId: 's', pid: process.pid, cwd: '/work' });
    const { store } = tempStore([aSession('s'), aSession('other')], { env: { [name]: registry.top } });

    const { isLive, processesOf } = await store.liveSessions();

    expect([isLive('s'), isLive('other')]).toEqual([true, false]);
    expect(processesOf('s')).toEqual([process.pid]);
  });

  test('given entries of a process that has ended, of none, and of a number that is none, then nobody is live', async () => {
    const registry = new PeerRegistry();
    const ended = spawn('true');
    await once(ended, 'exit');
    for (const pid of [ended.pid, 0, -1, 1.5, 2 ** 40, '1', null, undefined]) registry.add({ sessionId: 's', pid });
    const { store } = tempStore(aSession('s'), { env: registry.env });

    const { isLive } = await store.liveSessions();

    expect(isLive('s')).toBe(false);
  });

  test('given what Zero never wrote, then it says nothing and stops nothing', async () => {
    const registry = new PeerRegistry();
    const elsewhere = join(registry.top, 'elsewhere.json');
    writeFileSync(elsewhere, JSON.stringify({ sessionId: 's', pid: process.pid }));
    symlinkSync(elsewhere, registry.path('link.json'));
    symlinkSync('/dev/zero', registry.path('endless.json'));
    mkdirSync(registry.path('folder.json'));
    registry.add({ sessionId: 's', pid: process.pid, padding: 'x'.repeat(100_000) });
    for (const text of ['', '{', 'null', '7', '[]', '"s"', '['.repeat(50_000)]) registry.write(text);
    for (const sessionId of [7, null, { toString: 'x' }, '__proto__', '../s']) registry.add({ sessionId, pid: 1 });
    const { store } = tempStore(aSession('s'), { env: registry.env });

    const { isLive } = await store.liveSessions();

    expect(isLive('s')).toBe(false);
  });

  test('given a file where the registry would be, then nobody is live', async () => {
    const registry = new PeerRegistry();
    const { store } = tempStore(aSession('s'), { env: { XDG_RUNTIME_DIR: registry.write('') } });

    const { isLive } = await store.liveSessions();

    expect(isLive('s')).toBe(false);
  });
});
