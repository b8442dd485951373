import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SessionStore } from '../../../src/store/session-store.js';
import { rewindAsForeigner } from '../../crash/foreign-writer.mjs';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

/** `f` goes from f0 to f1 (events 2 to 4), then to f2 and `g` from g0 to g1 (5 to 7); every event from 8 on is a message. */
async function twoCheckpoints(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ f: 'f0', g: 'g0' });
  await temp.say();
  await temp.tool({ f: 'f1' });
  await temp.tool({ f: 'f2', g: 'g1' });
  await temp.say();
  return temp;
}

/** Contents of the blobs in a folder of the session. */
function contentsIn(temp: TempWorkspace, ...folder: readonly string[]): readonly string[] {
  const path = temp.path(...folder);
  return existsSync(path)
    ? readdirSync(path)
        .map((name) => readFileSync(join(path, name), 'utf8'))
        .sort()
    : [];
}

function blobPath(temp: TempWorkspace, content: string): string {
  const folder = temp.path('checkpoints/blobs');
  const name = readdirSync(folder).find((blob) => readFileSync(join(folder, blob), 'utf8') === content);
  return join(folder, name ?? 'not there');
}

/** Replaces what is at a path by another file, so that no other name of it is changed. */
function replace(path: string, content: string): void {
  rmSync(path);
  writeFileSync(path, content, { mode: 0o600 });
}

function withoutLinks(temp: TempWorkspace, code: string): SessionStore {
  const link = (): never => {
    throw Object.assign(new Error(`${code}: no links`), { code });
  };
  return new SessionStore({ ...temp.deps, fs: { ...temp.deps.fs, link } });
}

const read = (temp: TempWorkspace, path: string): string => readFileSync(temp.at(path), 'utf8');

