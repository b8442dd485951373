import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileSystem } from '../../../src/fs/file-system.js';
import { type ErrorCode, openStore, type RewindOptions } from '../../../src/index.js';
import { SessionStore } from '../../../src/store/session-store.js';
import { snapshotAsForeigner } from '../../crash/foreign-writer.mjs';
import { type FaultyCall, faultyFileSystem } from '../../support/faulty-file-system.js';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { contents, type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

const OTHER = 'other-project';

/** A session whose rewind to 1 restores `a`, `d/b` and `e/f`, deletes `new/c`, and brings `gone` back. */
async function aSessionToRewind(): Promise<TempWorkspace> {
  const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
  temp.put({ a: 'a0', 'd/b': 'b0', 'e/f': 'f0', gone: 'g0' });
  mkdirSync(other(temp));
  writeFileSync(join(other(temp), 'a'), 'of another project');
  utimesSync(join(other(temp), 'a'), 0, 0);
  await temp.say();
  await temp.tool({ a: 'a1', 'd/b': 'b1', 'e/f': 'f1', gone: null, 'new/c': 'c1' });
  await temp.say();
  return temp;
}

const other = (temp: TempWorkspace): string => join(dirname(temp.workspace), OTHER);

interface Obstacle {
  readonly code: ErrorCode;
  readonly names: RegExp;
  /** Puts it in the way; a store is given back where it takes another one to meet it. */
  readonly put?: (temp: TempWorkspace) => SessionStore | undefined;
  readonly options?: Partial<RewindOptions> & { readonly inOther?: true };
}

const blobOf = (temp: TempWorkspace, content: string): string => {
  const blobs = temp.path('checkpoints/blobs');
  const name = readdirSync(blobs).find((blob) => readFileSync(join(blobs, blob), 'utf8').startsWith(content));
  return join(blobs, name ?? 'not there');
};
const onDisk = (temp: TempWorkspace, changes: object): SessionStore =>
  new SessionStore({ ...temp.deps, fs: { ...temp.deps.fs, ...changes } });

const OBSTACLES: Readonly<Record<string, Obstacle>> = {
  'a blob missing': {
    code: 'INCOMPLETE',
    names: /"a" its blob [0-9a-f]{8}… is missing/,
    put: (temp) => void unlinkSync(blobOf(temp, 'a0')),
  },
  'a blob altered': {
    code: 'INCOMPLETE',
    names: /"d\/b" its blob [0-9a-f]{8}… was altered/,
    put: (temp) => void writeFileSync(blobOf(temp, 'b0'), 'b0 altered'),
  },
  'a target that is a folder': {
    code: 'INCOMPLETE',
    names: /"gone" is a folder now/,
    put: (temp) => void temp.put({ 'gone/inside': 'x' }),
  },
  'a folder that cannot be written': {
    code: 'INCOMPLETE',
    names: /"e\/f" its folder cannot be written to/,
    put: (temp) => onDisk(temp, { mayChange: (path: string) => !path.endsWith('/e') }),
  },
  'the workspace moved': {
    code: 'WORKSPACE_REFUSED',
    names: /Workspace ".*\/workspace" is not there/,
    put: (temp) => void renameSync(temp.workspace, `${temp.workspace}-moved`),
  },
  'the workspace of another project': {
    code: 'WORKSPACE_REFUSED',
    names: /Workspace ".*\/other-project" (is not the session's own|shows no work of session s)/,
    options: { inOther: true },
  },
  'a full disk': {
    code: 'SYSTEM',
    names: /ENOSPC/,
    put: (temp) =>
      onDisk(temp, faultyFileSystem({ on: 'write', nth: 1, as: 'ENOSPC', lasting: true }, unsyncedFileSystem)),
  },
  'a target that somebody changed': {
    code: 'CONFLICT',
    names: /"a" edited outside the session at /,
    put: (temp) => {
      temp.clock.pass(60_000);
      temp.put({ a: 'mine' });
      return undefined;
    },
  },
  'a log that moved on': {
    code: 'STALE_PLAN',
    names: /Session s ends with event 5, not 3/,
    options: { expectHead: 3 },
  },
};

/** What keeps a rewind from seeing another: the log is looked at first, then the workspace, the files, and the disk. */
const ORDER: readonly ErrorCode[] = ['STALE_PLAN', 'WORKSPACE_REFUSED', 'INCOMPLETE', 'CONFLICT', 'SYSTEM'];

/** Gives all that is there: the store, the workspace wherever it is, other folders; not the locks. */
function everythingBeside(temp: TempWorkspace): readonly string[] {
  const isOfLocks = /^"sessions\/(\.zs-locks|s\/session\.lock|s\/\.zs(\/kept)?" folder)/;
  return contents(dirname(temp.root)).filter((line) => !isOfLocks.test(line));
}

describe('what stands in the way of a rewind', () => {
  const names = Object.keys(OBSTACLES);
  const pairs = names.flatMap((first, at) => names.slice(at).map((second) => [first, second] as const));

  test.each(pairs)(
    'given %s, and %s, then all is as it was and the message names what comes first',
    async (first, second) => {
      const temp = await aSessionToRewind();
      const obstacles = [...new Set([first, second])].map((name) => OBSTACLES[name] as Obstacle);
      // Where the workspace moved, its files are put in the way before it does.
      const inOrder = [...obstacles].sort((a, b) => Number(isOfWorkspace(a)) - Number(isOfWorkspace(b)));
      const stores = inOrder.map(({ put }) => put?.(temp)).filter((store) => store !== undefined);
      const { inOther, ...options } = Object.assign({}, ...obstacles.map(({ options: its }) => its)) as {
        inOther?: true;
      };
      const wish = { target: 1, ...(inOther === true ? { workspace: other(temp) } : {}), ...options };
      const store = stores.length < 2 ? (stores[0] ?? temp.store) : onFullDiskAndLocked(temp);
      const before = everythingBeside(temp);

      const error = await store.rewind('s', wish).then(
        () => undefined,
        (thrown: Error & { code: ErrorCode }) => thrown,
      );

      const code = ORDER.find((each) => obstacles.some((obstacle) => obstacle.code === each));
      expect([error?.code, error?.message]).toEqual([code, expect.any(String)]);
      const told = obstacles.filter((obstacle) => obstacle.code === code).map((obstacle) => obstacle.names);
      // Of two refused files both are named; of two refused workspaces the one that was asked for.
      const isTold = (pattern: RegExp): boolean => pattern.test(error?.message ?? '');
      expect(code === 'WORKSPACE_REFUSED' ? told.some(isTold) : told.every(isTold)).toBe(true);
      expect(everythingBeside(temp)).toEqual(before);
      expect(await temp.store.rewindHistory('s')).toEqual([]);
    },
  );

  test('given that it is out of the way again, then the same rewind is done', async () => {
    const temp = await aSessionToRewind();
    const full = onDisk(temp, faultyFileSystem({ on: 'write', nth: 3, as: 'half', lasting: true }, unsyncedFileSystem));
    await expect(full.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'SYSTEM', errno: 'ENOSPC' });

    await temp.store.rewind('s', { target: 1 });

    expect(temp.files().filter((line) => line.includes('file'))).toHaveLength(4);
  });

  test.each(['ENOSPC', 'EIO', 'EACCES'] as const)(
    'given %s once at any changing call, then all is old or all is new',
    async (as) => {
      for (let nth = 1; ; nth += 1) {
        const temp = await aSessionToRewind();
        const before = temp.everything();
        const fileSystem = faultyFileSystem({ nth, as }, unsyncedFileSystem);
        const failed = await onDisk(temp, fileSystem)
          .rewind('s', { target: 1 })
          .then(
            () => false,
            () => true,
          );
        const isNew = temp.log().includes('session_rewind');
        if (!fileSystem.hit) break;
        if (!isNew) expect([failed, temp.everything()]).toEqual([true, before]);
        else expect(temp.files().join()).not.toContain('c1');
        expect(temp.files().join()).not.toContain('.zs-');
      }
    },
  );

  test('given a file that the system will not let go of, then all is as it was', async () => {
    const temp = await aSessionToRewind();
    const before = temp.everything();
    const rename: FileSystem['rename'] = (from, to) => {
      if (to.endsWith('/b')) throw Object.assign(new Error(`EPERM: ${to}`), { code: 'EPERM' });
      unsyncedFileSystem.rename(from, to);
    };
    const store = openStore({ root: temp.root, fileSystem: { ...unsyncedFileSystem, rename }, locks: inProcessLocks });

    await expect(store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'SYSTEM', errno: 'EPERM' });

    expect(temp.everything()).toEqual(before);
  });

  test('given leave to be partial, then the rest is done and what is left out is named', async () => {
    const temp = await aSessionToRewind();
    unlinkSync(blobOf(temp, 'a0'));

    const { report } = await temp.store.rewind('s', { target: 1, allowPartial: true });

    expect(report.skipped).toEqual([{ path: 'a', reason: expect.stringContaining('is missing') }]);
    expect([readFileSync(temp.at('a'), 'utf8'), readFileSync(temp.at('d/b'), 'utf8')]).toEqual(['a1', 'b0']);
  });
});

