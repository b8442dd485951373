import { copyFileSync, cpSync, existsSync, readFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SessionStore } from '../../../src/store/session-store.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { appendLine } from '../../support/unfinished-rewind.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

type Act = (store: SessionStore) => Promise<unknown>;

const rewindToOne: Act = (store) => store.rewind('s', { target: 1 });
const undoIt: Act = (store) => store.undoRewind('s');

async function aSession(): Promise<TempWorkspace> {
  const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
  temp.put({ a: 'a0', b: 'b0' });
  await temp.say();
  await temp.tool({ a: 'a1', b: 'b1', c: 'c1' });
  return temp;
}

/** Lets an operation die once the files are changed, and somebody append behind its intent. */
async function interrupt(temp: TempWorkspace, act: Act = rewindToOne, foreign = true): Promise<void> {
  const fs = { ...temp.deps.fs };
  let dead = false;
  for (const call of [
    'create',
    'write',
    'truncate',
    'rename',
    'link',
    'unlink',
    'rmdir',
    'symlink',
    'mkdir',
  ] as const) {
    const real = fs[call] as (...args: unknown[]) => unknown;
    Object.assign(fs, {
      [call]: (...args: unknown[]) => {
        // The record of the old log is the first thing after the last file.
        dead ||= call === 'mkdir' && String(args[0]).includes('.zs/kept/');
        if (dead) throw Object.assign(new Error('EIO: dead'), { code: 'EIO' });
        return real(...args);
      },
    });
  }
  await expect(act(new SessionStore({ ...temp.deps, fs }))).rejects.toMatchObject({ code: 'SYSTEM' });
  if (foreign) appendLine(temp, (temp.sequences().at(-1) ?? 0) + 1, 'message', { content: 'from Zero', role: 'user' });
}

const content = (temp: TempWorkspace, path: string): string | undefined =>
  existsSync(temp.at(path)) ? readFileSync(temp.at(path), 'utf8') : undefined;

describe('aborting an interrupted rewind', () => {
  test('given something written after it, then files are as before and only the intent goes from the log', async () => {
    const temp = await aSession();
    const [files, log] = [temp.files(), temp.log()];
    await interrupt(temp);
    expect(content(temp, 'a')).toBe('a0');

    const settled = await temp.store.abortRewind('s');

    expect(settled).toMatchObject({ restored: ['a', 'b', 'c'], left: [] });
    expect(temp.files()).toEqual(files);
    expect(temp.log().startsWith(log)).toBe(true);
    expect(temp.log()).toContain('from Zero');
    expect(temp.log()).not.toContain('rewind-intent');
    expect((await temp.store.rewind('s', { target: 1 })).report.filesRestored).toBe(2);
  });

  test('given nothing written after it, then it is as if it had never begun', async () => {
    const temp = await aSession();
    const before = [temp.files(), temp.log(), temp.text('metadata.json')];
    await interrupt(temp, rewindToOne, false);

    await temp.store.abortRewind('s');

    expect([temp.files(), temp.log(), temp.text('metadata.json')]).toEqual(before);
    expect(await temp.store.rewindHistory('s')).toEqual([]);
  });

  test('given a file that somebody changed since, then it is left, and what it was is kept', async () => {
    const temp = await aSession();
    await interrupt(temp);
    temp.put({ a: 'mine' });

    expect(await temp.store.abortRewind('s')).toMatchObject({ restored: ['b', 'c'], left: ['a'] });

    expect(content(temp, 'a')).toBe('mine');
    await temp.store.undoRewind('s', { force: true });
    expect(content(temp, 'a')).toBe('a1');
  });

  test('given a workspace that is gone, then the session can be used again, and the files come back with an undo', async () => {
    const temp = await aSession();
    const files = temp.files();
    await interrupt(temp);
    renameSync(temp.workspace, `${temp.workspace}-away`);

    expect(await temp.store.abortRewind('s')).toMatchObject({ restored: [], left: ['a', 'b', 'c'] });
    renameSync(`${temp.workspace}-away`, temp.workspace);
    await temp.store.undoRewind('s');

    expect(temp.files()).toEqual(files);
  });

  test.each([
    ['a file that somebody changed', (temp: TempWorkspace) => temp.put({ a: 'mine' }), /changed since by somebody/],
    [
      'a workspace that is gone',
      (temp: TempWorkspace) => renameSync(temp.workspace, `${temp.workspace}-away`),
      /not there/,
    ],
    [
      'contents that are gone',
      (temp: TempWorkspace) => rmSync(temp.path('checkpoints'), { recursive: true }),
      /its blob [0-9a-f]{8}… is missing/,
    ],
    ['a copy of the log', (temp: TempWorkspace) => copyLog(temp), /not made here/],
  ])('finding 34: given %s, then each file that is left has that reason', async (_, meanwhile, reason) => {
    const temp = await aSession();
    await interrupt(temp);
    meanwhile(temp);

    const { left, skipped } = await temp.store.abortRewind('s');

    expect(skipped.find(({ path }) => path === 'a')?.reason).toMatch(reason);
    expect([...new Set(skipped.map(({ path }) => path))]).toEqual(left);
  });

  test.each([
    ['rewind', rewindToOne],
    ['undo', undoIt],
    ['restore', (store: SessionStore) => store.rewind('s', { target: 1, part: 'files' })],
  ] as const)('finding 34: given an interrupted %s, then it is called by its name', async (work, act) => {
    const temp = await aSession();
    if (work === 'undo') await rewindToOne(temp.store);
    await interrupt(temp, act);

    await temp.say();

    expect(temp.warnings.at(-1)?.message).toContain(`the ${work} begun with event`);
    expect(await temp.store.abortRewind('s')).toMatchObject({ work });
  });

  test('given none, then it is an error', async () => {
    const temp = await aSession();

    const error = { code: 'REWIND_NOT_FOUND', message: 'Session s has no interrupted rewind' };
    await expect(temp.store.abortRewind('s')).rejects.toMatchObject(error);
    await expect(temp.store.continueRewind('s')).rejects.toMatchObject(error);
  });
});

