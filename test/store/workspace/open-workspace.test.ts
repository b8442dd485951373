import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { nodeFileSystem } from '../../../src/fs/file-system.js';
import { openStore, type StoreOptions } from '../../../src/index.js';
import { SessionStore } from '../../../src/store/session-store.js';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { runCommandLine } from '../../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

async function recordedIn(cwd: string | undefined): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'before' });
  await temp.say();
  await temp.tool({ a: 'after' });
  const metadata = JSON.parse(temp.text('metadata.json')) as Record<string, unknown>;
  const { cwd: _cwd, ...others } = metadata;
  writeFileSync(
    temp.path('metadata.json'),
    `${JSON.stringify(cwd === undefined ? others : { ...others, cwd }, null, 2)}\n`,
  );
  return temp;
}

const withHome = (temp: TempWorkspace, home: string): SessionStore => new SessionStore({ ...temp.deps, homes: [home] });

describe('the recorded folder (FORMAT.md, 5)', () => {
  test.each([
    ['/', () => '/', 'is the root of the file system'],
    ['a home folder', (temp: TempWorkspace) => temp.workspace, 'is a home folder'],
    ['a home folder through a link', (temp: TempWorkspace) => `${temp.outside}/link`, 'is a home folder'],
    ['a folder above one', (temp: TempWorkspace) => dirname(temp.workspace), 'is above a home folder'],
    ['the store', (temp: TempWorkspace) => temp.root, 'is in the store'],
    ['a session', (temp: TempWorkspace) => temp.path(), 'is in the store'],
    ['a folder that is gone', () => '/no/such/folder', 'is not there'],
    ['a file', (temp: TempWorkspace) => temp.path('metadata.json'), 'is not there'],
  ])(
    '56. FAULTS 18: given %s, then a rewind of files is refused, also where it is named',
    async (_name, cwdOf, reason) => {
      const temp = await recordedIn('placeholder');
      symlinkSync(temp.workspace, `${temp.outside}/link`);
      const cwd = cwdOf(temp);
      writeFileSync(temp.path('metadata.json'), temp.text('metadata.json').replace('placeholder', cwd));
      const store = withHome(temp, temp.workspace);
      const before = temp.everything();

      for (const workspace of [undefined, cwd]) {
        await expect(store.rewind('s', { target: 1, workspace })).rejects.toMatchObject({
          code: 'WORKSPACE_REFUSED',
          message: expect.stringContaining(reason),
        });
      }
      expect(temp.everything()).toEqual(before);
      await store.rewind('s', { target: 1, part: 'events' });
      expect(readFileSync(temp.at('a'), 'utf8')).toBe('after');
    },
  );

  test.each([
    [undefined, 'WORKSPACE_REFUSED'],
    ['relative/path', 'INVALID_ARGUMENT'],
    ['.', 'INVALID_ARGUMENT'],
  ])('56. given %j as recorded, then one must be named', async (cwd, code) => {
    const temp = await recordedIn(cwd);

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code });
    await temp.store.rewind('s', { target: 1, workspace: temp.workspace });

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('before');
  });

  test.each(['', ' ', 'workspace', './x'])(
    '56. FAULTS 18: given the named workspace %j, then it is refused',
    async (workspace) => {
      const temp = await recordedIn(undefined);

      await expect(temp.store.rewind('s', { target: 1, workspace })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      });
      await expect(temp.store.applyRewind('s', workspace, 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      await expect(temp.store.restoreToSequence('s', workspace, 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    },
  );

  test.each([
    ['/', () => '/'],
    ['$HOME', (temp: TempWorkspace) => temp.workspace],
    ['a folder above $HOME', (temp: TempWorkspace) => dirname(temp.workspace)],
    ['the store', (temp: TempWorkspace) => temp.root],
    ['nothing', () => undefined],
  ])(
    '56. given %s as recorded, then the program refuses a rewind, and takes a folder that is named',
    async (_, cwdOf) => {
      const temp = await recordedIn('placeholder');
      const cwd = cwdOf(temp);
      const { cwd: _cwd, ...others } = JSON.parse(temp.text('metadata.json')) as Record<string, unknown>;
      writeFileSync(temp.path('metadata.json'), JSON.stringify(cwd === undefined ? others : { ...others, cwd }));
      const elsewhere = join(temp.outside, 'project');
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, 'a'), 'after');
      const env = { HOME: temp.workspace };
      const rewind = (...flags: readonly string[]) =>
        runCommandLine(['rewind', 's', '--to', '1', ...flags], { root: temp.root, env, cwd: temp.workspace });
      const before = temp.everything();

      for (const flags of [[], ['--force'], ['--allow-partial', '--force'], ['--files-only'], ['--dry-run']]) {
        expect([flags, (await rewind(...flags)).code]).toEqual([flags, 6]);
      }
      expect(temp.everything()).toEqual(before);
      const { code } = await rewind('--workspace', elsewhere, '--force');

      expect([code, readFileSync(join(elsewhere, 'a'), 'utf8')]).toEqual([0, 'before']);
      expect(temp.files()).toEqual((before as { files: unknown }).files);
    },
  );

  test('given a project that moved, then naming where it is now is enough', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'before' });
    await temp.say();
    await temp.tool({ a: 'after' });
    const moved = join(dirname(temp.workspace), 'moved');
    renameSync(temp.workspace, moved);

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.rewind('s', { target: 1, workspace: moved });

    expect(readFileSync(join(moved, 'a'), 'utf8')).toBe('before');
  });

  test('56. FAULTS 18: given another project, then force is needed', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({ a: 'after' });
    const other = join(dirname(temp.workspace), 'other');
    mkdirSync(other);

    await expect(temp.store.rewind('s', { target: 1, workspace: other })).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
    });
    await expect(temp.store.applyRewind('s', other, 1)).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.rewind('s', { target: 1, workspace: other, force: true });
  });
});

