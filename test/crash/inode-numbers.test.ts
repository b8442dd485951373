import { describe, expect, test } from 'vitest';
import { aMessage } from '../support/event-builder.js';
import { edit, freshTree, ROOT, WORKSPACE, type World, worldOfTree } from './world.js';

// The file system in memory numbers its inodes from 2^63 on: as doubles, all of them are one number.
describe('finding 3: where inode numbers exceed 2^53', () => {
  test('given a rewind, when something is appended, then what was kept stays', async () => {
    const world = await rewoundSession();

    await world.store.appendEvents('s', [aMessage('after the rewind')]);

    expect(recordsIn(world)).toHaveLength(1);
  });

  test('given a rewind and an append, then the rewind can be undone', async () => {
    const world = await rewoundSession();
    await world.store.appendEvents('s', [aMessage('after the rewind')]);

    await world.store.undoRewind('s', {});

    expect(textOf(world, 'a.txt')).toBe('after\n');
  });

  test('given a record that shares the inode of the log, since the commit was not reached, then it goes', async () => {
    const world = await rewoundSession();
    const [record] = recordsIn(world);
    const planted = `${ROOT}/s/.zs/kept/01Z${'0'.repeat(23)}`;
    world.fs.mkdir(planted, 0o700);
    world.fs.link(`${ROOT}/s/events.jsonl`, `${planted}/events.jsonl`);

    await world.store.appendEvents('s', [aMessage('next')]);

    expect(recordsIn(world)).toEqual([record]);
  });
});

async function rewoundSession(): Promise<World> {
  const world = worldOfTree(freshTree(), 'prepare');
  await world.store.create({ sessionId: 's', cwd: WORKSPACE });
  edit.write(world, 'a.txt', 'before\n');
  await world.store.appendEvents('s', [aMessage('first')]);
  await world.store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['a.txt']);
  edit.write(world, 'a.txt', 'after\n');
  await world.store.rewind('s', { target: 1, force: true });
  expect(textOf(world, 'a.txt')).toBe('before\n');
  return world;
}

function recordsIn({ fs }: World): readonly string[] {
  return fs.readdir(`${ROOT}/s/.zs/kept`).map(({ name }) => name);
}

function textOf({ fs }: World, name: string): string {
  const fd = fs.openRead(`${WORKSPACE}/${name}`);
  const bytes = Buffer.alloc(fs.fstat(fd).size);
  fs.read(fd, bytes, 0, bytes.length, 0);
  fs.close(fd);
  return bytes.toString();
}
