import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SessionStore } from '../../../src/store/session-store.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { type Content, type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { appendLine } from '../../support/unfinished-rewind.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

// A file that the session made a folder of, and the other way round (FORMAT.md, 6).

type Files = Readonly<Record<string, Content>>;

/** A session at its first event, and the files as they are then. */
interface Begun {
  readonly temp: TempWorkspace;
  readonly start: readonly string[];
}

async function begin(...files: readonly Files[]): Promise<Begun> {
  const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
  for (const each of files) temp.put(each);
  await temp.say();
  return { temp, start: temp.files() };
}

/** Lets a tool delete files, then one remove folders, then one make files. */
async function replace(temp: TempWorkspace, files: Files, folders: readonly string[] = []): Promise<void> {
  const isGone = ([, content]: readonly [string, Content]): boolean => content === null;
  await temp.tool(Object.fromEntries(Object.entries(files).filter(isGone)));
  for (const folder of folders) rmdirSync(temp.at(folder));
  await temp.tool(Object.fromEntries(Object.entries(files).filter((entry) => !isGone(entry))));
}

/** `a` is a folder now, of two files, one of them deeper. */
async function fileToFolder(): Promise<Begun> {
  const begun = await begin({ a: 'a0', other: 'o0' }, { a: { mode: 0o600 } });
  await replace(begun.temp, { a: null, 'a/b': 'b1', 'a/in/c': 'c1', other: 'o1' });
  begun.temp.put({ a: { mode: 0o700 }, 'a/in': { mode: 0o750 } });
  return begun;
}

/** `d`, in which two files were, one of them deeper, is a file now. */
async function folderToFile(): Promise<Begun> {
  const begun = await begin({ 'd/x': 'x0', 'd/in/y': 'y0', other: 'o0' }, { 'd/x': { mode: 0o755 } });
  await replace(begun.temp, { 'd/x': null, 'd/in/y': null, d: 'd1', other: 'o1' }, ['d/in', 'd']);
  return begun;
}

const SHAPES: Readonly<Record<string, () => Promise<Begun>>> = {
  'a file that became a folder': fileToFolder,
  'a folder that became a file': folderToFile,
  'a link that became a folder': async () => {
    const begun = await begin({ 'elsewhere/k': 'not to be touched', l: { link: 'elsewhere' } });
    await replace(begun.temp, { l: null, 'l/k': 'k1', 'l/in/m': 'm1' });
    return begun;
  },
  'a folder that became a link': async () => {
    const begun = await begin({ 'elsewhere/x': 'not to be touched', 'd/x': 'x0', 'd/in/y': 'y0' });
    await replace(begun.temp, { 'd/x': null, 'd/in/y': null, d: { link: 'elsewhere' } }, ['d/in', 'd']);
    return begun;
  },
  'a folder that became a link out of the workspace': async () => {
    const begun = await begin({ 'd/x': 'x0' });
    const { outside } = begun.temp;
    await replace(begun.temp, { 'd/x': null, d: { link: outside } }, ['d']);
    return begun;
  },
  'a file in a folder that became a folder, and one in that as well': async () => {
    const begun = await begin({ 'd/x': 'x0', 'd/stays': 's' });
    await replace(begun.temp, { 'd/x': null, 'd/x/y': 'y1' });
    await replace(begun.temp, { 'd/x/y': null, 'd/x/y/z': 'z1' }, ['d/x']);
    return begun;
  },
  'a file and what is below it in one checkpoint': async () => {
    const begun = await begin({ a: 'a0' });
    await begun.temp.tool({ a: null, 'a/in/b': 'b1' });
    return begun;
  },
  'a file that became a folder and a file again': async () => {
    const begun = await begin({ a: 'a0' });
    await replace(begun.temp, { a: null, 'a/b': 'b1' });
    await replace(begun.temp, { 'a/b': null, a: 'a1' }, ['a']);
    return begun;
  },
  'a folder that became a file and a folder again, with something of the user': async () => {
    const begun = await begin({ 'd/x': 'x0', 'd/mine': 'the user’s' });
    begun.temp.put({ 'd/mine': null });
    await replace(begun.temp, { 'd/x': null, d: 'd1' }, ['d']);
    await replace(begun.temp, { d: null, 'd/x': 'x1', 'd/new': 'n1' });
    begun.temp.put({ 'd/mine': 'the user’s' });
    return begun;
  },
  'a file that Zero captured, and a folder': async () => {
    const begun = await fileToFolder();
    // As Zero writes them: without the number of folders that were missing.
    const zero = begun.temp.log().replaceAll(/,"newDirs":\d/g, '');
    writeFileSync(begun.temp.path('events.jsonl'), zero);
    return begun;
  },
};

