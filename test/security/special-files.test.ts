import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeFileSystem } from '../../src/fs/file-system.js';
import { openStore, parseRawJson, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { documentOf } from '../support/json-document.js';
import { runCommandLine } from '../support/run-cli.js';
import { contents, type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

// Milliseconds. A second is promised; what would hang does so for good, and a busy machine must not fail a test.
const AT_ONCE = 10_000;

const SPECIAL: Readonly<Record<string, (path: string) => unknown>> = {
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a socket': async (path) => {
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
  },
  'a device': (path) => {
    try {
      execFileSync('mknod', [path, 'c', '1', '3'], { stdio: 'pipe' });
    } catch {
      process.stdout.write('Only root can make a device: a pipe is tried in its place.\n');
      execFileSync('mkfifo', [path]);
    }
  },
};

/** A session in which `was` was captured as a file and `new` as absent, and what came into their places. */
async function replacedBy(put: (path: string) => unknown): Promise<TempWorkspace> {
  const temp = await tempWorkspace({ locks: undefined });
  temp.put({ was: 'a file', fine: 'f0' });
  await temp.say();
  await temp.tool({ was: 'changed', new: 'made', fine: 'f1' });
  temp.put({ was: null, new: null });
  for (const name of ['was', 'new']) await put(temp.at(name));
  return temp;
}

/** Tells that no lock is held any more: a foreign program gets it at once, and our own folder is gone. */
function expectNoLock(temp: TempWorkspace): void {
  execFileSync('flock', ['-n', '-x', temp.path('session.lock'), 'true']);
  expect(readdirSync(join(temp.root, '.zs-locks'))).toEqual([]);
}

async function atOnce<T>(work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  expect(performance.now() - started).toBeLessThan(AT_ONCE);
  return result;
}

describe('a special file in the workspace', () => {
  test.each(Object.entries(SPECIAL))(
    '41. FAULTS 10: given %s, then a capture skips it at once, without waiting for anybody, and lets go of the lock',
    async (_, put) => {
      const temp = await tempWorkspace({ locks: undefined });
      temp.put({ file: 'f' });
      await put(temp.at('special'));
      symlinkSync('special', temp.at('link'));

      const event = await atOnce(() =>
        temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['special', 'link', 'special/x', 'file']),
      );

      expect(event?.payload && parseRawJson(event.payload)).toMatchObject({
        files: [
          { path: 'special', skipped: true },
          { path: 'link', skipped: true, link: 'special' },
          { path: 'special/x', skipped: true },
          { path: 'file', bytes: 1 },
        ],
      });
      expectNoLock(temp);
    },
  );

  test('41. FAULTS 10: given a folder, then it is left out, and the lock is let go', async () => {
    const temp = await tempWorkspace({ locks: undefined });
    mkdirSync(temp.at('folder'));

    expect(await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['folder'])).toBeNull();

    expectNoLock(temp);
  });

  test.each([
    ...Object.entries(SPECIAL).map(([name, put]) => [name, put, 'is a special file now'] as const),
    ['a folder', (path: string) => mkdirSync(join(path, 'full'), { recursive: true }), 'is a folder now'] as const,
  ])(
    '41. FAULTS 10: given %s in the place of a file, then a rewind refuses it at once, changes nothing, and lets go of the lock',
    async (_, put, reason) => {
      const temp = await replacedBy(put);
      const before = temp.everything();

      for (const force of [false, true]) {
        const refused = atOnce(() => temp.store.rewind('s', { target: 1, force }));
        await expect(refused).rejects.toMatchObject({
          code: 'INCOMPLETE',
          message: expect.stringMatching(
            new RegExp(`"was" ${reason}.*"new" ${reason}|"new" ${reason}.*"was" ${reason}`, 's'),
          ),
        });
        expectNoLock(temp);
      }

      expect(temp.everything()).toEqual(before);
      for (const file of (await temp.store.filesAt('s', 4)).filter(({ path }) => path !== 'fine')) {
        expect(await atOnce(() => temp.store.readFileAt('s', file))).toMatchObject({ kind: 'unavailable' });
      }
      expect((await temp.store.restoreToSequence('s', temp.workspace, 1)).skipped?.toSorted()).toEqual(['new', 'was']);
    },
  );

  test('41. given one that comes into the place of a file after it was looked at, then it is not waited for either', async () => {
    const lstat: typeof nodeFileSystem.lstat = (path) => {
      const stat = nodeFileSystem.lstat(path);
      return stat !== undefined && path.endsWith('/pipe') ? { ...stat, kind: 'file' } : stat;
    };
    const temp = await tempWorkspace({ locks: undefined, fileSystem: { ...nodeFileSystem, lstat } });
    temp.put({ pipe: 'a file' });
    await temp.say();
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['pipe']);
    rmSync(temp.at('pipe'));
    execFileSync('mkfifo', [temp.at('pipe')]);

    const event = await atOnce(() => temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['pipe']));
    const refused = atOnce(() => temp.store.rewind('s', { target: 1 }));

    expect(event?.payload && parseRawJson(event.payload)).toMatchObject({ files: [{ path: 'pipe', skipped: true }] });
    await expect(refused).rejects.toMatchObject({ code: 'INCOMPLETE' });
    expectNoLock(temp);
  });
});