describe('continuing an interrupted rewind', () => {
  test.each([true, false])(
    'given something written after it: %s, then it is done whole, and can be undone',
    async (foreign) => {
      const temp = await aSession();
      const files = temp.files();
      await interrupt(temp, rewindToOne, foreign);
      const lines = temp
        .log()
        .split('\n')
        .filter((line) => !line.includes('rewind-intent') && line !== '');

      await temp.store.continueRewind('s');
      expect([content(temp, 'a'), content(temp, 'b'), content(temp, 'c'), temp.sequences().length]).toEqual([
        'a0',
        'b0',
        undefined,
        2,
      ]);

      await temp.store.undoRewind('s');
      expect(temp.files()).toEqual(files);
      expect(temp.log().split('\n').slice(0, -2)).toEqual(lines);
    },
  );

  test('given an undo, then it is the undo that is carried out', async () => {
    const temp = await aSession();
    const [files, log] = [temp.files(), temp.log()];
    await temp.store.rewind('s', { target: 1 });
    await interrupt(temp, undoIt);

    const { work } = await temp.store.continueRewind('s');

    expect(work).toBe('undo'); // finding 34

    expect(temp.files()).toEqual(files);
    expect(temp.log().startsWith(log)).toBe(true);
    expect(temp.log().slice(log.length).trimEnd().split('\n')).toHaveLength(1);
  });

  test.each([
    ['a rewind', rewindToOne],
    ['an undo', (store: SessionStore) => store.undoRewind('s')],
  ] as const)(
    'given %s and a file that somebody changed, then it is refused whole; forced, that is kept',
    async (name, act) => {
      const temp = await aSession();
      if (name === 'an undo') await temp.store.rewind('s', { target: 1 });
      const before = temp.files();
      await interrupt(temp, act);
      temp.put({ a: 'mine' });
      temp.clock.pass(60_000);
      utimesSync(temp.at('a'), temp.clock.now(), temp.clock.now());
      const everything = temp.everything();

      await expect(temp.store.continueRewind('s')).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('"a"'),
      });
      expect(temp.everything()).toEqual(everything);

      await temp.store.continueRewind('s', { force: true });
      expect(temp.files()).not.toEqual(before);
      await temp.store.undoRewind('s');
      expect(content(temp, 'a')).toBe('mine');
    },
  );

  test('given a restore of one file, then no event goes and no other file is touched', async () => {
    const temp = await aSession();
    await interrupt(temp, (store) => store.rewind('s', { target: 1, part: 'files', paths: ['b'] }));

    await temp.store.continueRewind('s');

    expect([content(temp, 'a'), content(temp, 'b'), content(temp, 'c')]).toEqual(['a1', 'b0', 'c1']);
    expect(temp.log()).toContain('from Zero');
  });

  test('given a workspace that is gone, then nothing is changed', async () => {
    const temp = await aSession();
    await interrupt(temp);
    renameSync(temp.workspace, `${temp.workspace}-away`);
    const log = temp.log();

    await expect(temp.store.continueRewind('s')).rejects.toMatchObject({
      code: 'INTERRUPTED_REWIND',
      message: expect.stringContaining('is not there'),
    });

    expect(temp.log()).toBe(log);
  });
});

