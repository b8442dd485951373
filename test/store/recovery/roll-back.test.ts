import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeFileSystem } from '../../../src/fs/file-system.js';
import { openStore } from '../../../src/index.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { appendIntent, appendLine, INTENT_ID, storedContent } from '../../support/unfinished-rewind.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

/** A session whose rewind to 1 changes files in several folders. */
async function twoFolders(): Promise<TempWorkspace> {
  const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
  temp.put({ 'a/one': 'a0', 'b/two': 'b0', gone: 'g0' });
  await temp.say();
  await temp.tool({ 'a/one': 'a1', 'b/two': 'b1', gone: null, 'new/deep/file': 'n1', 'b/link': { link: 'two' } });
  return temp;
}

/** Runs a rewind that dies at the nth changing call, as a killed process does: nothing works after it. */
async function dieAt(temp: TempWorkspace, nth: number, from = 1): Promise<boolean> {
  const fileSystem = faultyFileSystem({ nth: nth + from - 1, as: 'EIO', lasting: true }, unsyncedFileSystem);
  const store = openStore({ root: temp.root, now: temp.clock.now, locks: inProcessLocks, fileSystem });
  await store.rewind('s', { target: 1 }).catch(() => {});
  return fileSystem.hit;
}

describe('the next writing command after a rewind that died', () => {
  test('given any moment, then files and log are all old or all new, and nothing of ours is left beside the files', async () => {
    const outcomes = new Set<string>();
    for (let nth = 1; ; nth += 1) {
      const temp = await twoFolders();
      const [log, files] = [temp.log(), temp.files()];

      const died = await dieAt(temp, nth);
      await temp.store.updateTitle('s', 'next');

      const isOld = temp.log() === log;
      outcomes.add(isOld ? 'old' : 'new');
      if (isOld) expect(temp.files()).toEqual(files);
      else
        expect([temp.files().join().includes('deep/file'), temp.log()]).toEqual([
          false,
          expect.stringContaining('session_rewind'),
        ]);
      expect(temp.files().filter((line) => line.includes('.zs-'))).toEqual([]);
      expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
      if (!died) break;
    }
    expect([...outcomes]).toEqual(['old', 'new']);
  });

  test('given a recovery that dies, too, then the next one ends it', async () => {
    const start = await twoFolders();
    const before = start.files();
    for (let nth = 1; nth < 40; nth += 1) {
      const temp = await twoFolders();
      const log = temp.log();
      await dieAt(temp, 60); // files are half changed here
      const fileSystem = faultyFileSystem({ nth, as: 'EIO', lasting: true }, unsyncedFileSystem);
      await openStore({ root: temp.root, locks: inProcessLocks, fileSystem })
        .updateTitle('s', 'x')
        .catch(() => {});

      await temp.store.updateTitle('s', 'next');

      expect([temp.log(), temp.files()]).toEqual([log, before]);
      if (!fileSystem.hit) break;
    }
  });

  test('given files staged in other folders than the first, then recovery can be cut short and goes on', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    const [old, later] = [await storedContent(temp, 'old'), await storedContent(temp, 'later')];
    temp.put({ 'a/one': 'old', 'b/two': 'later' });
    const entry = (path: string) => ({
      path,
      blob: old,
      bytes: 3,
      mode: 0o644,
      to: { blob: later, bytes: 5, mode: 0o644 },
    });
    appendIntent(temp, { files: [entry('a/one'), entry('b/two')], workspace: temp.workspace });
    writeFileSync(temp.at(`b/.zs-tmp-${INTENT_ID}-0`), 'left by an earlier recovery');
    writeFileSync(temp.at(`b/.zs-tmp-${INTENT_ID}-1`), 'left by the rewind');

    await temp.say();

    expect(readFileSync(temp.at('b/two'), 'utf8')).toBe('old');
  });

  test('given an intent without a workspace, then the recorded cwd is meant', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    const blob = await storedContent(temp, 'before');
    appendIntent(temp, { files: [{ path: 'a', blob, bytes: 6, mode: 0o644, to: { absent: true } }] });

    await temp.store.updateTitle('s', 'next');

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('before');
    expect(temp.sequences()).toEqual([1]);
  });

  test('given a fragment behind the intent, then it is kept', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    appendIntent(temp);
    writeFileSync(temp.path('events.jsonl'), `${temp.log()}{"id":"s:3"`);

    await temp.store.updateTitle('s', 'next');

    expect(temp.sequences()).toEqual([1]);
    const [torn] = readdirSync(temp.path('.zs/torn'));
    expect(readFileSync(temp.path('.zs/torn', torn ?? ''), 'utf8')).toBe('{"id":"s:3"');
  });

  test('given a file that somebody edited, then nothing is forced and the path is named', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    temp.put({ a: 'the user wrote this' });
    appendIntent(temp, { files: [{ path: 'a', absent: true, to: { absent: true } }] });
    const log = temp.log();

    await temp.store.updateTitle('s', 'next');

    expect([temp.log(), readFileSync(temp.at('a'), 'utf8')]).toEqual([log, 'the user wrote this']);
    expect(temp.warnings.map(({ message }) => message).join()).toMatch(/event 2.* a\. .*--abort/);
  });

  test.each([
    ['whose content is gone', async () => 'f'.repeat(64), 'is missing'],
    ['that cannot be written', async (temp: TempWorkspace) => storedContent(temp, 'before'), 'cannot be written to'],
  ])('given a file %s, then appending goes on and nothing is changed', async (_name, blobOf, reason) => {
    const mayChange = (path: string): boolean => !path.includes('workspace/locked');
    const temp = await tempWorkspace({ fileSystem: { ...nodeFileSystem, mayChange } });
    await temp.say();
    temp.put({ 'locked/x': 'x' });
    const entry = (path: string, blob: string) => ({ path, blob, bytes: 6, mode: 0o644, to: { absent: true } });
    appendIntent(temp, {
      files: [entry('fine', await storedContent(temp, 'fine')), entry('locked/a', await blobOf(temp))],
    });

    await temp.say();

    expect([existsSync(temp.at('fine')), temp.sequences()]).toEqual([false, [1, 2, 3]]);
    expect(temp.warnings.map(({ message }) => message).join()).toContain(reason);
  });

  test('given a store that only appends, then the log is not cut', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    appendIntent(temp);
    const appendOnly = 'there is no flock';
    const locks = {
      withLock: (_id: string, _folder: string, work: (hold: object) => unknown) =>
        work({ assertHeld: () => {}, appendOnly }),
    };
    const store = openStore({ root: temp.root, locks: locks as never });

    await store.appendEvent('s', { type: 'message' });

    expect(temp.sequences()).toEqual([1, 2, 3]);
  });
});

