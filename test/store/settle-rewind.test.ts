import { existsSync, readFileSync, renameSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SessionStore } from '../../src/store/session-store.js';
import { faultyFileSystem } from '../support/faulty-file-system.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';
import { appendLine } from '../support/unfinished-rewind.js';
import { unsyncedFileSystem } from '../support/unsynced-file-system.js';

type Act = (store: SessionStore) => Promise<unknown>;

const rewindToOne: Act = (store) => store.rewind('s', { target: 1 });

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
    await interrupt(temp, (store) => store.undoRewind('s'));

    await temp.store.continueRewind('s');

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
