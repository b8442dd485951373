import { describe, expect, test } from 'vitest';
import {
  openCallsAt,
  type PairingFact,
  pairCalls,
  pairingFact,
  wholeCutAfter,
  wholeCutBefore,
} from '../../src/plan/call-pairing.js';
import { aLog, type EventParts } from '../support/stored-log.js';

/** Gives facts as they are written down: `u` a turn, `c` a call, `r` a result, each with its id; the first is at 0. */
function facts(log: string): readonly PairingFact[] {
  return log.split(' ').map((word, at) => {
    if (word === 'u') return { kind: 'turn', at };
    return { kind: word.startsWith('c') ? 'call' : 'result', at, callId: word.slice(1), name: 'bash' };
  });
}

function pairsOf(log: string): readonly (readonly [call: number, ...results: number[]])[] {
  return pairCalls(facts(log)).calls.map(({ at, results }) => [at, ...results]);
}

describe('finding 23: calls and results are paired by occurrence within their turn', () => {
  test.each([
    [
      'given ids of their own',
      'u c1 r1 c2 r2',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    [
      'given calls side by side, then the order of their results does not matter',
      'u c1 c2 r2 r1',
      [
        [1, 4],
        [2, 3],
      ],
    ],
    [
      'given an id used again in each turn',
      'u c0 r0 u c0 r0',
      [
        [1, 2],
        [4, 5],
      ],
    ],
    ['given a call of an aborted run, then the next turn does not answer it', 'u c0 u c0 r0', [[1], [3, 4]]],
    [
      'given two parallel calls with one id, then the k-th result is that of the k-th call',
      'u c0 c0 r0 r0',
      [
        [1, 3],
        [2, 4],
      ],
    ],
    [
      'given an id used again within the turn',
      'u c0 r0 c0 r0',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['given a second result, then it belongs to the last call', 'u c0 r0 r0', [[1, 2, 3]]],
    [
      'given more results than parallel calls, then the surplus belongs to the last call',
      'u c0 c0 r0 r0 r0',
      [
        [1, 3],
        [2, 4, 5],
      ],
    ],
    [
      'given a second result and then the id again, then no result belongs to a call behind it',
      'u c0 r0 r0 c0 r0',
      [
        [1, 2, 3],
        [4, 5],
      ],
    ],
    [
      'given no id at all, then they are paired all the same',
      'u c r c r',
      [
        [1, 2],
        [3, 4],
      ],
    ],
    ['given no message of the user in front', 'c1 r1', [[0, 1]]],
  ])('%s', (_, log, pairs) => {
    expect(pairsOf(log)).toEqual(pairs);
  });

  test('given a result whose call is of another turn, or of another id, then no call is known for it', () => {
    expect(pairCalls(facts('u c0 u r0')).lostResults).toEqual([3]);
    expect(pairCalls(facts('u c0 r1')).lostResults).toEqual([2]);
  });

  test.each([
    ['tool_call', { id: 'a', name: 'bash' }],
    ['tool_call', { toolCallId: 'a', toolName: 'bash' }],
    ['tool_call', { id: 'b', toolCallId: 'a', name: 'bash', toolName: 'other' }],
    ['tool_call', { id: 'a', toolCallId: null, name: '', toolName: 'bash' }],
    ['tool_result', { toolCallId: 'a', name: 'bash' }],
    ['tool_result', { id: 'a', toolName: 'bash' }],
    ['tool_result', { id: 'b', toolCallId: 'a', name: 'bash', toolName: 'other' }],
  ])('given a %s with %j, then id and name are found', (type, payload) => {
    const kind = type === 'tool_call' ? 'call' : 'result';

    expect(fact({ type, payload })).toEqual({ kind, at: 7, callId: 'a', name: 'bash' });
  });

  test('given other events, then only a message of the user begins a turn', () => {
    expect(fact({ payload: { role: 'user', content: 'go' } })).toEqual({ kind: 'turn', at: 7 });
    expect(fact({ payload: { role: 'assistant', content: 'I go' } })).toBeUndefined();
    expect(fact({ type: 'permission', payload: { toolCallId: 'a', name: 'bash' } })).toBeUndefined();
    expect(fact({ type: 'tool_call' })).toEqual({ kind: 'call', at: 7, callId: '', name: '' });
  });
});

describe('finding 23: whole places', () => {
  test.each([
    ['given a place between turns', 'u c0 r0 u c0 r0', 3, [3, 3]],
    ['given one between a call and its result', 'u c0 r0 u c0 r0', 5, [4, 6]],
    ['given one between a result and its double', 'u c0 r0 r0 u', 3, [1, 4]],
    ['given calls that overlap, then it moves until none is parted', 'u c1 c2 r1 c3 r2 r3 u', 6, [1, 7]],
    ['given a call without a result, then it parts nothing', 'u c0 u', 2, [2, 2]],
  ])('%s', (_, log, cut, whole) => {
    const pairs = pairCalls(facts(log));

    expect([wholeCutBefore(pairs, cut), wholeCutAfter(pairs, cut)]).toEqual(whole);
  });

  test('given a place between a call and its results, then the call is open there', () => {
    const pairs = pairCalls(facts('u c1 c2 c3 r1 r2 r2 u'));

    expect(openCallsAt(pairs, 5).map(({ callId }) => callId)).toEqual(['2']);
    expect(openCallsAt(pairs, 6)).toEqual([]);
  });
});

function fact(parts: EventParts): PairingFact | undefined {
  const [event] = aLog('s', [parts]);
  return event === undefined ? undefined : pairingFact(event, 7);
}
