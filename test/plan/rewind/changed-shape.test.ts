import { describe, expect, test } from 'vitest';
import type { FileState } from '../../../src/index.js';
import { parseBlobHash } from '../../../src/model/ids.js';
import { isInState, partUnmet, settleShapes, stagedBeside } from '../../../src/plan/rewind/changed-shape.js';
import type { FileChange, PresentState } from '../../../src/plan/rewind/file-change.js';
import { type TouchedFile, withMadeFolders, withNothingBelowFiles } from '../../../src/plan/rewind/rewind.js';

const hash = parseBlobHash('a'.repeat(64));
const stored: FileState = { kind: 'stored', blob: 'a'.repeat(64), hash, mode: 0o644, bytes: 1 };
const absent: FileState = { kind: 'absent', newDirs: 0 };
const aFile: PresentState = { kind: 'file', hash: hash as never, bytes: 1, mode: 0o644, mtimeMs: 0 };
const holding = (...holds: readonly string[]): PresentState => ({ kind: 'folder', holds });
const behind = (path: string): PresentState => ({ kind: 'absent', missingFolders: 1, behind: path });

function change(path: string, wanted: FileState, present: PresentState, parts: Partial<FileChange> = {}): FileChange {
  const action = wanted.kind === 'absent' ? 'delete' : 'restore';
  return { path, resolved: path, wanted, present, action, reason: '', ...parts };
}

const actions = (...files: readonly FileChange[]): readonly string[] =>
  settleShapes(files).map(({ action, reason }) => `${action} ${reason}`.trim());

describe('a file where a folder is now', () => {
  test('given that all in it goes, then it is restored', () => {
    expect(
      actions(change('a', stored, holding('a/b', 'a/c')), change('a/b', absent, aFile), change('a/c', absent, aFile)),
    ).toEqual(['restore is a folder now, and all in it goes', 'delete', 'delete']);
  });

  test('given something else in it, then it cannot be, and that is named', () => {
    expect(actions(change('a', stored, holding('a/b', 'a/mine')), change('a/b', absent, aFile))).toEqual([
      'impossible is a folder now, with "a/mine" in it',
      'delete',
    ]);
  });

  test('given that a file in it is to be there, then it cannot be', () => {
    expect(actions(change('a', stored, holding('a/b')), change('a/b', stored, aFile))[0]).toContain('impossible');
  });

  test('given that a file in it cannot be deleted, then it cannot be', () => {
    const files = [
      change('a', stored, holding('a/b')),
      change('a/b', absent, aFile, { action: 'impossible', reason: 'no' }),
    ];

    expect(actions(...files)).toEqual(['impossible is a folder now, with "a/b" in it', 'impossible no']);
  });

  test('given nothing in it, then somebody made it', () => {
    expect(actions(change('a', stored, holding()))).toEqual(['impossible is a folder now']);
  });

  test('given a file in it that somebody changed, then both are a conflict, and forced both go', () => {
    const files = [
      change('a', stored, holding('a/b')),
      change('a/b', absent, aFile, { action: 'conflict', forced: 'delete' }),
    ];

    expect(settleShapes(files)[0]).toMatchObject({ action: 'conflict', forced: 'restore' });
  });
});

describe('nothing where a folder is now', () => {
  const nothing = change('a', absent, holding('a/b'), { action: 'leave' });

  test('given that all in it goes, then it goes with that, and comes back as it was', () => {
    const files = withMadeFolders(settleShapes([nothing, change('a/b', absent, aFile)]));

    expect(files[0]).toMatchObject({ action: 'leave', reason: 'goes with what is in it' });
    expect(files[1]?.wanted).toEqual({ kind: 'absent', newDirs: 1 });
  });

  test('given that a file is to be in it, then it stays, whatever else is in it', () => {
    const files = withMadeFolders(settleShapes([nothing, change('a/b', stored, aFile), change('a/c', absent, aFile)]));

    expect(files[0]).toMatchObject({ action: 'leave', reason: 'was a folder then, too' });
    expect(files[2]?.wanted).toEqual(absent);
  });
});

describe('a file behind something that is no folder', () => {
  test('given that this is deleted, then it is restored', () => {
    expect(actions(change('d', absent, aFile), change('d/x', stored, behind('d')))).toEqual(['delete', 'restore']);
  });

  test.each([
    ['not in the plan', []],
    ['to stay', [change('d', stored, aFile, { action: 'leave' })]],
    ['impossible to delete', [change('d', absent, aFile, { action: 'impossible' })]],
  ])('given that this is %s, then it cannot be reached', (_, others) => {
    expect(actions(change('d/x', stored, behind('d')), ...others)[0]).toBe(
      'impossible cannot be reached: "d" is no folder',
    );
  });

  test('given that somebody changed this, then both are a conflict', () => {
    const files = [
      change('d', absent, aFile, { action: 'conflict', forced: 'delete' }),
      change('d/x', stored, behind('d')),
    ];

    expect(settleShapes(files)[1]).toMatchObject({ action: 'conflict', forced: 'restore' });
  });
});

test('of changes that need each other, those are left out whose other half is not among them', () => {
  const file = change('d/x', stored, behind('d'));
  const folder = change('a', stored, holding('a/b'));
  const plain = change('p', stored, aFile);

  expect(partUnmet([file, folder, plain])).toEqual({ met: [plain], unmet: [file, folder] });
  const all = [file, folder, plain, change('d', absent, aFile), change('a/b', absent, aFile)];
  expect(partUnmet(all)).toEqual({ met: all, unmet: [] });
});

test('a folder is how a path is while it is no file, where an intent has files below it', () => {
  expect(isInState(holding(), absent, true)).toBe(true);
  expect(isInState(holding(), stored, true)).toBe(false);
  expect(isInState(holding(), absent, false)).toBe(false);
});

test('new content is staged beside the outermost folder that is itself changed', () => {
  expect(stagedBeside('a/b/c', new Set(['a/b/c', 'a/b', 'a']))).toBe('a');
  expect(stagedBeside('a/b/c', new Set(['a/b/c', 'ab']))).toBe('a/b/c');
});

describe('what could not be looked at, below a file that the same checkpoint has', () => {
  const touched = (path: string, wanted: FileState, firstNamedAt = 1): TouchedFile => {
    return { path, resolved: path, wanted, later: [], firstNamedAt, lastNamedAt: firstNamedAt };
  };
  const kinds = (...files: readonly TouchedFile[]): readonly string[] =>
    withNothingBelowFiles(files).map(({ wanted }) => wanted.kind);
  const skipped: FileState = { kind: 'skipped', bytes: 0 };

  test('given that, then it was not there', () => {
    expect(kinds(touched('a', stored), touched('a/b/c', skipped))).toEqual(['stored', 'absent']);
  });

  test.each([
    ['a size', touched('a', stored), touched('a/b', { kind: 'skipped', bytes: 9 })],
    ['another checkpoint', touched('a', stored), touched('a/b', skipped, 2)],
    ['a link above it', touched('a', { kind: 'link', target: 'x' }), touched('a/b', skipped)],
    ['no file above it', touched('ab', stored), touched('a/b', skipped)],
  ])('given %s, then nobody knows', (_, above, below) => {
    expect(kinds(above, below)[1]).toBe('skipped');
  });
});
