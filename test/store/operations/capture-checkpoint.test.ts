import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/fs/file-system.js';
import { parseRawJson } from '../../../src/index.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

async function entriesOf(temp: TempWorkspace, ...paths: string[]): Promise<unknown> {
  const event = await temp.store.captureToolCheckpoint('s', temp.workspace, 'tool', paths);
  const payload = event?.payload === undefined ? null : (parseRawJson(event.payload) as { files: unknown });
  return payload?.files ?? null;
}

const skipped = (path: string) => ({ path, skipped: true });

describe('capturing', () => {
  test('given files, then content, size and mode are recorded, and the blob is the content', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'text', empty: '' });
    temp.put({ a: { mode: 0o750 } });

    const entries = (await entriesOf(temp, 'a', 'empty')) as { blob: string }[];

    expect(entries).toMatchObject([
      { path: 'a', bytes: 4, mode: 0o750 },
      { path: 'empty', mode: 0o644 },
    ]);
    expect(entries.map(({ blob }) => readFileSync(temp.path('checkpoints/blobs', blob), 'utf8'))).toEqual(['text', '']);
    expect(entries.map(({ blob }) => temp.mode('checkpoints/blobs', blob))).toEqual([0o600, 0o600]);
  });

  test('given what is not there, then the folders that are missing are counted', async () => {
    const temp = await tempWorkspace();
    mkdirSync(temp.at('d'));

    expect(await entriesOf(temp, 'x', 'd/x', 'd/e/f/x')).toEqual([
      { path: 'x', absent: true },
      { path: 'd/x', absent: true },
      { path: 'd/e/f/x', absent: true, newDirs: 2 },
    ]);
  });

  test('given folders with modes of their own, then those from the outermost of these on are recorded', async () => {
    const temp = await tempWorkspace();
    temp.put({ 'a/b/c/file': 'f', 'a/b/link': { link: 'c/file' }, 'usual/file': 'u' });
    temp.put({ 'a/b': { mode: 0o700 } });

    expect(await entriesOf(temp, 'a/b/c/file', 'a/b/link', 'usual/file', 'a/b/none')).toMatchObject([
      { path: 'a/b/c/file', dirModes: [0o700, 0o755] },
      { path: 'a/b/c/file' },
      { path: 'a/b/link', dirModes: [0o700] },
      { path: 'usual/file' },
      { path: 'a/b/none', absent: true },
    ]);
    expect(JSON.stringify(await entriesOf(temp, 'usual/file'))).not.toContain('dirModes');
  });

  test.each(['../x', 'd/../../x', '/etc/hostname', 'a\0b', 'out/secret', 'file/below', 'loop/x', 'dangling/x'])(
    '37. given %j, then it is skipped and never read',
    async (path) => {
      const temp = await tempWorkspace();
      writeFileSync(join(temp.outside, 'secret'), 'secret');
      temp.put({
        out: { link: temp.outside },
        file: 'f',
        loop: { link: 'loop' },
        dangling: { link: 'nowhere' },
        'd/y': '',
      });

      expect(await entriesOf(temp, path)).toEqual([skipped(path)]);
      expect(readdirSync(temp.path()).includes('checkpoints')).toBe(false);
    },
  );

  test('given a link, then it is a link, with the file inside that it leads to before it', async () => {
    const temp = await tempWorkspace();
    writeFileSync(join(temp.outside, 'secret'), 'secret');
    temp.put({
      'd/real': 'r',
      link: { link: 'd/real' },
      chain: { link: 'link' },
      out: { link: join(temp.outside, 'secret') },
    });

    expect(await entriesOf(temp, 'link', 'chain', 'out')).toMatchObject([
      { path: 'd/real', bytes: 1 },
      { path: 'link', skipped: true, link: 'd/real' },
      { path: 'd/real', bytes: 1 },
      { path: 'chain', skipped: true, link: 'link' },
      { path: 'out', skipped: true, link: join(temp.outside, 'secret') },
    ]);
  });

  test('given a file with other names, then it is captured and the store warns', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a' });
    linkSync(temp.at('a'), temp.at('b'));

    await entriesOf(temp, 'a');

    expect(temp.warnings.map(({ code }) => code)).toEqual(['HARD_LINKED']);
  });

  test('given one that is too large, then it is skipped with its size', async () => {
    const temp = await tempWorkspace({ env: { ZERO_CHECKPOINT_MAX_BYTES: '4' } });
    temp.put({ small: '1234', large: '12345' });

    expect(await entriesOf(temp, 'large', 'small')).toMatchObject([
      { path: 'large', skipped: true, bytes: 5 },
      { path: 'small', bytes: 4 },
    ]);
  });

  test.each(['OFF', 'Off', ' off', 'off ', 'false', ''])(
    'finding 30: given ZERO_CHECKPOINTS=%j, which is not off to the letter, then files are captured',
    async (word) => {
      const temp = await tempWorkspace({ env: { ZERO_CHECKPOINTS: word } });
      temp.put({ a: 'a' });

      expect(temp.store.checkpointsEnabled()).toBe(true);
      expect(await entriesOf(temp, 'a')).toMatchObject([{ path: 'a', bytes: 1 }]);
    },
  );

  test.each(['0', '-1', '4.5', '4x', ' 4', '4 ', '\u00a04', '9223372036854775808'])(
    'finding 30: given the limit %j, which is none, then it is the default',
    async (limit) => {
      const temp = await tempWorkspace({ env: { ZERO_CHECKPOINT_MAX_BYTES: limit } });
      temp.put({ fits: 'x', large: 'x'.repeat(5 * 1024 * 1024 + 1) });

      expect(await entriesOf(temp, 'fits', 'large')).toMatchObject([{ bytes: 1 }, { skipped: true }]);
    },
  );

  test('given a path in the store, then it is outside', async () => {
    const temp = await tempWorkspace();
    const event = await temp.store.captureToolCheckpoint('s', join(temp.root, '..'), 't', ['sessions/s/metadata.json']);

    expect(event?.payload && parseRawJson(event.payload)).toMatchObject({
      files: [skipped('sessions/s/metadata.json')],
    });
  });

  test('given a folder, the workspace itself, or nothing, then there is no event', async () => {
    const temp = await tempWorkspace();
    mkdirSync(temp.at('d'));

    expect([await entriesOf(temp, 'd', '.', ''), await entriesOf(temp)]).toEqual([null, null]);
    expect(temp.log()).toBe('');
  });

  test('given checkpoints that are off, then nothing is written', async () => {
    const temp = await tempWorkspace({ env: { ZERO_CHECKPOINTS: 'off' } });
    temp.put({ a: 'a' });

    expect(await entriesOf(temp, 'a')).toBeNull();
    expect(await temp.store.snapshotForCheckpoint('s', temp.workspace, 't', ['a'])).toEqual({
      ok: false,
      payload: null,
    });
  });

  test.each([
    ['', 'INVALID_ARGUMENT'],
    ['  ', 'INVALID_ARGUMENT'],
    ['workspace', 'INVALID_ARGUMENT'],
    ['/no/such/folder', 'WORKSPACE_REFUSED'],
  ])('given the workspace %j, then it is refused', async (root, code) => {
    const temp = await tempWorkspace();

    await expect(temp.store.captureToolCheckpoint('s', root, 't', ['a'])).rejects.toMatchObject({ code });
  });

  test('given an unknown session, then a snapshot makes none', async () => {
    const temp = await tempWorkspace();

    await expect(temp.store.snapshotForCheckpoint('nobody', temp.workspace, 't', ['a'])).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect(readdirSync(temp.root)).toEqual(['s']);
  });

  test('given a blob that was altered, then it is put right', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a' });
    const [entry] = (await entriesOf(temp, 'a')) as { blob: string }[];
    const blob = temp.path('checkpoints/blobs', entry?.blob ?? '');
    writeFileSync(blob, 'altered');

    await entriesOf(temp, 'a');

    expect(readFileSync(blob, 'utf8')).toBe('a');
  });
});

describe('what cannot be read', () => {
  test('42. given a blob that is a pipe, then it is refused', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({ a: '1' });
    await temp.tool({ a: '2' });
    const [blob] = readdirSync(temp.path('checkpoints/blobs'));
    temp.deps.fs.unlink(temp.path('checkpoints/blobs', blob ?? ''));
    execFileSync('mkfifo', [temp.path('checkpoints/blobs', blob ?? '')]);

    await expect(temp.store.rewind('s', { target: 4 })).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining('special file'),
    });
  });

  test('given a file that may not be read, then it is skipped', async () => {
    // As root nothing is refused, so the file system says what it would say to anybody else.
    const openRead: FileSystem['openRead'] = (path) => {
      if (path.endsWith('/private')) throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' });
      return nodeFileSystem.openRead(path);
    };
    const temp = await tempWorkspace({ fileSystem: { ...nodeFileSystem, openRead } });
    temp.put({ private: 'a', other: 'b' });

    expect(await entriesOf(temp, 'private', 'other')).toMatchObject([skipped('private'), { path: 'other', bytes: 1 }]);
  });
});
