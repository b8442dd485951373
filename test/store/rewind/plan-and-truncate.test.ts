import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openStore } from '../../../src/index.js';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('planning a rewind and cutting the log', () => {
  test('given any rising sequences with gaps, then both keep the same events, and none comes twice after', async () => {
    const root = mkdtempSync(join(tmpdir(), 'zs-cut-'));
    const store = openStore({ root, locks: inProcessLocks });
    let runs = 0;
    const steps = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 });

    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (gaps, pick) => {
        runs += 1;
        const id = `s${runs}`;
        await store.create({ sessionId: id });
        const sequences = gaps.map((_, at) => gaps.slice(0, at + 1).reduce((sum, gap) => sum + gap, 0));
        writeFileSync(join(root, id, 'events.jsonl'), sequences.map((sequence) => lineOf(id, sequence)).join(''));
        const target = sequences[pick % sequences.length] as number;

        const plan = await store.planRewind(id, { targetSequence: target, keepTarget: true });
        await store.truncateEvents(id, target);
        const next = await store.appendEvent(id, { type: 'message' });

        const kept = (await store.readEvents(id)).slice(0, -1).map((event) => event.sequence);
        expect(kept).toEqual(plan.keptEvents.map((event) => event.sequence));
        expect(plan.keptCount + plan.droppedCount).toBe(sequences.length);
        expect(next.sequence).toBeGreaterThan(Math.max(...sequences));
      }),
      { numRuns: 60 },
    );
  });
});

describe('cutting a log behind its last event', () => {
  test('given a torn tail, then it is cut off and kept all the same', async () => {
    const { store, id, text, tree } = tempStore(aSession().withMessages(2).withTail('{"id":"s:3","se'));
    const whole = text('events.jsonl').replace('{"id":"s:3","se', '');

    await store.truncateEvents(id, 2);

    expect(text('events.jsonl')).toBe(whole);
    expect(tree().filter((path) => path.includes('.zs/torn/'))).toHaveLength(1);
  });

  test('given a log that is gone, then that is told and not taken for an empty one', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ eventCount: 2 }).withoutLog());

    await expect(store.truncateEvents(id, 2)).rejects.toMatchObject({ code: 'LOG_MISSING' });
  });
});

function lineOf(id: string, sequence: number): string {
  const event = {
    id: `${id}:${sequence}`,
    sessionId: id,
    sequence,
    type: 'message',
    createdAt: '2026-07-09T12:00:00Z',
  };
  return `${JSON.stringify(event)}\n`;
}
