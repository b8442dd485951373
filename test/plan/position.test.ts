import { describe, expect, test } from 'vitest';
import { EventNotFoundError, InvalidArgumentError, LogDamagedError, type StoredEvent } from '../../src/index.js';
import { BEFORE_FIRST, type PositionSource, parsePosition, resolvePosition } from '../../src/plan/position.js';
import { aLog, type EventParts, messages } from '../support/stored-log.js';

/** Gives a log as positions read it, and says how many events were read. */
function sourceOf(events: readonly StoredEvent[]): PositionSource & { readonly reads: () => number } {
  let reads = 0;
  function* counted(order: readonly StoredEvent[]): Generator<StoredEvent> {
    for (const event of order) {
      reads += 1;
      yield event;
    }
  }
  return {
    sessionId: 's',
    forwards: () => counted(events),
    backwards: () => counted(events.toReversed()),
    reads: () => reads,
  };
}

const find = (text: string, events: readonly StoredEvent[], options?: { readonly allowNone: boolean }) =>
  resolvePosition(parsePosition(text, options), sourceOf(events), options);

const checkpoint = (tool: string): EventParts => ({ type: 'session_checkpoint', payload: { tool, files: [] } });

describe('the text of a position', () => {
  test.each([
    ['12', { kind: 'sequence', sequence: 12 }],
    ['9007199254740991', { kind: 'sequence', sequence: 9007199254740991 }],
    ['s:12', { kind: 'event', id: 's:12' }],
    ['-2', { kind: 'before-last', after: 2 }],
    ['last-checkpoint', { kind: 'last-checkpoint' }],
  ])('given %s, then it is understood', (text, position) => {
    expect(parsePosition(text)).toEqual(position);
  });

  test('given 0, then it is a position only where before the first event can be meant', () => {
    expect(parsePosition('0', { allowNone: true })).toEqual({ kind: 'none' });
    expect(() => parsePosition('0')).toThrow(InvalidArgumentError);
  });

  test.each([
    ...['', ' ', ' 3 ', '3\n', '+3', '1e3', '0x10', '3.0', '012', '00', '-0', '--1', '-1.5', '९', 'NaN', 'last'],
    ...['9007199254740992', '-9007199254740992', 's:', 's:0', ':3', 's:3:4', 'a b:3', 'Last-Checkpoint', 's:-1'],
  ])('given %j, then it is wrong usage', (text) => {
    expect(() => parsePosition(text, { allowNone: true })).toThrow(InvalidArgumentError);
  });
});

describe('a sequence', () => {
  const log = aLog('s', [{ sequence: 2 }, { sequence: 3 }, { sequence: 7 }]);

  test('given one that is there, then it is that event', async () => {
    expect(await find('3', log)).toBe(3);
    expect(await find('7', log)).toBe(7);
  });

  test.each([
    ['in a gap', '5', [3, 7]],
    ['before the first', '1', [2]],
    ['beyond the end', '8', [7]],
  ])('given one %s, then it is not found, and the nearest are named', async (_, text, nearest) => {
    await expect(find(text, log)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', position: text, nearest });
  });

  test('given an empty log, then nothing is near', async () => {
    await expect(find('1', [])).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', nearest: [] });
  });

  test('given one that two events have, then it is damage', async () => {
    const twice = aLog('s', [{ sequence: 1 }, { sequence: 2 }, { sequence: 2 }]);

    await expect(find('2', twice)).rejects.toThrow(LogDamagedError);
    expect(await find('1', twice)).toBe(1);
  });

  test('given a long log, then it is read no further than one event beyond', async () => {
    const source = sourceOf(aLog('s', messages(100)));

    await resolvePosition(parsePosition('4'), source);

    expect(source.reads()).toBe(5);
  });
});

describe('an event id', () => {
  const log = aLog('s', [{ sequence: 1 }, { sequence: 4 }]);

  test('given one of this log, then it is that event', async () => {
    expect(await find('s:4', log)).toBe(4);
  });

  test('given one of this session that is not there, then the nearest are named', async () => {
    await expect(find('s:2', log)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', nearest: [1, 4] });
  });

  test('given one of another session, then it is not found, and nothing is near', async () => {
    await expect(find('p:4', log)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', nearest: [] });
  });

  test('given one that two events have, then it is damage', async () => {
    await expect(find('s:3', aLog('s', [{ sequence: 3 }, { sequence: 3 }]))).rejects.toThrow(LogDamagedError);
  });
});

describe('a position from the end', () => {
  const log = aLog('s', [{ sequence: 1 }, { sequence: 2 }, { sequence: 9 }]);

  test('given -N, then exactly N events come after it', async () => {
    expect(await find('-1', log)).toBe(2);
    expect(await find('-2', log)).toBe(1);
  });

  test('given one further back than the first, then it is not found', async () => {
    await expect(find('-3', log)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', position: '-3', nearest: [1] });
    await expect(find('-3', log, { allowNone: true })).rejects.toThrow(EventNotFoundError);
  });

  test('given a long log, then only its end is read', async () => {
    const source = sourceOf(aLog('s', messages(100)));

    expect(await resolvePosition(parsePosition('-2'), source)).toBe(98);
    expect(source.reads()).toBe(3);
  });
});

describe('last-checkpoint', () => {
  test('then it is the event just before the latest checkpoint', async () => {
    const log = aLog('s', [
      {},
      checkpoint('write_file'),
      {},
      { sequence: 7 },
      { ...checkpoint('edit'), sequence: 9 },
      {},
    ]);

    expect(await find('last-checkpoint', log)).toBe(7);
  });

  test('given later checkpoints of ours, then they do not count', async () => {
    const log = aLog('s', [{}, checkpoint('write_file'), {}, checkpoint('zero-sessions/rewind-intent')]);

    expect(await find('last-checkpoint', log)).toBe(1);
  });

  test('given one that cannot be decoded, then it counts', async () => {
    const log = aLog('s', [{}, {}, { type: 'session_checkpoint', payload: 5 }]);

    expect(await find('last-checkpoint', log)).toBe(2);
  });

  test('given one that is the first event, then it is before the first event where that can be', async () => {
    const log = aLog('s', [checkpoint('write_file'), {}]);

    expect(await find('last-checkpoint', log, { allowNone: true })).toBe(BEFORE_FIRST);
    await expect(find('last-checkpoint', log)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND', nearest: [1] });
  });

  test('given none, then it is not found', async () => {
    await expect(find('last-checkpoint', aLog('s', messages(3)), { allowNone: true })).rejects.toThrow(
      EventNotFoundError,
    );
  });
});

test('before the first event needs no log', async () => {
  expect(await find('0', [], { allowNone: true })).toBe(BEFORE_FIRST);
});
