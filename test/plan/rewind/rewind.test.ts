import { describe, expect, test } from 'vitest';
import type { FileState } from '../../../src/index.js';
import { parseBlobHash } from '../../../src/model/ids.js';
import type { FileChange, PresentState } from '../../../src/plan/rewind/file-change.js';
import {
  effectiveChanges,
  type FileFacts,
  outlineRewind,
  planFileChange,
  planRewind,
  touchedFiles,
  withMadeFolders,
} from '../../../src/plan/rewind/rewind.js';
import { aLog, messages, outlineOf } from '../../support/stored-log.js';

const HASH = parseBlobHash('a'.repeat(64));
const stored: FileState = { kind: 'stored', blob: 'a'.repeat(64), hash: HASH, mode: 0o644, bytes: 1 };
const absent: FileState = { kind: 'absent', newDirs: 0 };
const link: FileState = { kind: 'link', target: 'x' };
const skipped: FileState = { kind: 'skipped', bytes: 9 };
const file = (hash = 'b', mode = 0o644): PresentState => ({
  kind: 'file',
  hash: parseBlobHash(hash.repeat(64)) as never,
  bytes: 1,
  mode,
  mtimeMs: 0,
});
const BY_OTHER = { by: 'other', row: 5, reason: 'edited' } as const;
const isAbsent: PresentState = { kind: 'absent', missingFolders: 0 };

function plan(wanted: FileState, present: PresentState, facts: Partial<FileFacts> = {}): string {
  const change = planFileChange(
    { path: 'p', resolved: 'p', wanted, later: [], firstNamedAt: 1, lastNamedAt: 1 },
    { present, unavailable: undefined, unwritable: undefined, change: undefined, ...facts },
  );
  return change.forced === undefined ? change.action : `${change.action}, forced ${change.forced}`;
}

describe('what is done about a file', () => {
  test.each([
    ['stored, now other content', stored, file(), {}, 'restore'],
    ['stored, now gone', stored, isAbsent, {}, 'restore'],
    ['stored, now other mode', stored, file('a', 0o600), {}, 'restore'],
    ['stored, and so it is', stored, file('a'), {}, 'leave'],
    ['stored, now a link', stored, { kind: 'link', target: 'x', mtimeMs: 0 }, {}, 'conflict, forced restore'],
    ['stored, now a folder', stored, { kind: 'folder' }, {}, 'impossible'],
    ['stored, now a pipe', stored, { kind: 'special' }, {}, 'impossible'],
    ['stored, now unreadable', stored, { kind: 'unreadable', reason: 'EACCES' }, {}, 'impossible'],
    ['stored, now outside', stored, { kind: 'outside' }, {}, 'impossible'],
    ['stored, now blocked', stored, { kind: 'blocked' }, {}, 'impossible'],
    ['stored, blob gone', stored, file(), { unavailable: 'gone' }, 'impossible'],
    ['stored, folder read-only', stored, file(), { unwritable: 'read-only' }, 'impossible'],
    ['stored and there, folder read-only', stored, file('a'), { unwritable: 'read-only' }, 'leave'],
    ['stored, changed by somebody', stored, file(), { change: BY_OTHER }, 'conflict, forced restore'],
    ['absent, now there', absent, file(), {}, 'delete'],
    ['absent, now a link', absent, { kind: 'link', target: 'x', mtimeMs: 0 }, {}, 'delete'],
    ['absent, made by somebody', absent, file(), { change: BY_OTHER }, 'conflict, forced delete'],
    ['absent, now a folder', absent, { kind: 'folder' }, {}, 'impossible'],
    ['absent, and so it is', absent, isAbsent, {}, 'leave'],
    ['a link, now a file', link, file(), {}, 'restore'],
    ['a link, now another', link, { kind: 'link', target: 'y', mtimeMs: 0 }, {}, 'restore'],
    ['a link, and so it is', link, { kind: 'link', target: 'x', mtimeMs: 0 }, {}, 'leave'],
    ['not captured', skipped, file(), {}, 'impossible'],
  ] as const)('given %s, then %s', (_name, wanted, present, facts, expected) => {
    expect(plan(wanted, present, facts)).toBe(expected);
  });
});

describe('the files that checkpoints name', () => {
  test('given one under two names, then it is one, as its first entry has it', () => {
    const log = aLog('s', [
      { type: 'session_checkpoint', payload: { tool: 't', files: [{ path: 'a', absent: true }] } },
      { type: 'session_checkpoint', payload: { tool: 't', files: [{ path: './a', blob: 'a'.repeat(64) }] } },
    ]);

    const files = touchedFiles(log, (path) => path.replace('./', ''));

    expect(files).toMatchObject([
      { path: 'a', wanted: { kind: 'absent' }, later: [{ kind: 'stored' }], lastNamedAt: 2 },
    ]);
  });
});

describe('the folders that go with deleted files', () => {
  const deletion = (resolved: string, newDirs: number): FileChange => ({
    path: resolved,
    resolved,
    wanted: { kind: 'absent', newDirs },
    present: isAbsent,
    action: 'delete',
    reason: '',
  });
  const counts = (...files: FileChange[]): readonly number[] =>
    withMadeFolders(files).map(({ wanted }) => (wanted.kind === 'absent' ? wanted.newDirs : -1));

  test('given a file in a folder that was made for another, then the folder is its own, too', () => {
    expect(counts(deletion('d/e/first', 2), deletion('d/e/second', 0), deletion('d/other', 0))).toEqual([2, 2, 1]);
  });

  test('given a folder that was there, then it stays', () => {
    expect(counts(deletion('d/e/first', 1), deletion('d/other', 0), deletion('top', 0))).toEqual([1, 0, 0]);
  });
});

describe('a plan', () => {
  const outline = outlineOf(aLog('s', messages(4)));
  const conflict: FileChange = {
    path: 'a',
    resolved: 'a',
    wanted: stored,
    present: file(),
    action: 'conflict',
    reason: '',
    forced: 'restore',
  };

  test('given a target, then what comes after it is dropped', () => {
    expect(planRewind(outline, 2, true, [])).toMatchObject({
      head: 4,
      target: 2,
      targetEventId: 's:2',
      uncovered: [],
      openCalls: [],
      complete: true,
      dropped: [{ sequence: 3 }, { sequence: 4 }],
    });
    expect(planRewind(outline, 2, true, [], { part: 'files' }).dropped).toEqual([]);
  });

  test('given a conflict, then it is incomplete, and done by force alone', () => {
    const made = planRewind(outline, 2, true, [conflict]);

    expect(made.complete).toBe(false);
    expect(effectiveChanges(made, false)).toEqual([]);
    expect(effectiveChanges(made, true)).toMatchObject([{ path: 'a', action: 'restore' }]);
  });

  test('given a sequence and an id that do not agree, or nothing, then there is no plan', () => {
    expect(() => outlineRewind(outline, { targetSequence: 2, targetEventId: 's:3' })).toThrow(
      expect.objectContaining({ code: 'SELECTOR_MISMATCH' }),
    );
    expect(() => outlineRewind(outline, {})).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    expect(() => outlineRewind(outline, { targetSequence: 9 })).toThrow(
      expect.objectContaining({ code: 'EVENT_NOT_FOUND' }),
    );
  });
});