const everyShape = Object.entries(SHAPES);
const both = everyShape.slice(0, 2);

describe('a rewind over a changed shape', () => {
  test.each(everyShape)('given %s, then files and log are as they were, and so with each undo', async (_, make) => {
    const { temp, start } = await make();
    writeFileSync(`${temp.outside}/x`, 'not to be touched');
    const [now, log, outside] = [temp.files(), temp.log(), temp.outsideFiles()];

    await temp.store.rewind('s', { target: 1 });
    expect(temp.files()).toEqual(start);
    await temp.store.undoRewind('s');
    expect([temp.files(), temp.log().startsWith(log)]).toEqual([now, true]);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(start);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(now);

    expect([temp.outsideFiles(), temp.warnings]).toEqual([outside, []]);
  });

  test.each(everyShape)('given %s and the bare restore, then the same', async (_, make) => {
    const { temp, start } = await make();
    const now = temp.files();

    const report = await temp.store.restoreToSequence('s', temp.workspace, 1);
    expect([temp.files(), report.skipped]).toEqual([start, undefined]);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(now);
  });

  test.each(everyShape.slice(0, 4))(
    'given %s and a call that fails, then all is old or all is new',
    async (_, make) => {
      for (const lasting of [false, true]) {
        for (let nth = 1; ; nth += 1) {
          const { temp, start } = await make();
          const [before, now] = [temp.everything(), temp.files()];
          const fs = faultyFileSystem({ nth, as: 'EIO', lasting }, unsyncedFileSystem);
          await new SessionStore({ ...temp.deps, fs }).rewind('s', { target: 1 }).catch(() => {});
          if (!fs.hit) break;
          if (lasting) await temp.store.updateTitleIfCurrent('s', 'no such title', 'never');

          const isNew = temp.log().includes('session_rewind');
          if (isNew) expect([nth, withoutFolders(temp.files())]).toEqual([nth, withoutFolders(start)]);
          else if (lasting) expect([nth, temp.files()]).toEqual([nth, now]);
          else expect([nth, temp.everything()]).toEqual([nth, before]);
        }
      }
    },
  );
});

// An emptied folder goes where the system lets it.
function withoutFolders(files: readonly string[]): readonly string[] {
  return files.filter((line) => !/ folder \d+$/.test(line));
}

