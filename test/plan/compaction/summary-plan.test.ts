import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../../src/index.js';
import { compactionPayloadFromPlan } from '../../../src/plan/compaction/compaction.js';
import { planReplay, replayEvents } from '../../../src/plan/compaction/replay.js';
import { eventsToShow, planSummary } from '../../../src/plan/compaction/summary-plan.js';
import { aLog, type EventParts, outlineOf } from '../../support/stored-log.js';

const said: EventParts = { payload: { role: 'user', content: 'go on' } };
const usage: EventParts = { type: 'provider_usage', payload: { totalTokens: 1 } };

function plan(log: readonly StoredEvent[], preserveLast: number) {
  return planSummary(outlineOf(log), preserveLast, () => log.toReversed());
}

/** Gives the log with the compaction of a plan for it at its end. */
function compacted(log: readonly StoredEvent[], preserveLast: number): readonly StoredEvent[] {
  const payload = compactionPayloadFromPlan('S', plan(log, preserveLast));
  const sequence = (log.at(-1)?.sequence ?? 0) + 1;
  return [...log, ...aLog('s', [{ sequence, type: 'session_compaction', payload }])];
}

function sequencesOf(events: readonly { readonly sequence: number }[]): readonly number[] {
  return events.map(({ sequence }) => sequence);
}

describe('finding 26: what a summary stands for', () => {
  test('given bookkeeping at the end, then what was said and done is counted, and the rest stays with it', () => {
    const log = aLog('s', [said, said, usage, said, usage, usage, usage]);

    expect(sequencesOf(plan(log, 1).preservedEvents)).toEqual([4, 5, 6, 7]);
    expect(sequencesOf(plan(log, 2).preservedEvents)).toEqual([2, 3, 4, 5, 6, 7]);
  });

  test('given no more than is to stay, then there is nothing to compact', () => {
    expect(plan(aLog('s', [usage, said, said]), 2).compactableCount).toBe(0);
  });

  test('given a compaction at the end, then the next one stands for it as well, and alone stays in the context', () => {
    const once = compacted(aLog('s', Array(9).fill(said)), 6);
    const twice = compacted(once, 1);
    const thrice = compacted([...twice, ...aLog('s', [{ sequence: 12 }])], 4);

    expect(sequencesOf(replayEvents(once))).toEqual([10, 4, 5, 6, 7, 8, 9]);
    expect(sequencesOf(replayEvents(twice))).toEqual([11, 9]);
    expect(sequencesOf(replayEvents(thrice))).toEqual([13, 7, 8, 9, 12]);
  });

  test('given an earlier summary among what stays, then it is through the event before the first that stays', () => {
    const once = compacted(aLog('s', Array(9).fill(said)), 6);

    const payload = compactionPayloadFromPlan('S', plan(once, 6));

    expect(payload).toMatchObject({ compactedThroughSequence: 3, compactedThroughEventId: 's:3' });
    expect(sequencesOf(payload.compactableEvents ?? [])).toEqual([1, 2, 3, 10]);
  });

  test('given an earlier summary, then it is shown first, and what it stands for is not shown again', () => {
    const log = [
      ...compacted(aLog('s', Array(9).fill(said)), 6),
      ...aLog(
        's',
        [11, 12].map((sequence) => ({ sequence })),
      ),
    ];
    const indexed = log.map((event, index) => [index, event] as const);

    const shown = eventsToShow(plan(log, 1), planReplay(outlineOf(log)), indexed);

    expect(sequencesOf([...shown])).toEqual([10, 4, 5, 6, 7, 8, 9, 11]);
  });
});

describe('finding 23: kept calls and results are whole', () => {
  test('given calls and results in any order, ids that come again, both spellings, then no result stays alone', () => {
    const id = fc.constantFrom('call_0', 'call_1', 'x');
    const called = fc.tuple(id, fc.boolean()).map(
      ([value, isOther]): EventParts => ({
        type: 'tool_call',
        payload: isOther ? { toolCallId: value, toolName: 'bash' } : { id: value, name: 'bash' },
      }),
    );
    const answered = fc.tuple(id, fc.boolean()).map(
      ([value, isOther]): EventParts => ({
        type: 'tool_result',
        payload: isOther ? { id: value, toolName: 'bash' } : { toolCallId: value, name: 'bash' },
      }),
    );
    const parts = fc.array(fc.oneof(fc.constant(said), called, called, answered, answered, fc.constant(usage)), {
      maxLength: 30,
    });

    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), (some, first, second) => {
        const log = aLog('s', some);
        const once = plan(log, first).compactableCount === 0 ? log : compacted(log, first);
        const { compactableCount, preservedEvents } = plan(once, second);
        if (compactableCount === 0) return;

        const kept = new Set(sequencesOf(preservedEvents));
        for (const [call, result] of pairsByCounting(once)) expect(kept.has(call)).toBe(kept.has(result));
      }),
      { numRuns: 400 },
    );
  });
});

/** Pairs calls and results as FORMAT.md words it, by counting in each turn, where no result comes before its call. */
function pairsByCounting(log: readonly StoredEvent[]): readonly (readonly [call: number, result: number])[] {
  const pairs: [number, number][] = [];
  let open = new Map<string, number[]>();
  let last = new Map<string, number>();
  for (const { type, sequence, payload } of log) {
    const told = payload === undefined ? {} : JSON.parse(Buffer.from(payload).toString());
    const id = told.toolCallId ?? told.id ?? '';
    if (type === 'message' && told.role === 'user') {
      open = new Map();
      last = new Map();
    } else if (type === 'tool_call') {
      open.set(id, [...(open.get(id) ?? []), sequence]);
      last.set(id, sequence);
    } else if (type === 'tool_result') {
      const [call = last.get(id), ...rest] = open.get(id) ?? [];
      open.set(id, rest);
      if (call !== undefined) pairs.push([call, sequence]);
    }
  }
  return pairs;
}
