import { describe, expect, test } from 'vitest';
import type { FileState, StoredEvent } from '../../../src/index.js';
import { encodeIntent, type RewindIntent } from '../../../src/model/rewind-record.js';
import { leftStates, type UndoSources, workSince } from '../../../src/plan/rewind/undo.js';
import { hashBytes } from '../../../src/store/parts/blob-store.js';
import { aLog, type EventParts } from '../../support/stored-log.js';

const absent: FileState = { kind: 'absent', newDirs: 0 };
const text = (name: string): FileState => ({ kind: 'stored', blob: name, hash: undefined, mode: 0, bytes: 0 });

const checkpoint = (sequence: number, ...paths: readonly string[]): EventParts => ({
  sequence,
  type: 'session_checkpoint',
  payload: { tool: 'edit', files: paths.map((path) => ({ path, absent: true })) },
});

const marker = (sequence: number, payload: object): EventParts => ({ sequence, type: 'session_rewind', payload });

function intent(sequence: number, files: RewindIntent['files'], facts: Partial<RewindIntent> = {}): EventParts {
  const payload = encodeIntent({ id: 'R', sessionId: 's', target: 1, workspace: '/w', files, ...facts });
  return { sequence, type: 'session_checkpoint', payload: JSON.parse(Buffer.from(payload).toString()) };
}

const log = (...parts: readonly EventParts[]): readonly StoredEvent[] => aLog('s', parts);
const changeOf = (path: string, before: FileState, to: FileState) => ({ path, before, to });
const ownMarker = marker(6, { targetSequence: 1, rewindId: 'R' });

function since(
  kept: readonly StoredEvent[],
  later: readonly (readonly StoredEvent[])[],
  facts: Partial<UndoSources> = {},
) {
  return workSince({
    sessionId: 's',
    rewindId: 'R',
    isMarked: false,
    kept,
    later: later.map((events) => ({ events: () => events, left: () => [] })),
    isOlder: () => false,
    hash: hashBytes,
    ...facts,
  });
}

const sequencesOf = ({ work }: ReturnType<typeof workSince>): readonly number[] =>
  work.map(({ event }) => event.sequence);

describe('what was done since a rewind', () => {
  const kept = log(checkpoint(3, 'a'), intent(5, [changeOf('a', text('v1'), text('v0'))]));

  test('given nothing, then what its intent says', () => {
    expect(sequencesOf(since(kept, [log(ownMarker)]))).toEqual([5]);
  });

  test('given checkpoints of the present log and of later records, then each counts once, in the order of their numbers', () => {
    const made = [checkpoint(7, 'b'), checkpoint(9, 'a')];

    const found = since(kept, [
      log(ownMarker, ...made, intent(11, [])),
      log(ownMarker, ...made.slice(0, 1), checkpoint(13, 'c')),
    ]);

    expect(sequencesOf(found)).toEqual([5, 7, 9, 11, 13]);
  });

  test('given events of the kept log, or older ones that are back, then they did not happen since', () => {
    expect(sequencesOf(since(kept, [log(checkpoint(2, 'b'), checkpoint(3, 'a'), ownMarker)]))).toEqual([5]);
  });

  test('given a number that the intent had and that was free again, then the intent comes first', () => {
    const library = log(intent(5, [], { filesOnly: true }));

    expect(since(library, [log(checkpoint(5, 'b'))]).work.map(({ intent: found }) => found?.id)).toEqual([
      'R',
      undefined,
    ]);
  });

  test('given a cut, which has no intent, then what is new counts, unless an older record has it', () => {
    const cut = log(checkpoint(3, 'a'));
    const present = log(checkpoint(3, 'a'), checkpoint(7, 'b'));

    expect(sequencesOf(since(cut, [present]))).toEqual([7]);
    expect(sequencesOf(since(cut, [present], { isOlder: () => true }))).toEqual([]);
  });

  test('given a checkpoint that cannot be decoded, then it tells nothing', () => {
    const broken = { sequence: 8, type: 'session_checkpoint', payload: 'broken' };

    expect(sequencesOf(since(kept, [log(ownMarker, broken)]))).toEqual([5]);
  });
});

