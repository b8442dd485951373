import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { runCommandLine } from '../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

/** Gives the modes in the store: of folders, and of files. */
function modesIn(root: string): { readonly folders: readonly string[]; readonly files: readonly string[] } {
  const paths = [root, ...readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name))];
  const modesOf = (isWanted: (stat: ReturnType<typeof lstatSync>) => boolean): readonly string[] => [
    ...new Set(
      paths
        .map((path) => lstatSync(path))
        .filter(isWanted)
        .map(({ mode }) => (mode & 0o7777).toString(8)),
    ),
  ];
  return {
    folders: modesOf((stat) => stat?.isDirectory() === true),
    files: modesOf((stat) => stat?.isDirectory() === false),
  };
}

/** Everything that writes to a store, so that each kind of file and folder is there. */
async function everyWriter(temp: TempWorkspace): Promise<void> {
  const store = openStore({ root: temp.root, now: temp.clock.now });
  temp.put({ a: 'a0' });
  await store.appendEvents('s', [aMessage(), aMessage()]);
  writeFileSync(temp.path('events.jsonl'), `${temp.log()}{"torn`, { mode: 0o600 });
  await store.captureToolCheckpoint('s', temp.workspace, 't', ['a', 'new/deep/file']);
  temp.put({ a: 'a1', 'new/deep/file': 'n' });
  await store.rewind('s', { target: 1 });
  await store.undoRewind('s');
  await store.restoreToSequence('s', temp.workspace, 1);
  await store.fork('s', { sessionId: 'f' });
  await store.createChild('s', { sessionId: 'c' });
  await store.createGoal('s', 'all of it');
  await store.recordSpec('s', { specId: 'x', specStatus: 'draft' });
  await store.ensureSpecImplementation({ specId: 'x', specSourceSessionId: 's', prompt: 'do it' });
  await store.truncateEvents('s', 1);
  const { code } = await runCommandLine(['create', '--id', 'made', '--title', 't'], { root: temp.root });
  expect(code).toBe(0);
}

describe.each([0o000, 0o022, 0o077])('given the mask %o', (mask) => {
  test('54. whatever is written, folders of the store are 0700 and its files 0600', async () => {
    const before = process.umask(mask);
    onTestFinished(() => void process.umask(before));
    const temp = await tempWorkspace({ locks: undefined });

    await everyWriter(temp);

    for (const part of ['checkpoints/blobs', '.zs/kept', '.zs/torn'])
      expect(readdirSync(temp.path(part))).not.toEqual([]);
    expect(modesIn(temp.root)).toEqual({ folders: ['700'], files: ['600'] });
  });

  test('54. a file that a rewind brings back has the mode that it had, and is private until it has it', async () => {
    const before = process.umask(mask);
    onTestFinished(() => void process.umask(before));
    const temp = await tempWorkspace();
    temp.put({ private: 'p0', open: 'o0', other: 'so that the folder is not empty' });
    temp.put({ private: { mode: 0o600 }, open: { mode: 0o644 } });
    await temp.say();
    await temp.tool({ private: null, open: null });
    const created: number[] = [];
    const fs = { ...temp.deps.fs };
    fs.create = (path, mode) => {
      if (path.includes('/proc/') || path.startsWith(temp.workspace)) created.push(mode);
      return temp.deps.fs.create(path, mode);
    };

    await openStore({ root: temp.root, fileSystem: fs }).rewind('s', { target: 1 });

    expect(['private', 'open'].map((name) => lstatSync(temp.at(name)).mode & 0o7777)).toEqual([0o600, 0o644]);
    expect([...new Set(created)]).toEqual([0o600]);
  });
});

test.each([0o177, 0o277, 0o777])(
  '54. given the mask %o, which takes from the owner, too, then modes are the same',
  async (mask) => {
    const temp = await tempWorkspace({ locks: undefined });
    const before = process.umask(mask);
    onTestFinished(() => void process.umask(before));

    await temp.store.create({ sessionId: 'made' });
    await temp.store.appendEvents('made', [aMessage(), aMessage()]);
    await temp.store.updateTitle('made', 'new');
    await temp.store.truncateEvents('made', 1);
    await temp.store.fork('made', { sessionId: 'f' });

    for (const id of ['made', 'f']) {
      expect(modesIn(join(temp.root, id))).toEqual({ folders: ['700'], files: ['600'] });
    }
  },
);

test('54. a store of Zero’s with open modes is written to with private ones, and nothing else is chmodded', async () => {
  const temp = await tempWorkspace({ locks: undefined });
  await temp.say();
  execFileSync('chmod', ['-R', 'a+rX', temp.root]);

  await temp.say();
  await temp.store.updateTitle('s', 'new');

  expect([temp.mode('metadata.json'), temp.mode('events.jsonl'), temp.mode()]).toEqual([0o600, 0o644, 0o755]);
});
