import { lstatSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replaceWhole } from '../../src/fs/atomic-file.js';

describe('replacing a small file', () => {
  test('given an older one, then it has the new text and mode, and nothing lies beside it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zs-atomic-'));
    writeFileSync(join(folder, 'note'), 'old and longer', { mode: 0o644 });

    await replaceWhole(join(folder, 'note'), 'new', 0o600);

    expect(readFileSync(join(folder, 'note'), 'utf8')).toBe('new');
    expect(lstatSync(join(folder, 'note')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['note']);
  });

  test('given a link in its place, then what it leads to keeps its text', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'zs-atomic-'));
    writeFileSync(join(folder, 'private'), 'mine');
    symlinkSync('private', join(folder, 'note'));

    await replaceWhole(join(folder, 'note'), 'new', 0o600);

    expect(readFileSync(join(folder, 'private'), 'utf8')).toBe('mine');
    expect(lstatSync(join(folder, 'note')).isFile()).toBe(true);
  });
});