/** A machine with these accounts, and a store on it that is opened as a library does. */
function storeAmong(temp: TempWorkspace, accounts: string, options: StoreOptions = {}): SessionStore {
  const file = join(temp.outside, 'passwd');
  writeFileSync(file, accounts);
  const realpath = (path: string): string => nodeFileSystem.realpath(path === '/etc/passwd' ? file : path);
  return openStore({
    root: temp.root,
    fileSystem: { ...nodeFileSystem, realpath },
    locks: inProcessLocks,
    ...options,
  });
}

describe('finding 12: a home folder', () => {
  const OWNER = process.getuid?.() ?? 0;

  test.each([
    ['somebody who can log in', 'x:1000:1000:::/bin/bash', {}, 'is a home folder'],
    ['somebody whose shell is the default one', 'x:1234:1000:::', {}, 'is a home folder'],
    ['another root', 'x:0:0:::/bin/sh', {}, 'is a home folder'],
    ['the owner of the store, whatever the shell', `x:${OWNER}:1:::/usr/sbin/nologin`, {}, 'is a home folder'],
    ['who became root by sudo', 'x:333:333:::/usr/sbin/nologin', { SUDO_UID: '333' }, 'is a home folder'],
    ['who became root by pkexec', 'x:333:333:::/usr/sbin/nologin', { PKEXEC_UID: '333' }, 'is a home folder'],
  ])('given that of %s, then no environment makes it a workspace', async (_, account, env, reason) => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    const [name, , uid, gid, , , shell] = `u:${account}`.split(':');
    const store = storeAmong(temp, `${name}:x:${uid}:${gid}::${temp.workspace}:${shell}\n`, { env });
    const before = temp.everything();

    await expect(store.rewind('s', { target: 1 })).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
      message: expect.stringContaining(reason),
    });

    expect(temp.everything()).toEqual(before);
  });

  test.each([
    ['a service', 'u:x:333:333::HOME:/bin/bash'],
    ['an account that nobody logs in to', 'u:x:2000:2000::HOME:/usr/sbin/nologin'],
    ['an account that is switched off', 'u:x:2000:2000::HOME:/bin/false'],
    ['nobody at all', '# a comment\n\nu:x:broken\n+::::::'],
  ])('given that of %s, then it is a folder like any other', async (_, accounts) => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);

    await storeAmong(temp, accounts.replace('HOME', temp.workspace)).rewind('s', { target: 1 });

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('before');
  });

  test.each(['/', '/home', '/root', '/Users', userInfo().homedir].filter(existsSync))(
    'given %s and an environment that says nothing, or something else, then a library refuses it',
    async (cwd) => {
      const temp = await recordedIn('placeholder');
      recordCwd(temp, cwd);

      for (const env of [undefined, {}, { HOME: '' }, { HOME: ' ' }, { HOME: temp.outside }]) {
        const store = openStore({ root: temp.root, ...(env === undefined ? {} : { env }) });
        await expect(store.previewRewind('s', { target: 1 })).rejects.toMatchObject({
          code: 'WORKSPACE_REFUSED',
          message: expect.stringMatching(/is (?:above )?a home folder|is the root of the file system/),
        });
      }
    },
  );

  test('given a list of accounts that is not there, then the others are known all the same', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    const realpath = (path: string): string => nodeFileSystem.realpath(path === '/etc/passwd' ? '/no/such' : path);
    const fileSystem = { ...nodeFileSystem, realpath };
    const store = openStore({ root: temp.root, fileSystem, env: { HOME: temp.workspace } });

    await expect(store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
  });
});

