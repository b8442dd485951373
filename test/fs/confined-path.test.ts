import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfinedRoot } from '../../src/fs/confined-path.js';
import { nodeFileSystem } from '../../src/fs/file-system.js';

/** root/d/e, root/file, root/in → d, root/out → outside, root/loop → loop, root/dangling → nowhere. */
function aRoot(): { readonly root: ConfinedRoot; readonly path: string; readonly outside: string } {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-confined-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [path, outside] = [join(top, 'root'), join(top, 'outside')];
  mkdirSync(join(path, 'd', 'e'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(path, 'file'), '');
  for (const [name, target] of [
    ['in', 'd'],
    ['out', outside],
    ['loop', 'loop'],
    ['dangling', 'nowhere'],
    ['up', '..'],
  ] as const)
    symlinkSync(target, join(path, name));
  return { root: new ConfinedRoot(nodeFileSystem, path), path, outside };
}

describe('where a path leads', () => {
  test.each([
    ['a', 'a', 0],
    ['./d//e/../a', 'd/a', 0],
    ['d/new/deep/a', 'd/new/deep/a', 2],
    ['in/a', 'd/a', 0],
    ['in/e/a', 'd/e/a', 0],
    ['out', 'out', 0],
    ['dangling', 'dangling', 0],
    ['x/../a', 'a', 0],
    [' a ', ' a ', 0],
    ['a\nb', 'a\nb', 0],
    ['d/', 'd', 0],
    ['../root/a', 'a', 0],
    ['d/../../root/d/new/../a', 'd/a', 0],
    ['../root/in/a', 'd/a', 0],
  ])('given %j, then inside at %j', (path, resolved, missingFolders) => {
    expect(aRoot().root.resolve(path)).toEqual({ kind: 'inside', path: resolved, missingFolders });
  });

  test.each([
    '..',
    '../a',
    '../rootx',
    '../outside/a',
    'd/../../a',
    '../../../../../../../../a',
    'out/a',
    'out/new/a',
    'up/a',
    '/etc/passwd',
    '/',
    'a\0',
  ])('given %j, then outside', (path) => {
    expect(aRoot().root.resolve(path)).toEqual({ kind: 'outside' });
  });

  test.each(['file/a', 'file/b/c', 'loop/a', 'dangling/a'])('given %j, then something is in the way', (path) => {
    expect(aRoot().root.resolve(path)).toEqual({ kind: 'blocked' });
  });

  test.each(['', '.', './', 'd/..', '../root', '../root/d/..'])('given %j, then it is the root itself', (path) => {
    expect(aRoot().root.resolve(path)).toEqual({ kind: 'root' });
  });

  test.each([
    ['../root/a.txt', 'a.txt'],
    ['../root/d/../new.txt', 'new.txt'],
    ['d/../../root/d/x', 'd/x'],
    ['../../../../../../../../..', undefined],
    ['../root-beside/a', undefined],
    ['../roo', undefined],
  ])('finding 30: given %j, which leaves the root as text, then where it leads decides', (path, inside) => {
    const { root } = aRoot();

    const found = root.resolve(path);

    expect(found).toMatchObject(inside === undefined ? { kind: 'outside' } : { kind: 'inside', path: inside });
  });

  test('given an absolute path inside, then it is its relative form; beside the root it is outside', () => {
    const { root, path } = aRoot();

    expect(root.resolve(`${path}/d/a`)).toEqual({ kind: 'inside', path: 'd/a', missingFolders: 0 });
    expect(root.resolve(`${path}-beside/a`)).toEqual({ kind: 'outside' });
    expect(root.resolve(path)).toEqual({ kind: 'root' });
  });

  test('given a root that is named by a link, then paths by either of its names are inside', () => {
    const { path } = aRoot();
    symlinkSync('root', `${path}-link`);
    const root = new ConfinedRoot(nodeFileSystem, `${path}-link`);

    const inside = { kind: 'inside', path: 'a', missingFolders: 0 };
    for (const text of ['a', '../root-link/a', '../root/a', `${path}/../root/a`, `${path}-link/d/../a`]) {
      expect(root.resolve(text)).toEqual(inside);
    }
  });
});

describe('working in a folder', () => {
  test.each(['out/a', 'in/a', 'loop/a', 'file/a'])(
    'given %j, then it is not entered, since it was resolved before',
    (path) => {
      const { root } = aRoot();

      expect(() => root.inFolderOf(path, () => 'entered')).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^(ELOOP|ENOTDIR)$/) }),
      );
    },
  );

  test('given a folder that is replaced meanwhile, then the work stays in the one that was opened', () => {
    const { root, path, outside } = aRoot();

    root.inFolderOf('d/a', (folder, name) => {
      renameSync(join(path, 'd'), join(path, 'moved'));
      symlinkSync(outside, join(path, 'd'));
      writeFileSync(`${folder.path}/${name}`, 'x');
    });

    expect(nodeFileSystem.readdir(outside)).toEqual([]);
    expect(nodeFileSystem.lstat(join(path, 'moved', 'a'))?.kind).toBe('file');
  });

  test('given folders that are missing, then they are made with their modes, or are nobody’s', () => {
    const { root, path } = aRoot();

    expect(root.inFolderOf('new/deep/a', () => 'entered')).toBeUndefined();
    root.makingFolderOf('new/deep/er/a', 0o755, [0o700, 0o750], () => {});

    expect(['new', 'new/deep', 'new/deep/er'].map((name) => nodeFileSystem.lstat(join(path, name))?.mode)).toEqual([
      0o755, 0o700, 0o750,
    ]);
  });
});