function isOfWorkspace({ code }: Obstacle): boolean {
  return code === 'WORKSPACE_REFUSED';
}

function onFullDiskAndLocked(temp: TempWorkspace): SessionStore {
  const full = faultyFileSystem({ on: 'write', nth: 1, as: 'ENOSPC', lasting: true }, unsyncedFileSystem);
  return onDisk(temp, { ...full, mayChange: (path: string) => !path.endsWith('/e') });
}

describe('somebody who writes while a rewind is under way', () => {
  const CALLS: readonly FaultyCall[] = ['create', 'unlink', 'fsync', 'write'];

  test.each(CALLS)(
    'given that the user saves a file at any %s, then what was saved is there, or kept',
    async (call) => {
      for (let nth = 1; nth < 60; nth += 1) {
        const temp = await aSessionToRewind();
        const before = [temp.log(), temp.text('metadata.json')];
        let left = nth;
        const act = temp.deps.fs[call as 'rename'] as (...args: unknown[]) => unknown;
        const meddling = (...args: unknown[]): unknown => {
          left -= 1;
          if (left === 0) writeFileSync(temp.at('d/b'), 'saved by the user');
          return act(...args);
        };
        const failure = await onDisk(temp, { [call]: meddling })
          .rewind('s', { target: 1 })
          .then(
            () => undefined,
            (error: { code?: string }) => error.code,
          );
        if (left > 0) break;

        const present = existsSync(temp.at('d/b')) ? readFileSync(temp.at('d/b'), 'utf8') : '';
        const kept = readdirSync(temp.path('checkpoints/blobs')).some(
          (blob) => readFileSync(temp.path('checkpoints/blobs', blob), 'utf8') === 'saved by the user',
        );
        expect(present === 'saved by the user' || kept).toBe(true);
        if (failure !== undefined) {
          expect(failure).toBe('STALE_PLAN');
          expect([
            temp.log(),
            temp.text('metadata.json'),
            readFileSync(temp.at('a'), 'utf8'),
            existsSync(temp.at('new/c')),
          ]).toEqual([...before, 'a1', true]);
        }
      }
    },
  );
});

