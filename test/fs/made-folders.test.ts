import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { nodeFileSystem } from '../../src/fs/file-system.js';

/** Where a link is to lead that somebody puts in the place of each folder as soon as it is made. */
const swap = vi.hoisted(() => ({ target: undefined as string | undefined }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  const mkdirSync: typeof fs.mkdirSync = ((path: string, options: object) => {
    const made = fs.mkdirSync(path, options);
    if (swap.target !== undefined) {
      fs.rmdirSync(path);
      fs.symlinkSync(swap.target, path);
    }
    return made;
  }) as never;
  return { ...fs, mkdirSync };
});

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

let top: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'zs-made-'));
  mkdirSync(join(top, 'outside'), { mode: 0o755 });
});

afterEach(() => {
  swap.target = undefined;
  rmSync(top, { recursive: true, force: true });
});

describe('finding 14: a folder that is made', () => {
  test('given a link that is put in its place, then what it leads to keeps its mode', () => {
    swap.target = join(top, 'outside');

    expect(() => nodeFileSystem.mkdir(join(top, 'made'), 0o700)).toThrow(/ELOOP|ENOTDIR/);

    expect(modeOf(join(top, 'outside'))).toBe('755');
  });

  test.each([0o700, 0o755, 0o777, 0o311, 0o1777])('given the mode %o, then it has it, whatever the umask', (mode) => {
    const before = process.umask(0o077);
    try {
      nodeFileSystem.mkdir(join(top, 'made'), mode);
    } finally {
      process.umask(before);
    }

    expect(modeOf(join(top, 'made'))).toBe(mode.toString(8));
  });

  test('given the sources, then no mode is changed by a path', () => {
    const sources = fileURLToPath(new URL('../../src', import.meta.url));
    const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

    // `file.chmod` is that of an open file.
    const changing = names.filter((name) =>
      /(?<!file)(?<![a-z])\.?chmod(?:Sync)?\(/.test(
        readFileSync(join(sources, name), 'utf8').replaceAll('file.chmod(', ''),
      ),
    );

    expect(changing).toEqual([]);
  });
});
