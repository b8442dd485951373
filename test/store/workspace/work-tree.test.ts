import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nodeFileSystem } from '../../../src/fs/file-system.js';
import { inWorkTreeOf } from '../../../src/store/workspace/work-tree.js';

/** Below a folder of its own: the files with these contents. */
function laid(files: Readonly<Record<string, string>>) {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-tree-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), text);
  }
  const at = (name: string): string => join(top, name);
  /** Of these folders, those that are meant from where one stands. */
  const meant = (from: string, folders: readonly string[], homes: readonly string[] = [], exact = false) => {
    const deps = { fs: nodeFileSystem, homes: homes.map(at), othersHomes: () => [] };
    const isMeant = inWorkTreeOf(deps, at(from), { exact });
    return folders.filter((name) => isMeant(at(name)));
  };
  return { at, meant };
}

const HEAD = 'ref: refs/heads/main\n';
const FOLDERS = ['.', 'repo', 'repo/src', 'repo/src/deep', 'repo/sub', 'repo/sub/x', 'repository', 'gone/repo'];

describe('the work tree of a folder', () => {
  const tree = { 'repo/.git/HEAD': HEAD, 'repo/src/deep/x': '', 'repo/sub/.git': 'gitdir: ../.git/modules/sub\n' };

  test('given a sub-folder, then all of the tree is meant, and what is beside it is not', () => {
    const { meant } = laid(tree);

    const all = ['repo', 'repo/src', 'repo/src/deep', 'repo/sub', 'repo/sub/x'];
    expect(meant('repo/src/deep', FOLDERS)).toEqual(all);
    expect(meant('repo', FOLDERS)).toEqual(all);
    expect(meant('repo/src', FOLDERS, [], true)).toEqual(['repo/src']);
  });

  test('given a linked tree or a submodule in it, then that is a tree of its own', () => {
    expect(laid(tree).meant('repo/sub', FOLDERS)).toEqual(['repo/sub', 'repo/sub/x']);
    expect(laid(tree).meant('repo/sub/new', FOLDERS)).toEqual(['repo/sub', 'repo/sub/x']);
  });

  test.each([
    ['no git folder', {}],
    ['a git folder without HEAD', { 'repo/.git/config': '' }],
    ['a file that leads nowhere', { 'repo/.git': 'hello' }],
    ['a bare repository', { 'repo/HEAD': HEAD, 'repo/refs/x': '' }],
  ])('given %s, then the folder itself and what is below it is meant', (_, files) => {
    const { meant } = laid({ 'repo/src/deep/x': '', ...files });

    expect(meant('repo/src', FOLDERS)).toEqual(['repo/src', 'repo/src/deep']);
  });

  test('given a home folder that is a repository, then it is no tree, and in it only that very folder is meant', () => {
    const { meant } = laid({ '.git/HEAD': HEAD, 'repo/src/deep/x': '' });

    expect(meant('repo/src', FOLDERS, ['.'])).toEqual(['repo/src', 'repo/src/deep']);
    expect(meant('.', FOLDERS, ['.'])).toEqual(['.']);
    expect(meant('repo', FOLDERS, ['repo/src'])).toEqual(['repo']);
  });

  test('given links, folders that are gone and other normal forms, then the real folder counts', () => {
    const { at, meant } = laid({ 'Cafe\u0301/.git/HEAD': HEAD, 'Cafe\u0301/src/x': '' });
    symlinkSync(at('Cafe\u0301'), at('link'));

    const names = ['link', 'link/gone/away', 'Cafe\u0301/src', 'Caf\u00e9/src', 'elsewhere'];
    expect(meant('link/src', names)).toEqual(['link', 'link/gone/away', 'Cafe\u0301/src', 'Caf\u00e9/src']);
  });

  test('given no recorded folder, or one that is no path, then it is not meant', () => {
    const isMeant = inWorkTreeOf({ fs: nodeFileSystem, homes: [], othersHomes: () => [] }, '/');

    expect([isMeant(undefined), isMeant(''), isMeant('work'), isMeant('/')]).toEqual([false, false, false, true]);
  });
});
