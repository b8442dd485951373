import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SessionStore } from '../../src/store/session-store.js';
import { runCommandLine } from '../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

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