describe('finding 7: the blobs of a kept log', () => {
  test('given Zero pruned what kept events named as well, then an undo brings the events back with all their blobs', async () => {
    const temp = await twoCheckpoints();
    const before = temp.log();
    const { report } = await temp.store.rewind('s', { target: 4 });
    rewindAsForeigner(temp.root, 's', temp.workspace, 1, { isAlone: true });
    expect(contentsIn(temp, 'checkpoints/blobs')).toEqual([]);

    await temp.store.undoRewind('s', { rewindId: report.rewindId ?? '', force: true });

    expect(temp.log().startsWith(before)).toBe(true);
    expect(contentsIn(temp, 'checkpoints/blobs')).toEqual(expect.arrayContaining(['f0', 'f1', 'g0']));
    await temp.store.rewind('s', { target: 1, force: true });
    expect([read(temp, 'f'), read(temp, 'g')]).toEqual(['f0', 'g0']);
  });

  test('given a rewind, then every blob that the log named is kept, and a second one adds only what is new', async () => {
    const temp = await twoCheckpoints();

    await temp.store.rewind('s', { target: 4 });
    expect(contentsIn(temp, '.zs/blobs')).toEqual(['f0', 'f1', 'f2', 'g0', 'g1']);
    temp.clock.pass(60_000);
    await temp.tool({ g: 'g2' });
    await temp.store.rewind('s', { target: 1 });

    expect(contentsIn(temp, '.zs/blobs')).toEqual(['f0', 'f1', 'f2', 'g0', 'g1', 'g2']);
    expect(temp.warnings).toEqual([]);
  });

  test('given a rewind of the log alone, and a cut, then the blobs of what goes are kept as well', async () => {
    const temp = await twoCheckpoints();

    await temp.store.rewind('s', { target: 6, part: 'events' });
    expect(contentsIn(temp, '.zs/blobs')).toEqual(['f0', 'f1', 'g0']);
    rmSync(temp.path('.zs/blobs'), { recursive: true });
    await temp.store.truncateEvents('s', 1);

    expect(contentsIn(temp, '.zs/blobs')).toEqual(['f0', 'f1', 'g0']);
  });

  test.each<[string, (temp: TempWorkspace) => Promise<unknown>, readonly string[]]>([
    ['an undo', (temp) => temp.store.undoRewind('s'), ['f2', 'g1']],
    ['a rewind', (temp) => temp.store.rewind('s', { target: 1 }), ['f0', 'g1']],
    ['a restore', (temp) => temp.store.rewind('s', { target: 1, part: 'files' }), ['f0', 'g1']],
    ['the bare restore', (temp) => temp.store.restoreToSequence('s', temp.workspace, 1), ['f0', 'g1']],
  ])(
    'given a copy in the store that was altered while the kept one is whole, then %s uses that one and puts it back',
    async (_, act, [f, g]) => {
      const temp = await twoCheckpoints();
      await temp.store.rewind('s', { target: 4, paths: ['f'] });
      const altered = [blobPath(temp, 'f0'), blobPath(temp, 'f2')];
      for (const path of altered) replace(path, 'altered');

      const plan = await temp.store.previewRewind('s', { target: 1 });
      expect(plan.complete).toBe(true);
      await act(temp);

      expect([read(temp, 'f'), read(temp, 'g')]).toEqual([f, g]);
      const used = altered[f === 'f0' ? 0 : 1] ?? '';
      expect(readFileSync(used, 'utf8')).toBe(f);
      expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
    },
  );

  test('given a blob that only the kept copy has, then a fork takes it and a file is shown as it was', async () => {
    const temp = await twoCheckpoints();
    await temp.store.rewind('s', { target: 4 });
    rmSync(blobPath(temp, 'f0'));

    await temp.store.fork('s', { sessionId: 'fork' });
    const [file] = await temp.store.filesAt('s', 1);

    expect(contentsIn(temp, '../fork/checkpoints/blobs')).toEqual(['f0']);
    expect(file && (await temp.store.readFileAt('s', file))).toMatchObject({
      bytes: new Uint8Array(Buffer.from('f0')),
    });
    expect(temp.warnings).toEqual([]);
  });

  test('given a blob that is missing and one that was altered, then they are left out, and that is said', async () => {
    const temp = await twoCheckpoints();
    rmSync(blobPath(temp, 'f0'));
    replace(blobPath(temp, 'g0'), 'altered');

    await temp.store.rewind('s', { target: 6, part: 'events' });

    expect(contentsIn(temp, '.zs/blobs')).toEqual(['f1']);
    expect(temp.warnings).toEqual([
      {
        code: 'BLOB_NOT_KEPT',
        sessionId: 's',
        message: expect.stringMatching(/^2 file contents .* missing or altered/),
      },
    ]);
  });

  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EMLINK'])(
    'given a file system that refuses links with %s, then only what the rewind drops is copied, and it is undone whole',
    async (code) => {
      const temp = await twoCheckpoints();
      const before = temp.files();
      const store = withoutLinks(temp, code);

      await store.rewind('s', { target: 4 });
      expect(contentsIn(temp, '.zs/blobs')).toEqual(['f1', 'f2', 'g0', 'g1']);
      for (const name of ['f1', 'f2', 'g0', 'g1']) rmSync(blobPath(temp, name));
      await store.undoRewind('s');

      expect(temp.files()).toEqual(before);
      expect(contentsIn(temp, 'checkpoints/blobs')).toEqual(expect.arrayContaining(['f0', 'f1', 'g0']));
      expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
    },
  );

  test('given a record of the first version, then the blobs beside its log are used', async () => {
    const temp = await twoCheckpoints();
    const before = temp.files();
    const { report } = await temp.store.rewind('s', { target: 4 });
    renameSync(temp.path('.zs/blobs'), temp.path('.zs/kept', report.rewindId ?? '', 'blobs'));
    for (const name of ['f1', 'f2', 'g0', 'g1']) rmSync(blobPath(temp, name));

    await temp.store.undoRewind('s');

    expect(temp.files()).toEqual(before);
    expect(contentsIn(temp, 'checkpoints/blobs')).toEqual(expect.arrayContaining(['f0', 'f1', 'g0']));
  });
});