describe('an intent that did not come from us', () => {
  test.each(['../../../outside', '..', 'a/b', '', '.', `${INTENT_ID}/../../..`])(
    'given the id %j, then it is no intent and nothing is removed',
    async (id) => {
      const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
      await temp.say();
      writeFileSync(join(temp.outside, 'precious'), 'x');
      mkdirSync(temp.path('.zs/kept'), { recursive: true });
      appendIntent(temp, { id, workspace: temp.workspace });
      const before = [temp.outsideFiles(), temp.tree()];

      await temp.store.updateTitle('s', 'next');

      expect([temp.outsideFiles(), temp.tree()]).toEqual(before);
    },
  );

  test.each([
    ['the root of the file system', true, () => '/'],
    ['a home folder', true, (temp: TempWorkspace) => temp.outside],
    ['a folder above one', true, (temp: TempWorkspace) => dirname(temp.outside)],
    ['the store', true, (temp: TempWorkspace) => temp.root],
    ['no absolute path', true, () => 'outside'],
    ['another project, and not made here', false, (temp: TempWorkspace) => join(dirname(temp.outside), 'other')],
  ])('56. given %s as its workspace, then no file is written there', async (_name, madeHere, workspaceOf) => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    mkdirSync(join(dirname(temp.outside), 'other'));
    const blob = await storedContent(temp, 'ssh-rsa hostile');
    const files = ['outside/key', 'key'].map((path) => ({ path, blob, bytes: 6, mode: 0o644, to: { absent: true } }));
    appendIntent(temp, { workspace: workspaceOf(temp), files, madeHere });
    const store = openStore({ root: temp.root, env: { HOME: temp.outside }, locks: inProcessLocks });

    await store.updateTitle('s', 'next');

    const found = [temp.outside, temp.root, '/', join(dirname(temp.outside), 'other')].filter((folder) =>
      existsSync(join(folder, 'key')),
    );
    expect(found).toEqual([]);
  });

  test.each(['../key', '/key', 'd/../../key', 'out/key', 'a/../../outside/key'])(
    '37. given the path %s, then nothing outside is touched',
    async (path) => {
      const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
      temp.put({ out: { link: temp.outside }, 'a/x': 'x' });
      await temp.say();
      writeFileSync(join(temp.outside, `.zs-tmp-${INTENT_ID}-0`), 'not ours');
      const blob = await storedContent(temp, 'hostile');
      appendIntent(temp, {
        workspace: temp.workspace,
        files: [{ path, blob, bytes: 7, mode: 0o644, to: { absent: true } }],
      });
      const before = temp.outsideFiles();

      await temp.store.updateTitle('s', 'next');
      await temp.store.abortRewind('s');

      expect(temp.outsideFiles()).toEqual(before);
    },
  );

  test('given the intent of another session, as a fork has it, then it is an ordinary checkpoint', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    appendIntent(temp, { session: 'other', files: [{ path: 'a', absent: true, to: { absent: true } }] });
    const log = temp.log();

    await temp.say('more');

    expect(temp.log().startsWith(log)).toBe(true);
    expect(temp.warnings).toEqual([]);
  });
});

