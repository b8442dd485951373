import { describe, expect, test } from 'vitest';
import { settledTimes, type WorkEvent } from '../../src/plan/tool-work.js';

type Parts = Omit<WorkEvent, 'sequence' | 'createdAt'> & { readonly [name: string]: unknown };

/** Numbers the events from 1; the time of an event is its number. */
function times(...events: readonly Parts[]): Readonly<Record<number, string>> {
  const log = events.map(
    (event, at) => ({ sequence: at + 1, createdAt: `t${at + 1}`, ...event }) as unknown as WorkEvent,
  );
  return Object.fromEntries(settledTimes(log));
}

const call = (callId: string, name: string, ...mentions: string[]): Parts => ({ kind: 'call', callId, name, mentions });
const checkpoint = (tool: string, ...paths: string[]): Parts => ({ kind: 'checkpoint', tool, paths });
const result = (callId: string, name = ''): Parts => ({ kind: 'result', callId, name });
const other: Parts = { kind: 'other' };

describe('when the work of a checkpoint was done', () => {
  test('given call, checkpoint, permission and result, then at the result', () => {
    expect(times(call('1', 'write', 'a'), checkpoint('write', 'a'), other, result('1', 'write'), other)).toEqual({
      2: 't4',
    });
  });

  test('given no result, then at the event after the checkpoint', () => {
    expect(times(call('1', 'write', 'a'), checkpoint('write', 'a'), other, other)).toEqual({ 2: 't3' });
  });

  test('given nothing after it, then not yet', () => {
    expect(times(other, checkpoint('write', 'a'))).toEqual({});
  });

  test('given calls of one tool side by side, then each has its own result, whatever the order', () => {
    const log = [
      call('1', 'write', 'a'),
      call('2', 'write', 'b'),
      checkpoint('write', 'b'),
      checkpoint('write', 'a'),
      result('1'),
      other,
      result('2'),
    ];

    expect(times(...log)).toEqual({ 3: 't7', 4: 't5' });
  });

  test('given calls that do not tell their files, then the oldest is the first to have its checkpoint', () => {
    const log = [
      call('1', 'patch'),
      call('2', 'patch'),
      checkpoint('patch', 'a'),
      result('2'),
      checkpoint('patch', 'b'),
      result('1'),
    ];

    expect(times(...log)).toMatchObject({ 3: 't6' });
  });

  test('given an absolute path in the call, then it is that of the checkpoint', () => {
    const log = [
      call('1', 'write', '/w/b'),
      call('2', 'write', '/w/d/a'),
      checkpoint('write', 'd/a'),
      result('1'),
      result('2'),
    ];

    expect(times(...log)).toEqual({ 3: 't5' });
  });

  test('given one call with two checkpoints, then both are done with its result', () => {
    expect(
      times(call('1', 'write', 'a'), checkpoint('write', 'a'), checkpoint('write', 'a'), other, result('1')),
    ).toEqual({ 2: 't5', 3: 't5' });
  });

  test('given a result without a call, then it is that of the oldest checkpoint of its tool', () => {
    expect(times(checkpoint('write', 'a'), checkpoint('edit', 'b'), result('9', 'edit'), result('8', 'write'))).toEqual(
      { 1: 't4', 2: 't3' },
    );
  });

  test('given the result of a call that had no checkpoint, then it is nobody’s', () => {
    expect(times(call('1', 'bash'), checkpoint('write', 'a'), other, result('1', 'bash'))).toEqual({ 2: 't3' });
  });
});