describe('finding 13: a recorded folder that is there and empty', () => {
  test.each([
    ['a rewind', (store: SessionStore) => store.rewind('s', { target: 1, force: true, allowPartial: true })],
    ['a restore', (store: SessionStore) => store.rewind('s', { target: 1, part: 'files' })],
    ['a plan', (store: SessionStore) => store.previewRewind('s', { target: 1 })],
  ] as const)('given %s that would put something into it, then it is refused', async (_, act) => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    temp.put({ a: null });
    const before = temp.everything();

    await expect(act(temp.store)).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
      message: expect.stringContaining('is empty: is its volume mounted?'),
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given an undo, then it is refused, too', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    await temp.store.rewind('s', { target: 1 });
    temp.put({ a: null });

    await expect(temp.store.undoRewind('s', { force: true })).rejects.toMatchObject({
      message: expect.stringContaining('is empty'),
    });
  });

  test('given that it is named, then the files come back', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    temp.put({ a: null });

    await temp.store.rewind('s', { target: 1, workspace: temp.workspace });

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('before');
  });

  test('given nothing that would be put into it, then the rewind is done', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({ a: 'made' });
    temp.put({ a: null });

    await temp.store.rewind('s', { target: 1 });

    expect(temp.sequences()).toHaveLength(2);
  });

  test('given that a rewind emptied it, then an undo brings all of it back', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({ a: 'made' });
    await temp.store.rewind('s', { target: 1 });
    expect(readdirSync(temp.workspace)).toEqual([]);

    await temp.store.undoRewind('s');

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('made');
  });
});

describe('finding 1: what a store says about folders', () => {
  test('given a plan, then it has the folder that it is for, without links', async () => {
    const temp = await recordedIn('placeholder');
    symlinkSync(temp.workspace, join(temp.outside, 'link'));
    recordCwd(temp, join(temp.outside, 'link'));

    const { workspace } = await temp.store.previewRewind('s', { target: 1 });
    await temp.store.rewind('s', { target: 1 });
    const undo = await temp.store.previewUndo('s');

    expect([workspace, undo.workspace]).toEqual([temp.workspace, temp.workspace]);
  });

  test('given a kept record that names another folder, then an undo is refused until it is named', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    const other = join(dirname(temp.workspace), 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'a'), 'after');
    await temp.store.rewind('s', { target: 1, workspace: other, force: true });
    const before = readFileSync(join(other, 'a'), 'utf8');

    for (const force of [false, true]) {
      await expect(temp.store.undoRewind('s', { force })).rejects.toMatchObject({
        code: 'WORKSPACE_REFUSED',
        path: other,
      });
    }
    expect([before, readFileSync(join(other, 'a'), 'utf8')]).toEqual(['before', 'before']);

    await temp.store.undoRewind('s', { workspace: other });

    expect(readFileSync(join(other, 'a'), 'utf8')).toBe('after');
  });

  test('given a rewind before a project moved, then it is undone where it is now', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    await temp.store.rewind('s', { target: 1 });
    const moved = join(dirname(temp.workspace), 'moved');
    renameSync(temp.workspace, moved);

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.undoRewind('s', { workspace: moved });

    expect(readFileSync(join(moved, 'a'), 'utf8')).toBe('after');
  });

  test('given an imported session, then it has no workspace until one is named', async () => {
    const temp = await recordedIn('placeholder');
    recordCwd(temp, temp.workspace);
    const metadata = JSON.parse(temp.text('metadata.json')) as object;
    writeFileSync(temp.path('metadata.json'), JSON.stringify({ ...metadata, tag: 'imported:claude:1' }));

    await expect(temp.store.rewind('s', { target: 1 })).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.rewind('s', { target: 1, workspace: temp.workspace });
    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.undoRewind('s', { workspace: temp.workspace });

    expect(readFileSync(temp.at('a'), 'utf8')).toBe('after');
  });
});

function recordCwd(temp: TempWorkspace, cwd: string): void {
  const metadata = JSON.parse(temp.text('metadata.json')) as object;
  writeFileSync(temp.path('metadata.json'), JSON.stringify({ ...metadata, cwd }));
}