describe('whether all of it is known', () => {
  const kept = log(intent(5, [changeOf('a', text('v1'), text('v0'))]));
  const byZero = (report: object | undefined) => marker(7, { targetSequence: 1, ...(report && { report }) });
  const nothing = { targetSequence: 1, filesRestored: 0, filesDeleted: 0 };

  test.each([
    ['a file restored', { ...nothing, filesRestored: 1 }],
    ['a file deleted', { ...nothing, filesDeleted: 2 }],
    ['a file skipped', { ...nothing, skipped: ['x'] }],
    ['no report', undefined],
  ])('given a rewind of another program with %s, then it is not', (_, report) => {
    expect(since(kept, [log(ownMarker, byZero(report))]).doubt).toMatch('event 7');
  });

  test('given one that left the files, one of ours, or one from before, then it is', () => {
    expect(since(kept, [log(ownMarker, byZero(nothing))]).doubt).toBeUndefined();
    expect(since(kept, [log(ownMarker, marker(7, { rewindId: 'S' }))]).doubt).toBeUndefined();
    expect(
      since(log(byZero(undefined), intent(9, [])), [log(byZero(undefined), marker(10, { rewindId: 'R' }))]).doubt,
    ).toBeUndefined();
    expect(since(kept, [log(ownMarker, byZero(undefined))], { isOlder: () => true }).doubt).toBeUndefined();
  });

  test('given one that left the files, and a checkpoint of ours that went, then it is not, since one before it is hidden', () => {
    const later = (left: readonly EventParts[], there: readonly EventParts[]): UndoSources['later'][number] => ({
      events: () => log(...there),
      left: () => log(...left),
    });
    const [old, announced] = [checkpoint(3, 'a'), intent(5, [], { id: 'S' })];
    const doubtOf = (...logs: UndoSources['later']) => since(kept, [], { later: logs }).doubt;

    expect(doubtOf(later([old], [byZero(nothing)]))).toMatch('event 3');
    expect(doubtOf(later([old], [old, ownMarker]), later([old], [byZero(nothing)]))).toMatch('event 3');
    expect(doubtOf(later([old], [old, ownMarker]), later([], [byZero(nothing)]))).toBeUndefined();
    expect(doubtOf(later([old, announced], [old, byZero(nothing)]))).toBeUndefined();
    expect(doubtOf(later([old], [checkpoint(3, 'b'), byZero(nothing)]))).toMatch('event 3');
  });

  test('given that its marker is gone and nobody tells who took it, then it is not', () => {
    expect(since(kept, [log()]).doubt).toMatch('marker is gone');
    expect(since(kept, [log(byZero(nothing))]).doubt).toBeUndefined();
    expect(since(log(), [log()], { isMarked: true }).doubt).toMatch('marker is gone');
    expect(since(log(intent(5, [], { filesOnly: true })), [log()]).doubt).toBeUndefined();
    expect(since(log(intent(5, [], { id: 'taken back' })), [log()]).doubt).toBeUndefined();
  });
});

describe('what ours left at a path', () => {
  const first = intent(5, [changeOf('a', text('v2'), text('v1'))]);
  const second = intent(9, [changeOf('a', text('v1'), absent)], { id: 'S' });
  const stateAt = (path: string, ...later: readonly EventParts[]) =>
    leftStates(since(log(first), [log(ownMarker, ...later)]), (name) => name)(path);

  test('given two rewinds, then the last state, and all that they found or left', () => {
    expect(stateAt('a', second)).toEqual({
      last: absent,
      all: [text('v2'), text('v1'), text('v1'), absent],
      isToolsSince: false,
    });
  });

  test('given a tool that was at work on it since, then that is said', () => {
    expect(stateAt('a', checkpoint(7, 'a'))).toMatchObject({ last: text('v1'), isToolsSince: true });
    expect(stateAt('a', checkpoint(7, 'a'), second)).toMatchObject({ last: absent, isToolsSince: false });
    expect(stateAt('b', checkpoint(7, 'b'))).toEqual({ last: undefined, all: [], isToolsSince: true });
  });
});
