import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';
import { unsyncedFileSystem } from '../support/unsynced-file-system.js';

/** A session with a checkpoint, not written by us, of these entries. */
async function aCheckpointOf(files: readonly object[]): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  writeFileSync(join(temp.outside, 'victim'), 'untouched', { mode: 0o640 });
  await temp.say();
  temp.put({ source: 'hostile' });
  await temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['source']);
  await append(temp, { tool: 't', files });
  return temp;
}

async function append(temp: TempWorkspace, payload: object): Promise<void> {
  await temp.store.appendEvent('s', { type: 'session_checkpoint', payload });
}

async function blobName(temp: TempWorkspace): Promise<string> {
  return readdirSync(temp.path('checkpoints/blobs'))[0] ?? '';
}

describe('a path that leads out (test 37)', () => {
  test.each([
    '../victim',
    '/victim',
    'a/../../victim',
    'out/victim',
    'out/new/x',
    'dangling/x',
    'source/below',
    'x\0y',
    'loop/x',
  ])('given %j, then a rewind is refused, a bare restore skips it, and nothing outside is touched', async (path) => {
    for (const state of [{ absent: true }, { blob: 'placeholder', mode: 0o777 }]) {
      const temp = await aCheckpointOf([]);
      const blob = await blobName(temp);
      await append(temp, {
        tool: 't',
        files: [{ path, ...state, ...('blob' in state ? { blob } : {}) }],
      });
      temp.put({ out: { link: temp.outside }, dangling: { link: 'nowhere' }, loop: { link: 'loop' } });
      const before = temp.everything();

      await expect(temp.store.rewind('s', { target: 1, force: true })).rejects.toMatchObject({ code: 'INCOMPLETE' });
      expect(temp.everything()).toEqual(before);
      expect((await temp.store.restoreToSequence('s', temp.workspace, 1)).skipped).toEqual([path]);
      expect(temp.outsideFiles()).toEqual((before as { outside: unknown }).outside);
    }
  });
});

describe('a blob name that is none (test 43)', () => {
  test.each([
    '../../x',
    '../../../outside/victim',
    'a'.repeat(63),
    'a'.repeat(65),
    'A'.repeat(64),
    '/etc/hostname',
    `${'a'.repeat(64)}/..`,
  ])('given %j, then it is refused', async (blob) => {
    const temp = await aCheckpointOf([{ path: 'a', blob }]);
    const before = temp.everything();

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'INCOMPLETE' });

    expect(temp.everything()).toEqual(before);
  });
});

describe('a recorded mode (test 44)', () => {
  test.each([
    [0o4755, 0o755],
    [0o1777, 0o777],
    [0o2640, 0o640],
    [0o600, 0o600],
    [-1, 0o644],
    [1e9, 0o644],
    [0.5, 0o644],
    ['755', 0o644],
    [null, 0o644],
  ])('given %j, then the file has %s and no special bit', async (mode, expected) => {
    const temp = await aCheckpointOf([]);
    await append(temp, {
      tool: 't',
      files: [{ path: 'a', blob: await blobName(temp), bytes: 7, mode }],
    });

    await temp.store.rewind('s', { target: 1 });

    expect(lstatSync(temp.at('a')).mode & 0o7777).toBe(expected);
  });
});

