import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { documentOf } from '../support/json-document.js';
import { runCommandLine } from '../support/run-cli.js';
import { contents, type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';
import { appendIntent } from '../support/unfinished-rewind.js';

/** A session with blobs, a kept record and something to undo, and another one beside it. */
async function aStore(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'a0', b: 'b0' });
  await temp.say();
  await temp.tool({ a: 'a1' });
  await temp.tool({ b: 'b1' });
  await temp.store.rewind('s', { target: 4 });
  await temp.tool({ a: 'a2' });
  await temp.store.create({ sessionId: 'other', title: 'other' });
  await temp.store.appendEvent('other', aMessage());
  temp.clock.pass(60_000);
  return temp;
}

/** Moves something of the session out of the store, and leaves a link to it in its place. */
function linkedOutside(temp: TempWorkspace, name: string): string {
  const outside = join(temp.outside, 'moved');
  renameSync(temp.path(name), outside);
  symlinkSync(outside, temp.path(name));
  return outside;
}

const nameIn = (temp: TempWorkspace, folder: string): string => `${folder}/${readdirSync(temp.path(folder))[0]}`;

const PLACES: Readonly<Record<string, (temp: TempWorkspace) => string>> = {
  'its folder': () => '',
  'metadata.json': () => 'metadata.json',
  'events.jsonl': () => 'events.jsonl',
  'the folder of checkpoints': () => 'checkpoints',
  'the folder of blobs': () => 'checkpoints/blobs',
  'a blob': (temp) => nameIn(temp, 'checkpoints/blobs'),
  'the keep area': () => '.zs',
  'the kept records': () => '.zs/kept',
  'a kept record': (temp) => nameIn(temp, '.zs/kept'),
  'the log of a kept record': (temp) => `${nameIn(temp, '.zs/kept')}/events.jsonl`,
  'the blobs of kept logs': () => '.zs/blobs',
  'a blob of a kept log': (temp) => nameIn(temp, '.zs/blobs'),
  'the blobs of a record of the first version': (temp) => {
    const blobs = `${nameIn(temp, '.zs/kept')}/blobs`;
    renameSync(temp.path('.zs/blobs'), temp.path(blobs));
    return blobs;
  },
};

const WRITERS: Readonly<Record<string, (store: SessionStore, temp: TempWorkspace) => Promise<unknown>>> = {
  appendEvent: (store) => store.appendEvent('s', aMessage()),
  updateTitle: (store) => store.updateTitle('s', 'new'),
  capture: (store, temp) => store.captureToolCheckpoint('s', temp.workspace, 't', ['a', 'b']),
  rewind: (store) => store.rewind('s', { target: 1 }),
  'a forced rewind': (store) => store.rewind('s', { target: 1, force: true, allowPartial: true }),
  undo: (store) => store.undoRewind('s'),
  restore: (store, temp) => store.restoreToSequence('s', temp.workspace, 1),
  truncate: (store) => store.truncateEvents('s', 1),
  fork: (store) => store.fork('s', { sessionId: 'f' }),
  createChild: (store) => store.createChild('s', { sessionId: 'c' }),
  recordSpec: (store) => store.recordSpec('s', { specId: 'x', specStatus: 'draft' }),
  createGoal: (store) => store.createGoal('s', 'all of it'),
};

const idsOf = (sessions: readonly { sessionId: string }[]): readonly string[] =>
  sessions.map(({ sessionId }) => sessionId);
const pathRefused = (path: string) =>
  expect.objectContaining({ code: 'PATH_REFUSED', message: expect.stringContaining(`${path} is a symbolic link`) });

