import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { MemoryFileSystem, MUTATING_CALLS, systemError } from '../support/memory-file-system.js';
import { tempStore } from '../support/temp-store.js';
import { smallDisk } from './small-disk.js';
import { readStoreStrictly, realDisk, treeAsDisk } from './strict-reader.js';
import { edit, freshTree, ROOT, WORKSPACE, worldOfTree, worldOn } from './world.js';

describe('a disk that is full', () => {
  test('17. 300 batches on a full disk: a failed one leaves no byte, later ones succeed', async () => {
    const disk = smallDisk(256);
    if (disk === undefined) return fillMemory();
    const store = openStore({ root: join(disk.path, 'sessions') });
    await store.create({ sessionId: 's' });
    const log = join(disk.path, 'sessions/s/events.jsonl');
    const ballast = join(disk.path, 'ballast');
    let failed = 0;
    let appended = 0;
    for (let round = 0; round < 300; round += 1) {
      // Every so often there is room again.
      if (round % 50 === 49) rmSync(ballast, { force: true });
      else fill(ballast);
      const size = statSync(log).size;
      try {
        await store.appendEvents('s', [aMessage(`one ${round} ${'x'.repeat(900)}`), aMessage(`two ${round}`)]);
        appended += 2;
      } catch (error) {
        failed += 1;
        expect((error as Error).message).toMatch(/ENOSPC/);
        expect(statSync(log).size).toBe(size);
      }
    }
    process.stdout.write(`\n17: ${failed} failed batches, ${appended} events appended on a full tmpfs\n`);

    expect(failed).toBeGreaterThan(100);
    expect(appended).toBeGreaterThanOrEqual(12);
    expect(readStoreStrictly(realDisk, join(disk.path, 'sessions'))[0]?.events).toHaveLength(appended);
  });

  test('18. a rewind on a full disk: refused, nothing changed; the same one succeeds when there is room', async () => {
    const disk = smallDisk(512);
    if (disk === undefined) return rewindOnFullMemory();
    const space = join(disk.path, 'space');
    mkdirSync(space);
    const root = join(disk.path, 'sessions');
    const store = openStore({ root });
    await store.create({ sessionId: 's', cwd: space });
    await store.appendEvent('s', aMessage('first'));
    const names = ['one.txt', 'two.txt'];
    for (const name of names) writeFileSync(join(space, name), `before ${'b'.repeat(20_000)}`);
    await store.captureToolCheckpoint('s', space, 'edit', names);
    for (const name of names) writeFileSync(join(space, name), `after ${'a'.repeat(20_000)}`);
    fill(join(disk.path, 'ballast'));
    const before = filesBelow(disk.path);

    await expect(store.rewind('s', { target: 1 })).rejects.toThrow(/ENOSPC/);
    expect(filesBelow(disk.path)).toEqual(before);

    unlinkSync(join(disk.path, 'ballast'));
    await store.rewind('s', { target: 1 });

    expect(readFileSync(join(space, 'one.txt'), 'utf8')).toMatch(/^before/);
    expect(readFileSync(join(space, 'two.txt'), 'utf8')).toMatch(/^before/);
  });
});

describe('descriptors that run out', () => {
  test('21. EMFILE at every open in turn: an error that says so, and nothing changed', async () => {
    const { root, store } = tempStore([], { locks: undefined });
    const space = join(root, '../space');
    mkdirSync(join(space, 'deep'), { recursive: true });
    for (const name of ['one.txt', 'deep/two.txt']) writeFileSync(join(space, name), 'before');
    await store.create({ sessionId: 's', cwd: space });
    await store.appendEvent('s', aMessage('first'));
    const script = fileURLToPath(new URL('disk-actor.mjs', import.meta.url));
    const limited = 'ulimit -n 128; exec "$@"';
    const { stdout, stderr } = spawnSync('sh', ['-c', limited, 'sh', process.execPath, script, root, 's', space], {
      encoding: 'utf8',
    });
    const tries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; free: number; result: string });
    const failed = tries.filter(({ result }) => result !== 'done');
    process.stdout.write(
      `\n21: ${failed.length} calls without enough descriptors, ${tries.length - failed.length} with\n`,
    );
    const [session] = readStoreStrictly(realDisk, root);

    expect(stderr).toBe('');
    expect(failed.length).toBeGreaterThan(5);
    for (const { result } of failed) expect(result).toMatch(/EMFILE/);
    expect(tries.filter(({ result }) => result === 'done').map(({ name }) => name)).toEqual([
      'append',
      'capture',
      'rewind',
    ]);
    // One append, one capture, and a rewind that dropped both: what failed left nothing.
    expect(session?.events.map(({ type }) => type)).toEqual(['message', 'session_rewind']);
    expect(readdirSync(join(root, 's')).filter((name) => name.startsWith('.zs-tmp-'))).toEqual([]);
  });
});

describe('a store that may only be read', () => {
  test('22. a read-only root: everything is read, nothing is made, writing says EROFS', async () => {
    const disk = smallDisk(512);
    if (disk === undefined) return readOnlyMemory();
    const root = join(disk.path, 'sessions');
    const store = openStore({ root });
    await store.create({ sessionId: 's', title: 'A session' });
    await store.appendEvents('s', [aMessage('one'), aMessage('two')]);
    await store.createChild('s', { sessionId: 'c' });
    disk.remount('ro');
    const before = filesBelow(disk.path);
    await readEverything(store);

    await expect(store.appendEvent('s', aMessage('three'))).rejects.toThrow(/EROFS|read-only/);
    await expect(store.create({ sessionId: 'n' })).rejects.toThrow(/EROFS|read-only/);
    expect(filesBelow(disk.path)).toEqual(before);
    disk.remount('rw');
  });
});