describe('somebody else’s work in the way', () => {
  test.each([
    ['a file of the user in the folder', fileToFolder, { 'a/mine': 'm' }, /"a" is a folder now, with "a\/mine" in it/],
    ['one deeper', fileToFolder, { 'a/in/deep/mine': 'm' }, /"a" is a folder now, with "a\/in\/deep\/mine" in it/],
    ['a link of the user in it', fileToFolder, { 'a/z': { link: 'b' } }, /"a" is a folder now, with "a\/z" in it/],
    ['a folder in which nothing is', fileToFolder, { 'a/empty/x': null }, /"a" is a folder now, with "a\/empty" in it/],
  ] as const)('given %s, then nothing is changed and it is named', async (_, make, files, message) => {
    const { temp } = await make();
    for (const [path, content] of Object.entries(files as Files)) {
      if (path === 'a/empty/x') mkdirSync(temp.at('a/empty'));
      temp.put({ [path]: content });
    }
    const before = temp.everything();

    for (const force of [false, true]) {
      await expect(temp.store.rewind('s', { target: 1, force })).rejects.toMatchObject({
        code: 'INCOMPLETE',
        message: expect.stringMatching(message),
      });
      expect(temp.everything()).toEqual(before);
    }
  });

  test.each([
    ['in the folder', fileToFolder, 'a/b', /"a" is a folder now, with a changed file in it/],
    ['in place of the folder', folderToFile, 'd', /"d\/x" is behind "d", which somebody changed/],
  ] as const)('given a file %s that somebody changed, then it is a conflict; forced, it is kept', async (...given) => {
    const [, make, path, message] = given;
    const { temp, start } = await make();
    temp.put({ [path]: 'mine' });
    utimesSync(temp.at(path), new Date(), new Date());
    const [before, now] = [temp.everything(), temp.files()];

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(message),
    });
    expect(temp.everything()).toEqual(before);

    await temp.store.rewind('s', { target: 1, force: true });
    expect(temp.files()).toEqual(start);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(now);
  });

  test('given a folder of the user in place of the file, then what was in it is restored beside what is', async () => {
    const { temp } = await folderToFile();
    temp.put({ d: null });
    temp.put({ 'd/mine': 'm' });
    const now = temp.files();

    await temp.store.rewind('s', { target: 1 });
    expect(readdirSync(temp.at('d'))).toEqual(['in', 'mine', 'x']);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(now);
  });

  test('given that what is in the way was not asked for, then it stays, and is named', async () => {
    const { temp } = await folderToFile();
    const before = temp.everything();

    await expect(temp.store.rewind('s', { target: 1, part: 'files', paths: ['d/x'] })).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining('"d/x" cannot be reached: "d" is no folder'),
    });
    expect(temp.everything()).toEqual(before);

    await temp.store.rewind('s', { target: 1, part: 'files', paths: ['d'] });
    expect(readFileSync(temp.at('d/in/y'), 'utf8')).toBe('y0');
  });

  test('given leave to be partial, then the rest is done and those are left', async () => {
    const { temp } = await fileToFolder();
    temp.put({ 'a/mine': 'm' });

    const { report } = await temp.store.rewind('s', { target: 1, allowPartial: true });

    expect(report.skipped).toEqual([{ path: 'a', reason: 'is a folder now, with "a/mine" in it' }]);
    expect([readdirSync(temp.at('a')), readFileSync(temp.at('other'), 'utf8')]).toEqual([['mine'], 'o0']);
  });

  test.each([
    ['in the folder', fileToFolder, 'a/mine', ['STALE_PLAN', 'done']],
    ['in the folder that is made', folderToFile, 'd/mine', ['done']],
  ] as const)(
    'given that the user makes a file %s at any call, then it is there afterwards',
    async (_, make, path, wanted) => {
      const outcomes = new Set<string>();
      for (const call of ['unlink', 'rmdir', 'rename', 'mkdir', 'create', 'fsync'] as const) {
        for (let nth = 1; ; nth += 1) {
          const { temp } = await make();
          const log = temp.log();
          let left = nth;
          let isSaved = false;
          const act = temp.deps.fs[call] as (...args: unknown[]) => unknown;
          const meddling = (...args: unknown[]): unknown => {
            left -= 1;
            if (left === 0 && lstatSync(temp.at(dirname(path)), { throwIfNoEntry: false })?.isDirectory()) {
              writeFileSync(temp.at(path), 'saved by the user');
              isSaved = true;
            }
            return act(...args);
          };
          const store = new SessionStore({ ...temp.deps, fs: { ...temp.deps.fs, [call]: meddling } });
          const failure = await store.rewind('s', { target: 1 }).then(
            () => undefined,
            (error: { code?: string }) => error.code,
          );
          if (left > 0) break;

          outcomes.add(failure ?? 'done');
          expect([call, nth, existsSync(temp.at(path))]).toEqual([call, nth, isSaved]);
          if (failure === undefined) continue;
          expect([temp.log(), readFileSync(temp.at('other'), 'utf8')]).toEqual([log, 'o1']);
        }
      }
      expect([...outcomes].sort()).toEqual(wanted);
    },
  );
});

describe('an undo over a changed shape', () => {
  test.each([
    ['the file is one of the user’s now', fileToFolder, { a: 'mine' }, 'CONFLICT'],
    ['a folder of the user is in the place of the file', fileToFolder, { a: null, 'a/mine': 'm' }, undefined],
    ['something of the user is in the folder', folderToFile, { 'd/mine': 'm' }, 'INCOMPLETE'],
  ] as const)('given that %s, then it is not lost', async (_, make, files, code) => {
    const { temp } = await make();
    await temp.store.rewind('s', { target: 1 });
    temp.put(files as Files);
    const before = temp.everything();

    const failure = await temp.store.undoRewind('s').then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );

    expect(failure).toBe(code);
    if (code !== undefined) expect(temp.everything()).toEqual(before);
    else expect(readFileSync(temp.at('a/mine'), 'utf8')).toBe('m');
  });
});

