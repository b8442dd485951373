import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { identityOf, nodeFileSystem, sameFile } from '../../src/fs/file-system.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zs-file-system-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('finding 3: sameFile', () => {
  const one = { dev: 1n, ino: 2n ** 60n, birthNs: 7n };

  test.each([
    ['the same numbers', { ...one }, true],
    ['a neighbour, which as a double is equal', { ...one, ino: one.ino + 1n }, false],
    ['another device', { ...one, dev: 2n }, false],
    ['a file that got the number of one that is gone', { ...one, birthNs: 8n }, false],
    ['nothing', undefined, false],
  ])('given %s, then it says so', (_, other, expected) => {
    expect(sameFile(one, other)).toBe(expected);
  });

  test('given two absent files, then they are not the same', () => {
    expect(sameFile(undefined, undefined)).toBe(false);
  });

  test('given a hard link and a copy, then only the link is the same file, also after an append', () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'a');
    linkSync(path, join(folder, 'b'));
    writeFileSync(join(folder, 'c'), 'a');
    const before = nodeFileSystem.lstat(path);
    writeFileSync(path, 'more', { flag: 'a' });

    expect(sameFile(before, nodeFileSystem.lstat(join(folder, 'b')))).toBe(true);
    expect(sameFile(before, nodeFileSystem.lstat(join(folder, 'c')))).toBe(false);
  });

  test('given a number that Node hands out with a sign, then it is the one that the kernel writes', () => {
    const { ino } = identityOf({ dev: 1n, ino: -1n, birthtimeNs: 0n });

    expect(ino).toBe(2n ** 64n - 1n);
  });

  test('given sources, then inode numbers are compared in one place only', () => {
    const sources = fileURLToPath(new URL('../../src', import.meta.url));
    const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

    const comparing = names.filter((name) =>
      /(?<!typeof )\bino\b[^\n]*[!=]==/.test(readFileSync(join(sources, name), 'utf8')),
    );

    expect(comparing).toEqual([join('fs', 'file-system.ts')]);
  });
});

describe('lstat', () => {
  test('given a file, then its numbers are those that Node gives without bigint', () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'abc');
    const { size, mtimeMs, nlink, uid, gid, mode } = statSync(path);

    const found = nodeFileSystem.lstat(path);

    expect(found).toMatchObject({ kind: 'file', size, mtimeMs, nlink, uid, gid, mode: mode & 0o7777 });
    unlinkSync(path);
    expect(nodeFileSystem.lstat(path)).toBeUndefined();
  });
});