describe('a link in place of a part of a session', () => {
  test.each(Object.entries(PLACES))(
    '35. %s: whatever is asked for, nothing outside changes, and the other session is whole',
    async (_, place) => {
      for (const [name, write] of Object.entries(WRITERS)) {
        const temp = await aStore();
        linkedOutside(temp, place(temp));
        const before = temp.outsideFiles();

        await write(temp.store, temp).catch((error: { code?: string }) => expect(error.code).toBeTypeOf('string'));

        expect([name, temp.outsideFiles()]).toEqual([name, before]);
        expect((await temp.store.list()).map(({ sessionId }) => sessionId)).toContain('other');
        expect(await temp.store.appendEvent('other', aMessage())).toMatchObject({ sequence: 2 });
      }
    },
  );

  test.each(['its folder', 'metadata.json', 'events.jsonl'])(
    '35. %s: every writer refuses it and names it, and nothing else in the session changes',
    async (place) => {
      for (const [name, write] of Object.entries(WRITERS)) {
        const temp = await aStore();
        const part = PLACES[place]?.(temp) ?? '';
        linkedOutside(temp, part);
        const before = [contents(temp.root), temp.files()];

        await expect(write(temp.store, temp), name).rejects.toEqual(pathRefused(temp.path(part)));

        expect([contents(temp.root), temp.files()]).toEqual(before);
      }
    },
  );

  test.each([
    ['its folder', ['PATH_REFUSED', 'PATH_REFUSED']],
    ['metadata.json', ['PATH_REFUSED', 'done']],
    ['events.jsonl', ['done', 'PATH_REFUSED']],
  ])('35. %s: readers refuse it, and the list has the others', async (place, expected) => {
    const temp = await aStore();
    linkedOutside(temp, PLACES[place]?.(temp) ?? '');

    const outcomes = await Promise.all(
      [temp.store.get('s'), temp.store.readEvents('s')].map((read) =>
        read.then(
          () => 'done',
          (error: { code?: string }) => error.code,
        ),
      ),
    );
    const { out } = await runCommandLine(['list', '--all', '--json'], { root: temp.root });
    const { sessions, unreadable } = await documentOf('list', out);

    expect(outcomes).toEqual(expected);
    expect(idsOf(sessions)).toContain('other');
    expect(idsOf(unreadable)).toEqual(expected[0] === 'done' ? [] : ['s']);
  });

  test.each(['the folder of checkpoints', 'the folder of blobs'])(
    '35. %s: capture and snapshot are refused, a rewind says which blob it cannot have, a fork goes without it',
    async (place) => {
      const temp = await aStore();
      const path = temp.path(PLACES[place]?.(temp) ?? '');
      linkedOutside(temp, PLACES[place]?.(temp) ?? '');
      const before = [contents(temp.root), temp.files()];

      for (const capture of [
        temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['a']),
        temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['a']),
      ])
        await expect(capture).rejects.toEqual(pathRefused(path));
      await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({
        code: 'INCOMPLETE',
        message: expect.stringMatching(/"a" its blob [0-9a-f]{8}… is behind a symbolic link/),
      });
      expect([contents(temp.root), temp.files()]).toEqual(before);
      const [file] = await temp.store.filesAt('s', 1);
      expect(await temp.store.readFileAt('s', file as never)).toMatchObject({ kind: 'unavailable' });

      await temp.store.fork('s', { sessionId: 'f' });

      expect(temp.warnings.map(({ code }) => code)).toContain('BLOB_NOT_COPIED');
      expect(contents(join(temp.root, 'f')).filter((line) => line.includes('blobs/'))).toEqual([]);
    },
  );

  test('35. a blob: a rewind that needs it is refused before anything changes, and a capture of the content mends it', async () => {
    const temp = await aStore();
    const blob = linkedOutside(temp, PLACES['a blob']?.(temp) ?? '');
    const before = [contents(temp.root), temp.files()];

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining('is a symbolic link'),
    });
    expect([contents(temp.root), temp.files()]).toEqual(before);
    temp.put({ again: readFileSync(blob) });
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['again']);

    const { report } = await temp.store.rewind('s', { target: 1 });

    expect([report.filesRestored, readFileSync(temp.at('a'), 'utf8')]).toEqual([2, 'a0']);
  });

  test.each(['the keep area', 'the kept records'])(
    '35. %s: what needs it is refused and named, and the files stay',
    async (place) => {
      const temp = await aStore();
      const path = temp.path(PLACES[place]?.(temp) ?? '');
      linkedOutside(temp, PLACES[place]?.(temp) ?? '');
      const files = temp.files();

      await expect(temp.store.rewind('s', { target: 1 })).rejects.toEqual(pathRefused(path));
      await expect(temp.store.truncateEvents('s', 1)).rejects.toEqual(pathRefused(path));
      await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'REWIND_NOT_FOUND' });

      expect(temp.files()).toEqual(files);
    },
  );

  test('35. session.lock, or the folder of locks: refused before anything is written', async () => {
    const temp = await aStore();
    const store = openStore({ root: temp.root });
    for (const path of [temp.path('session.lock'), join(temp.root, '.zs-locks')]) {
      rmSync(path, { recursive: true, force: true });
      symlinkSync(temp.outside, path);
      const before = [temp.everything(), temp.outsideFiles()];

      await expect(store.appendEvent('s', aMessage())).rejects.toEqual(pathRefused(path));

      expect([temp.everything(), temp.outsideFiles()]).toEqual(before);
      rmSync(path);
    }
  });
});

// What recovery and a failed rewind take away when it is ours must not be taken away behind a link.
describe('a link that leads to what would be tidied away', () => {
  test('35. to records that look uncommitted: they stay', async () => {
    for (const name of ['.zs', '.zs/kept']) {
      const temp = await aStore();
      const record = join(temp.outside, name === '.zs' ? 'kept' : '', '01ZZZZZZZZZZZZZZZZZZZZZZZZ');
      mkdirSync(record, { recursive: true });
      writeFileSync(join(record, 'precious'), 'x');
      rmSync(temp.path(name), { recursive: true });
      symlinkSync(temp.outside, temp.path(name));
      const before = temp.outsideFiles();

      await temp.say();
      appendIntent(temp, { id: '01ZZZZZZZZZZZZZZZZZZZZZZZZ', workspace: temp.workspace });
      await temp.store.updateTitle('s', 'new');
      appendIntent(temp, { id: '01ZZZZZZZZZZZZZZZZZZZZZZZZ', workspace: temp.workspace });
      await temp.store.abortRewind('s').catch(() => {});

      expect(temp.outsideFiles()).toEqual(before);
    }
  });

  test('35. to empty folders for blobs: they stay', async () => {
    for (const name of ['checkpoints', 'checkpoints/blobs']) {
      const temp = await tempWorkspace();
      await temp.say();
      temp.put({ made: 'x' });
      await temp.store.appendEvent('s', {
        type: 'session_checkpoint',
        payload: { tool: 't', files: [{ path: 'made', absent: true }] },
      });
      mkdirSync(join(temp.outside, 'blobs'));
      if (name !== 'checkpoints') mkdirSync(temp.path('checkpoints'));
      symlinkSync(name === 'checkpoints' ? temp.outside : join(temp.outside, 'blobs'), temp.path(name));
      const before = [temp.files(), temp.outsideFiles(), temp.log()];

      await expect(temp.store.rewind('s', { target: 1 })).rejects.toEqual(pathRefused(temp.path(name)));

      expect([temp.files(), temp.outsideFiles(), temp.log()]).toEqual(before);
    }
  });
});