describe('names that were planted (FAULTS.md, 11; test 39)', () => {
  test('given links under every temporary name that was ever used, then nothing outside changes', async () => {
    const temp = await tempWorkspace();
    const victim = join(temp.outside, 'victim');
    writeFileSync(victim, 'untouched', { mode: 0o640 });
    const before = temp.outsideFiles();
    temp.put({ 'a.txt': 'before' });
    await temp.say();
    await temp.tool({ 'a.txt': 'after' });
    for (let n = 0; n < 300; n += 1) {
      for (const name of [`a.txt.zero-restore-tmp-${n}`, `.zs-tmp-${n}`, `.a.txt.tmp-${n}`])
        symlinkSync(victim, temp.at(name));
      symlinkSync(victim, temp.path(`metadata.json.tmp-${n}`));
      symlinkSync(victim, temp.path(`events.jsonl.tmp-${n}`));
    }

    await temp.store.rewind('s', { target: 1 });
    await temp.store.undoRewind('s');

    expect([temp.outsideFiles(), readFileSync(temp.at('a.txt'), 'utf8')]).toEqual([before, 'after']);
    expect(lstatSync(temp.at('a.txt')).isFile()).toBe(true);
  });

  test('given a keep area, or folders for blobs, that are links, then nothing is written through them', async () => {
    for (const names of [['.zs'], ['checkpoints'], ['checkpoints', 'blobs']]) {
      const temp = await tempWorkspace();
      temp.put({ a: 'before' });
      await temp.say();
      if (names.length > 1) mkdirSync(temp.path('checkpoints'));
      symlinkSync(temp.outside, temp.path(...names));
      if (names[0] === '.zs') await temp.tool({ a: 'after' });
      else await expect(temp.tool({ a: 'after' })).rejects.toMatchObject({ code: expect.any(String) });

      await temp.store.rewind('s', { target: 1 }).catch(() => {});

      expect(temp.outsideFiles()).toEqual([]);
    }
  });
});

const RESTORES = Number(process.env.ZERO_SESSIONS_SWAP_RESTORES ?? 150);

describe('a folder that is swapped for a link all the time (test 38)', () => {
  test(`given ${RESTORES} restores, then nothing outside changes`, async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    mkdirSync(join(temp.outside, 'd'));
    writeFileSync(join(temp.outside, 'd', 'a'), 'untouched');
    writeFileSync(join(temp.outside, 'd', 'gone'), 'untouched');
    temp.put({ 'd/a': 'before', 'd/deep/b': 'b' });
    await temp.say();
    await temp.store.captureToolCheckpoint('s', temp.workspace, 't', ['d/a', 'd/deep/b', 'd/gone', 'd/new/x']);
    const before = temp.outsideFiles();
    symlinkSync(join(temp.outside, 'd'), join(dirname(temp.workspace), 'link'));
    // It stays in the real folder, so that what it writes is never written outside.
    const swap = `
      const { renameSync, writeFileSync } = require('node:fs');
      const [d, link, aside] = process.argv.slice(1);
      process.chdir(d);
      const moves = [[d, aside], [link, d], [d, link], [aside, d]];
      const go = () => {
        for (let n = 0; n < 200; n += 1) {
          if (n % 20 === 0) for (const name of ['a', 'gone']) writeFileSync(name, 'changed ' + n);
          for (const [from, to] of moves) try { renameSync(from, to); } catch {}
        }
        setImmediate(go);
      };
      process.stdout.write('going');
      go();`;
    const swapper = spawn(
      process.execPath,
      ['-e', swap, temp.at('d'), join(dirname(temp.workspace), 'link'), join(dirname(temp.workspace), 'aside')],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const gone = once(swapper, 'exit');
    onTestFinished(() => void swapper.kill('SIGKILL'));
    await once(swapper.stdout, 'data');

    const outcomes = new Map<string, number>();
    for (let n = 0; n < RESTORES; n += 1) {
      const outcome = await temp.store.restoreToSequence('s', temp.workspace, 1).then(
        ({ skipped = [] }) => (skipped.length > 0 ? 'skipped' : 'restored'),
        (error: { code?: string }) => error.code ?? 'bug',
      );
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'INTERRUPTED_REWIND') await temp.store.abortRewind('s').catch(() => {});
    }
    swapper.kill('SIGKILL');
    await gone;

    expect(temp.outsideFiles().filter((line) => !line.includes('link'))).toEqual(before);
    expect(outcomes.get('bug')).toBeUndefined();
    // Both worlds were met: the folder, and the link in its place. In a short run that is a matter of luck.
    if (RESTORES >= 5000) expect([(outcomes.get('restored') ?? 0) > 0, outcomes.size > 1]).toEqual([true, true]);
  }, 1_200_000);
});