describe('finding 2: a rewind that fails leaves every blob', () => {
  // Zero looks for a blob long before the event that names it, and writes nothing where it finds one.
  test.each(['rename', 'write', 'link', 'fsync'] as const)(
    'given Zero took a snapshot of the same content meanwhile, and %s fails from then on, then what it names is there',
    async (call) => {
      for (let nth = 1; nth < 60; nth += 1) {
        const temp = await aSessionToRewind();
        let left = nth;
        let snapshot: ReturnType<typeof snapshotAsForeigner> | undefined;
        const act = temp.deps.fs[call] as (...args: unknown[]) => unknown;
        const failing = (...args: unknown[]): unknown => {
          left -= 1;
          if (left > 0) return act(...args);
          snapshot ??= snapshotAsForeigner(temp.root, 's', temp.workspace, 'edit', ['a', 'd/b', 'e/f', 'new/c']);
          throw Object.assign(new Error('EIO: planted'), { code: 'EIO' });
        };
        await onDisk(temp, { [call]: failing })
          .rewind('s', { target: 1 })
          .catch(() => undefined);
        if (snapshot === undefined) break;
        await temp.store.updateTitle('s', 'whatever writes recovers first').catch(() => undefined);

        const missing = snapshot.files.filter(
          ({ blob }) => blob !== undefined && !existsSync(temp.path('checkpoints/blobs', blob)),
        );
        expect([nth, missing]).toEqual([nth, []]);
      }
    },
  );
});

