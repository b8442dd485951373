import { describe, expect, test } from 'vitest';
import { type CompactionPlan, parseRawJson, StalePlanError } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('planning a compaction', () => {
  test('given a plan, then nothing is written', async () => {
    const { store, id, text, tree } = tempStore(aSession().withMessages(9).withTail('{"torn'));
    const before = [text('events.jsonl'), text('metadata.json'), tree()];

    await store.planCompaction(id);

    expect([text('events.jsonl'), text('metadata.json'), tree()]).toEqual(before);
  });

  test('given a long log, then the newest covered events are in the prompt', async () => {
    const session = Array.from({ length: 3000 }).reduce<ReturnType<typeof aSession>>(
      (built, _, at) => built.withEvent({ sequence: at + 1, payload: `{"content":"${'x'.repeat(300)}${at + 1}"}` }),
      aSession(),
    );
    const { store, id } = tempStore(session);

    const { summaryPrompt, compactableCount } = await store.planCompaction(id);

    expect(compactableCount).toBe(2994);
    expect(summaryPrompt).toMatch(/\n- \[2994\] message x{100,}/);
  });

  test('given a last compaction that cannot be decoded, then the plan is made and the store warns', async () => {
    const broken = { type: 'session_compaction', payload: '{"summary":7}' };
    const { store, id, warnings } = tempStore(aSession().withMessages(9).withEvent(broken));

    expect((await store.planCompaction(id)).compactableCount).toBe(4);
    expect(warnings.map(({ code }) => code)).toEqual(['COMPACTION_UNREADABLE']);
  });

  test('given an unknown session, then it is an error', async () => {
    await expect(tempStore().store.planCompaction('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  });
});

describe('recording a compaction', () => {
  test('given a second one, then it stands for the first, too', async () => {
    const { store, id } = tempStore(aSession().withMessages(9));
    await store.recordCompaction(id, { plan: await store.planCompaction(id), summary: 'one' });
    await store.appendEvents(id, [aMessage(), aMessage()]);

    await store.recordCompaction(id, { plan: await store.planCompaction(id, { preserveLast: 1 }), summary: 'two' });
    const seen = await store.readRehydratedEvents(id);

    expect(seen.map(({ sequence }) => sequence)).toEqual([13, 12]);
    expect(seen[0]?.payload && parseRawJson(seen[0].payload)).toMatchObject({ summary: 'two', compactableCount: 11 });
  });

  test('given a plan whose events were rewound and their ids used again, then it is refused and nothing is written', async () => {
    const marker = { type: 'session_rewind', payload: '{"targetSequence":2}' };
    const planned = tempStore(aSession().withMessages(10));
    const plan = await planned.store.planCompaction('s', { preserveLast: 2 });
    const again = { createdAt: '2026-07-09T11:30:00Z' };
    const session = Array.from({ length: 7 }).reduce<ReturnType<typeof aSession>>(
      (built) => built.withEvent(again),
      aSession().withMessages(2).withEvent(marker),
    );
    const { store, id, text } = tempStore(session);
    const before = text('events.jsonl');

    await expect(store.recordCompaction(id, { plan, summary: 'old' })).rejects.toBeInstanceOf(StalePlanError);

    expect(text('events.jsonl')).toBe(before);
  });

  test('given a plan that came back through JSON, then it is recorded the same', async () => {
    const { store, id } = tempStore(aSession().withMessages(9));
    const plan = JSON.parse(JSON.stringify(await store.planCompaction(id))) as CompactionPlan;

    expect((await store.recordCompaction(id, { plan, summary: 'S' })).sequence).toBe(10);
  });
});