describe('settling that is interrupted itself', () => {
  test.each(['abortRewind', 'continueRewind'] as const)(
    'given %s that dies at any call, then it can be done again',
    async (settle) => {
      for (let nth = 1; ; nth += 1) {
        const temp = await aSession();
        const files = temp.files();
        await interrupt(temp);
        const fs = faultyFileSystem({ nth, as: 'EIO', lasting: true }, unsyncedFileSystem);
        await new SessionStore({ ...temp.deps, fs })[settle]('s').catch(() => {});
        if (!fs.hit) break;

        // Whatever is left of it is settled by the next command, or by asking again.
        await temp.store.updateTitle('s', 'next');
        await temp.store
          .abortRewind('s')
          .catch((error: { code?: string }) => expect(error.code).toBe('REWIND_NOT_FOUND'));

        if (temp.log().includes('session_rewind')) expect(content(temp, 'a')).toBe('a0');
        else expect([temp.files(), temp.log().includes('from Zero')]).toEqual([files, true]);
        expect(temp.files().join()).not.toContain('.zs-');
      }
    },
  );
});

describe('finding 1: an interrupted rewind that was not made here', () => {
  /** What is left of a rewind of ours once the log has been copied, restored from a backup, or written by an earlier version. */
  async function copied(): Promise<TempWorkspace> {
    const temp = await aSession();
    await interrupt(temp);
    copyLog(temp);
    return temp;
  }

  test.each([
    ['an append', (temp: TempWorkspace) => temp.say()],
    ['a title', (temp: TempWorkspace) => temp.store.updateTitle('s', 'next')],
    ['a capture', (temp: TempWorkspace) => temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['a'])],
  ])('given %s, then no file is changed, and it is spoken of', async (_, act) => {
    const temp = await copied();
    const files = temp.files();

    await act(temp);

    expect(temp.files()).toEqual(files);
    expect(temp.log()).toContain('rewind-intent');
    expect(temp.warnings.map(({ code, message }) => [code, /not made here/.test(message)])).toContainEqual([
      'REWIND_UNSETTLED',
      true,
    ]);
  });

  test.each([
    ['rewind', rewindToOne],
    ['undo', undoIt],
    ['restore', (store: SessionStore) => store.rewind('s', { target: 1, part: 'files' })],
    ['cut', (store: SessionStore) => store.truncateEvents('s', 1)],
    ['continue', (store: SessionStore) => store.continueRewind('s')],
  ] as const)('given %s, then it is refused, with how to settle it, and nothing is changed', async (_, act) => {
    const temp = await copied();
    const before = [temp.files(), temp.log()];

    await expect(act(temp.store)).rejects.toMatchObject({
      code: 'INTERRUPTED_REWIND',
      hint: expect.stringContaining('--abort'),
    });

    expect([temp.files(), temp.log()]).toEqual(before);
  });

  test('given an abort, then only the log is changed, and the session can be rewound again', async () => {
    const temp = await copied();
    const files = temp.files();

    expect(await temp.store.abortRewind('s')).toMatchObject({ restored: [], left: ['a', 'b', 'c'] });

    expect(temp.files()).toEqual(files);
    expect(temp.log()).not.toContain('rewind-intent');
    await temp.store.rewind('s', { target: 1 });
  });

  test('given an abort with the workspace named, then the files go back there', async () => {
    const temp = await copied();

    await temp.store.abortRewind('s', { workspace: temp.workspace });

    expect([content(temp, 'a'), content(temp, 'c')]).toEqual(['a1', 'c1']);
  });

  test('given --continue with the workspace named, then it is carried out there', async () => {
    const temp = await copied();

    await temp.store.continueRewind('s', { workspace: temp.workspace });

    expect([content(temp, 'a'), content(temp, 'c'), temp.sequences().length]).toEqual(['a0', undefined, 2]);
  });

  test('given the store itself as the workspace named, then it is refused and the log is as it was', async () => {
    const temp = await copied();
    const log = temp.log();

    await expect(temp.store.abortRewind('s', { workspace: temp.root })).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
    });

    expect(temp.log()).toBe(log);
  });

  test('given a copy of the whole store, then its files are not touched from there', async () => {
    const temp = await aSession();
    await interrupt(temp, rewindToOne, false);
    const files = temp.files();
    cpSync(temp.root, `${temp.root}-copy`, { recursive: true });
    const copy = new SessionStore({ ...temp.deps, root: `${temp.root}-copy` });

    await copy.appendEvent('s', { type: 'message', payload: {} });

    expect(temp.files()).toEqual(files);
  });

  test('given one that was made here, then the next command takes it back', async () => {
    const temp = await aSession();
    const files = temp.files();
    await interrupt(temp, rewindToOne, false);

    await temp.store.updateTitle('s', 'next');

    expect(temp.files()).toEqual(files);
    expect(temp.log()).not.toContain('rewind-intent');
  });
});

/** Puts a copy of the log in its place, as a restore from a backup does. */
function copyLog(temp: TempWorkspace): void {
  const path = temp.path('events.jsonl');
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}
