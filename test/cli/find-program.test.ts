import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../src/cli/errors.js';
import { findProgram } from '../../src/cli/find-program.js';
import { FileNotFoundError } from '../../src/errors.js';

/** Makes a folder with these programs in it, and gives the path of a name. */
function programs(...names: readonly string[]): (name: string) => string {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'zs-path-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  for (const name of names) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), '#!/bin/sh\n');
    chmodSync(join(top, name), 0o755);
  }
  return (name) => join(top, name);
}

describe('a program to be started', () => {
  test('given a name, then it is the first on PATH that can be run', () => {
    const at = programs('a/zero', 'b/zero');
    chmodSync(at('a/zero'), 0o644);

    expect(findProgram('zero', { path: `${at('none')}:${at('a')}:${at('b')}`, untrusted: [] })).toBe(at('b/zero'));
  });

  test('given a folder of that name, then it is passed over', () => {
    const at = programs('a/zero/x', 'b/zero');

    expect(findProgram('zero', { path: `${at('a')}:${at('b')}`, untrusted: [] })).toBe(at('b/zero'));
  });

  test.each(['work', 'work/node_modules/.bin', 'link'])(
    'given %s first on PATH, then nothing is taken from the workspace',
    (first) => {
      const at = programs('work/zero', 'work/node_modules/.bin/zero', 'good/zero');
      symlinkSync(at('work'), at('link'));

      expect(findProgram('zero', { path: `${at(first)}:${at('good')}`, untrusted: [at('work')] })).toBe(
        at('good/zero'),
      );
      expect(() => findProgram('zero', { path: at(first), untrusted: [at('work')] })).toThrow(FileNotFoundError);
    },
  );

  test('given a link on PATH that leads into the workspace, then it is passed over', () => {
    const at = programs('work/evil', 'bin/other');
    symlinkSync(at('work/evil'), at('bin/zero'));

    expect(() => findProgram('zero', { path: at('bin'), untrusted: [at('work')] })).toThrow(FileNotFoundError);
  });

  test('given a workspace that is itself reached by a link, then it is the same one', () => {
    const at = programs('work/zero');
    symlinkSync(at('work'), at('link'));

    expect(() => findProgram('zero', { path: at('work'), untrusted: [at('link')] })).toThrow(FileNotFoundError);
  });

  test.each(['.', '', 'bin', './bin'])('given %j on PATH, which is relative, then it is passed over', (folder) => {
    expect(() => findProgram('sh', { path: `${folder}:`, untrusted: [] })).toThrow(FileNotFoundError);
  });

  test.each(['./zero', 'bin/zero', '../zero'])('given %s, which is relative, then it is refused', (name) => {
    expect(() => findProgram(name, { path: '/bin', untrusted: [] })).toThrow(UsageError);
  });

  test.each(['zero.cmd', 'zero.BAT', '/bin/zero.bat', 'zero.cmd. '])('given %j, then it is refused', (name) => {
    expect(() => findProgram(name, { path: '/bin', untrusted: [] })).toThrow(UsageError);
  });

  test('given an absolute path, then that is meant, wherever it is', () => {
    const at = programs('work/zero');

    expect(findProgram(at('work/zero'), { path: '', untrusted: [at('work')] })).toBe(at('work/zero'));
    expect(() => findProgram(at('work/none'), { path: '', untrusted: [] })).toThrow(FileNotFoundError);
  });
});