const USES: Readonly<Record<string, (store: SessionStore, temp: TempWorkspace) => Promise<unknown>>> = {
  get: (store) => store.get('s'),
  readEvents: (store) => store.readEvents('s'),
  appendEvent: (store) => store.appendEvent('s', aMessage()),
  updateTitle: (store) => store.updateTitle('s', 'new'),
  capture: (store, temp) => store.captureToolCheckpoint('s', temp.workspace, 't', ['a']),
  rewind: (store) => store.rewind('s', { target: 1 }),
  restore: (store, temp) => store.restoreToSequence('s', temp.workspace, 1),
  fork: (store) => store.fork('s'),
  listCheckpoints: (store) => store.listCheckpoints('s'),
  filesAt: (store) => store.filesAt('s', 1),
  planCompaction: (store) => store.planCompaction('s'),
};

describe('a pipe in the store', () => {
  test.each([
    ['metadata.json', ['appendEvent', 'capture', 'fork', 'get', 'restore', 'rewind', 'updateTitle']],
    [
      'events.jsonl',
      Object.keys(USES)
        .filter((name) => name !== 'get')
        .toSorted(),
    ],
    ['a blob', ['rewind']],
  ])('42. given one for %s, then what needs it fails at once, and the list has the rest', async (part, failing) => {
    const failed: string[] = [];
    for (const [name, use] of Object.entries(USES)) {
      const temp = await tempWorkspace({ locks: undefined });
      temp.put({ a: 'a0' });
      await temp.say();
      await temp.tool({ a: 'a1' });
      await temp.store.create({ sessionId: 'other' });
      const blob = `checkpoints/blobs/${readdirSync(temp.path('checkpoints/blobs'))[0]}`;
      const path = temp.path(part === 'a blob' ? blob : part);
      rmSync(path);
      execFileSync('mkfifo', [path]);
      const before = [temp.files(), contents(join(temp.root, 'other'))];

      await atOnce(() =>
        use(openStore({ root: temp.root }), temp).catch((error: { code?: string; message: string }) => {
          failed.push(name);
          expect([error.code, error.message]).toEqual([
            part === 'a blob' ? 'INCOMPLETE' : 'PATH_REFUSED',
            expect.stringContaining('a special file'),
          ]);
        }),
      );

      expect([temp.files(), contents(join(temp.root, 'other'))]).toEqual(before);
      if (existsSync(join(temp.root, '.zs-locks'))) expectNoLock(temp);
      const listed = await atOnce(() => runCommandLine(['list', '--all', '--json'], { root: temp.root }));
      const { sessions, unreadable } = await documentOf('list', listed.out);
      expect([...sessions, ...unreadable].map(({ sessionId }) => sessionId)).toEqual(
        expect.arrayContaining(['other', 's']),
      );
    }
    expect(failed.toSorted()).toEqual(failing);
  });
});