describe('a rewind', () => {
  test('given a dry run, then nothing is written and the plan is that of the rewind', async () => {
    const temp = await aSessionToRewind();
    const before = temp.everything();

    const plan = await temp.store.previewRewind('s', { target: 1 });

    expect(temp.everything()).toEqual(before);
    expect(plan.files.map(({ path, action }) => [path, action])).toEqual([
      ['a', 'restore'],
      ['d/b', 'restore'],
      ['e/f', 'restore'],
      ['gone', 'restore'],
      ['new/c', 'delete'],
    ]);
    expect((await temp.store.rewind('s', { target: 1 })).plan).toEqual(plan);
  });

  test('given only some paths, then the others stay; a dot means all', async () => {
    const temp = await aSessionToRewind();

    await temp.store.rewind('s', { target: 1, part: 'files', paths: ['./d/'] });
    expect([readFileSync(temp.at('a'), 'utf8'), readFileSync(temp.at('d/b'), 'utf8')]).toEqual(['a1', 'b0']);
    await temp.store.rewind('s', { target: 1, part: 'files', paths: ['.'] });
    expect(readFileSync(temp.at('a'), 'utf8')).toBe('a0');
  });

  test('given a target that is excluded and a checkpoint, then it is undone as well', async () => {
    const temp = await aSessionToRewind();

    await temp.store.rewind('s', { target: 3, excludeTarget: true });

    expect([readFileSync(temp.at('a'), 'utf8'), temp.sequences().slice(0, 2)]).toEqual(['a0', [1, 2]]);
  });

  test('given a target in a gap, then it is not found and its neighbours are named', async () => {
    const temp = await aSessionToRewind();
    await temp.store.rewind('s', { target: 1 });

    await expect(temp.store.rewind('s', { target: 3 })).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' });
  });

  test('given lines with what we do not know, then the kept ones stay byte for byte', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    const odd =
      '{"id":"s:1","sessionId":"s","sequence":1,"type":"later","createdAt":"2026-07-09T12:00:00Z","payload":{"n":12345678901234567890,"x":1.0,"a":"\\u003c","a":2},"traceId":"t"}\r\n\n';
    writeFileSync(temp.path('events.jsonl'), odd);
    await temp.say();

    await temp.store.rewind('s', { target: 1 });

    expect(temp.log().startsWith(odd)).toBe(true);
  });

  test('given a file with another name outside, then that one keeps its content (test 45)', async () => {
    const temp = await aSessionToRewind();
    linkSync(temp.at('a'), join(temp.outside, 'same file'));

    await temp.store.rewind('s', { target: 1 });

    expect([readFileSync(temp.at('a'), 'utf8'), readFileSync(join(temp.outside, 'same file'), 'utf8')]).toEqual([
      'a0',
      'a1',
    ]);
  });

  test('given a repository, then git sees what it saw then, and after each undo what it saw before', async () => {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', temp.workspace, '-c', 'user.name=n', '-c', 'user.email=n@example.invalid', ...args], {
        encoding: 'utf8',
      });
    git('init', '-q');
    git('config', 'core.fileMode', 'true');
    temp.put({
      tracked: '1',
      'bin/run': 'x',
      'bin/data': 'x',
      'old/name': 'moved',
      link: { link: 'tracked' },
      'link to file': { link: 'tracked' },
      'file to folder': 'f',
      'folder to file/x': 'x',
      'folder to link/y': 'y',
      '.gitignore': 'ignored\n',
    });
    temp.put({ 'bin/run': { mode: 0o755 } });
    git('add', '-A');
    git('commit', '-qm', 'start');
    temp.put({ tracked: 'two', untracked: 'u', 'bin/data': { mode: 0o755 } });
    git('add', 'bin/data');
    await temp.say();
    const seen = (): readonly string[] => [
      git('status', '--porcelain', '-uall', '--ignored'),
      git('diff', 'HEAD', '--raw', '--abbrev=40'),
      git('diff', '--cached', '--raw', '--abbrev=40'),
    ];
    const start = seen();
    await temp.tool({
      tracked: '3',
      'old/name': null,
      'new/name': 'moved',
      untracked: null,
      ignored: 'i',
      link: { link: 'bin/run' },
      'link to file': null,
      'file to folder': null,
      'folder to file/x': null,
      'folder to link/y': null,
    });
    for (const folder of ['old', 'folder to file', 'folder to link']) rmdirSync(temp.at(folder));
    await temp.tool({
      'bin/run': 'y',
      'bin/data': 'x',
      'link to file': 'tracked',
      'file to folder/z': 'z',
      'folder to file': 'f',
      'folder to link': { link: 'bin' },
    });
    temp.put({ 'bin/run': { mode: 0o644 }, 'bin/data': { mode: 0o644 }, 'file to folder/z': { mode: 0o755 } });
    const now = seen();
    expect(now[1]).toMatch(/ T\tlink to file\n/);

    await temp.store.rewind('s', { target: 1 });
    expect(seen()).toEqual(start);
    await temp.store.undoRewind('s');
    expect(seen()).toEqual(now);
    await temp.store.undoRewind('s');
    expect(seen()).toEqual(start);
    await temp.store.undoRewind('s');
    expect(seen()).toEqual(now);
  });
});