describe('files of a session that are not as they should be', () => {
  const DAMAGES: readonly (readonly [what: string, damage: (path: string) => void, code: string])[] = [
    ['missing', (path) => unlinkSync(path), 'METADATA_MISSING'],
    ['empty', (path) => writeFileSync(path, ''), 'METADATA_DAMAGED'],
    ['truncated', (path) => writeFileSync(path, readFileSync(path).subarray(0, 40)), 'METADATA_DAMAGED'],
    [
      'with eventCount 3.0',
      (path) => writeFileSync(path, readFileSync(path, 'utf8').replace(/"eventCount": \d+/, '"eventCount": 3.0')),
      'METADATA_DAMAGED',
    ],
  ];

  test.each(DAMAGES)(
    '24. metadata.json %s: listed as damaged with the reason, and the log is left alone',
    async (_, damage, code) => {
      const { store, root } = tempStore();
      await store.create({ sessionId: 's' });
      await store.appendEvents('s', [aMessage('one'), aMessage('two'), aMessage('three')]);
      damage(join(root, 's/metadata.json'));
      const log = readFileSync(join(root, 's/events.jsonl'));
      const { sessions, unreadable } = await store.listWithFaults();

      expect(sessions).toEqual([]);
      expect(unreadable).toMatchObject([{ sessionId: 's', code }]);
      expect(unreadable[0]?.message).toMatch(/event 3/);
      await expect(store.appendEvent('s', aMessage('four'))).rejects.toMatchObject({ code });
      expect(readFileSync(join(root, 's/events.jsonl'))).toEqual(log);
    },
  );

  test('25. events.jsonl is gone although events were counted: an append is refused, and makes no new log', async () => {
    const { store, root } = tempStore();
    await store.create({ sessionId: 's' });
    await store.appendEvent('s', aMessage('one'));
    unlinkSync(join(root, 's/events.jsonl'));

    await expect(store.appendEvent('s', aMessage('two'))).rejects.toMatchObject({ code: 'LOG_MISSING' });
    expect(readdirSync(join(root, 's'))).not.toContain('events.jsonl');
  });
});

async function readEverything(store: SessionStore): Promise<void> {
  expect((await store.list()).map(({ sessionId }) => sessionId).sort()).toEqual(['c', 's']);
  expect(await store.readEvents('s')).toHaveLength(3);
  expect((await store.tree('s')).children).toHaveLength(1);
  expect(await store.listCheckpoints('s')).toEqual([]);
  expect(await store.rewindHistory('s')).toEqual([]);
}

function fill(path: string): void {
  try {
    for (;;) writeFileSync(path, Buffer.alloc(4096), { flag: 'a' });
  } catch {
    // Full.
  }
}

function filesBelow(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  // Empty lock files and folders may come with a writing command; nothing is in them.
  const told = files.filter((name) => !name.endsWith('session.lock') && !name.includes('.zs-locks'));
  return Object.fromEntries(
    told.map((name) => {
      const path = join(folder, name);
      return [name, statSync(path).isFile() ? readFileSync(path, 'latin1') : '/'];
    }),
  );
}

// Where nothing can be mounted, the same claims on a disk in memory.

async function fillMemory(): Promise<void> {
  let full = false;
  const world = worldOn(
    (now) =>
      new MemoryFileSystem(freshTree(), now, {
        call: (name, path) => (full && name === 'write' ? systemError('ENOSPC', name, path) : undefined),
      }),
    'operation',
  );
  await world.store.create({ sessionId: 's' });
  for (let round = 0; round < 300; round += 1) {
    full = true;
    await expect(world.store.appendEvents('s', [aMessage('one'), aMessage('two')])).rejects.toThrow(/ENOSPC/);
    full = false;
  }
  await world.store.appendEvent('s', aMessage('after'));

  expect(readStoreStrictly(treeAsDisk(world.fs.snapshot()), ROOT)[0]?.events).toHaveLength(1);
}

async function rewindOnFullMemory(): Promise<void> {
  const world = worldOfTree(freshTree(), 'prepare');
  await world.store.create({ sessionId: 's', cwd: WORKSPACE });
  await world.store.appendEvent('s', aMessage('first'));
  edit.write(world, 'one.txt', 'before');
  await world.store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['one.txt']);
  edit.write(world, 'one.txt', 'after');
  const full = worldOn(
    (now) =>
      new MemoryFileSystem(world.fs.snapshot(), now, {
        call: (name, path) => (name === 'write' ? systemError('ENOSPC', name, path) : undefined),
      }),
    'operation',
  );

  await expect(full.store.rewind('s', { target: 1 })).rejects.toThrow(/ENOSPC/);
  const [session] = readStoreStrictly(treeAsDisk(full.fs.snapshot()), ROOT);
  expect(session?.events).toHaveLength(2);
}

async function readOnlyMemory(): Promise<void> {
  const made = worldOfTree(freshTree(), 'prepare');
  await made.store.create({ sessionId: 's' });
  await made.store.appendEvents('s', [aMessage('one'), aMessage('two')]);
  await made.store.createChild('s', { sessionId: 'c' });
  const world = worldOn(
    (now) =>
      new MemoryFileSystem(made.fs.snapshot(), now, {
        call: (name, path) => {
          if (MUTATING_CALLS.has(name)) throw systemError('EROFS', name, path);
          return undefined;
        },
      }),
    'operation',
  );
  await readEverything(world.store);

  await expect(world.store.appendEvent('s', aMessage('three'))).rejects.toThrow(/EROFS/);
}