describe('something written after the intent', () => {
  test('12. given that, then our commands go on with a warning that names where to go back to', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    temp.put({ a: 'half' });
    appendIntent(temp, { files: [{ path: 'a', absent: true, to: { absent: true } }] });
    appendLine(temp, 3, 'message', { content: 'from Zero', role: 'user' });
    const log = temp.log();

    await temp.say('ours');

    expect([temp.log().startsWith(log), temp.sequences()]).toEqual([true, [1, 2, 3, 4]]);
    expect(temp.files().join()).toContain('"a" file');
    expect(temp.warnings.map(({ message }) => message).join()).toMatch(
      /event 2 was interrupted, and something was written after it; the last event before it is 1/,
    );
  });

  test('given that of a rewind of many files, then the warning comes all the same', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    const files = Array.from({ length: 2000 }, (_, at) => ({ path: `file ${at}`, absent: true, to: { absent: true } }));
    appendIntent(temp, { files });
    appendLine(temp, 3, 'message', { content: 'from Zero', role: 'user' });

    await temp.say('ours');

    expect(temp.warnings.map(({ code }) => code)).toEqual(['REWIND_UNSETTLED']);
  });

  test.each([
    ['rewind', (temp: TempWorkspace) => temp.store.rewind('s', { target: 1 })],
    ['a dry run', (temp: TempWorkspace) => temp.store.previewRewind('s', { target: 1 })],
    ['undo', (temp: TempWorkspace) => temp.store.undoRewind('s')],
    ['a restore', (temp: TempWorkspace) => temp.store.restoreToSequence('s', temp.workspace, 1)],
    ['a cut', (temp: TempWorkspace) => temp.store.truncateEvents('s', 1)],
  ])('12. given that, then %s is refused and names it', async (_name, act) => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    await temp.say();
    appendIntent(temp);
    appendLine(temp, 3, 'message', {});
    await temp.say();
    const before = temp.everything();

    await expect(act(temp)).rejects.toMatchObject({
      code: 'INTERRUPTED_REWIND',
      sequence: 2,
      message: expect.stringContaining('the last event before it is 1'),
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given a kept record that shares the log, then it is gone before anything is appended', async () => {
    const temp = await twoFolders();
    // Dies at the rename of the log: the record is there, and it is the log itself.
    const calls = faultyFileSystem({ nth: 10_000, as: 'EIO' }, unsyncedFileSystem);
    const rehearsal = await twoFolders();
    await openStore({ root: rehearsal.root, locks: inProcessLocks, fileSystem: calls }).rewind('s', { target: 1 });
    const commit = calls.calls.findIndex((call) => call.startsWith('rename') && call.endsWith('events.jsonl')) + 1;
    await dieAt(temp, commit);
    const [record] = readdirSync(temp.path('.zs/kept'));
    expect(nodeFileSystem.lstat(temp.path('.zs/kept', record ?? '', 'events.jsonl'))?.ino).toBe(
      nodeFileSystem.lstat(temp.path('events.jsonl'))?.ino,
    );
    appendLine(temp, (temp.sequences().at(-1) ?? 0) + 1, 'message', { content: 'from Zero' });

    await temp.say();

    expect(readdirSync(temp.path('.zs/kept'))).toEqual([]);
  });
});