describe('an interrupted rewind over a changed shape', () => {
  /** Lets a rewind die once the files are changed, and somebody append behind its intent. */
  async function interrupt(temp: TempWorkspace): Promise<void> {
    let dead = false;
    const dying = (call: 'mkdir' | 'link' | 'rename' | 'unlink' | 'rmdir' | 'create' | 'truncate') => {
      const act = temp.deps.fs[call] as (...args: unknown[]) => unknown;
      return (...args: unknown[]): unknown => {
        dead ||= call === 'mkdir' && String(args[0]).includes('.zs/kept/');
        if (dead) throw Object.assign(new Error('EIO: dead'), { code: 'EIO' });
        return act(...args);
      };
    };
    const calls = ['mkdir', 'link', 'rename', 'unlink', 'rmdir', 'create', 'truncate'] as const;
    const fs = { ...temp.deps.fs, ...Object.fromEntries(calls.map((call) => [call, dying(call)])) };
    await expect(new SessionStore({ ...temp.deps, fs }).rewind('s', { target: 1 })).rejects.toThrow();
    appendLine(temp, (temp.sequences().at(-1) ?? 0) + 1, 'message', { content: 'from Zero', role: 'user' });
  }

  test.each(both)('given %s, then it can be taken back, and carried out', async (_, make) => {
    for (const settle of ['abortRewind', 'continueRewind'] as const) {
      const { temp, start } = await make();
      const now = temp.files();
      await interrupt(temp);
      expect(temp.files()).toEqual(start);

      await temp.store[settle]('s');

      expect(temp.files()).toEqual(settle === 'abortRewind' ? now : start);
    }
  });

  test.each([
    ['the file that was brought back', fileToFolder, 'a', ['a', 'a/b', 'a/in/c']],
    ['a file in the folder that was brought back', folderToFile, 'd/x', ['d/x', 'd']],
    ['something in the folder that was brought back', folderToFile, 'd/mine', ['d']],
  ] as const)('given that somebody changed %s, then it is left, with what needs it to go', async (...given) => {
    const [, make, path, left] = given;
    const { temp } = await make();
    await interrupt(temp);
    temp.put({ [path]: 'mine' });

    const settled = await temp.store.abortRewind('s');

    expect([...settled.left].sort()).toEqual([...left].sort());
    expect([readFileSync(temp.at(path), 'utf8'), readFileSync(temp.at('other'), 'utf8')]).toEqual(['mine', 'o1']);
    expect(temp.files().join()).not.toContain('.zs-');
  });

  test.each(both)(
    'given %s that is taken back and dies at any call, then the next command ends it',
    async (_, make) => {
      for (let nth = 1; ; nth += 1) {
        const { temp } = await make();
        const now = temp.files();
        await interrupt(temp);
        const fs = faultyFileSystem({ nth, as: 'EIO', lasting: true }, unsyncedFileSystem);
        await new SessionStore({ ...temp.deps, fs }).abortRewind('s').catch(() => {});
        if (!fs.hit) break;

        await temp.store
          .abortRewind('s')
          .catch((error: { code?: string }) => expect(error.code).toBe('REWIND_NOT_FOUND'));

        expect([nth, temp.files()]).toEqual([nth, now]);
      }
    },
  );
});

test('a path below what became a link by somebody else leads where the link does', async () => {
  const { temp } = await begin({ 'd/x': 'x0', 'e/x': 'e0' });
  await temp.tool({ 'd/x': 'x1' });
  rmSync(temp.at('d'), { recursive: true });
  temp.put({ 'e/x': 'x1', d: { link: 'e' } });

  const { files } = await temp.store.previewRewind('s', { target: 1 });

  expect(files).toMatchObject([{ path: 'd/x', resolved: 'e/x', action: 'restore' }]);
});
