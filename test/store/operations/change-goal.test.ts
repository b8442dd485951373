import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../../src/index.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const goal = { objective: 'o', status: 'active', tokenBudget: 100, createdAt: 'c', updatedAt: 'u', mood: 'hopeful' };

describe('changing a goal', () => {
  test('given members that we do not know, then they stay', async () => {
    const { store, id, text } = tempStore(aSession().withMetadata({ goal }));

    await store.updateGoal(id, 'paused', 'lunch');

    expect(JSON.parse(text('metadata.json')).goal).toMatchObject({ status: 'paused', mood: 'hopeful' });
  });

  test('given a log that cannot be written, then the goal is not set and can be tried again', async () => {
    const fileSystem = faultyFileSystem({ on: 'write', nth: 1, as: 'ENOSPC' });
    const { store, id } = tempStore(aSession().withMessages(1), { fileSystem });

    await expect(store.createGoal(id, 'o')).rejects.toMatchObject({ code: 'SYSTEM' });

    expect((await store.get(id))?.goal).toBeUndefined();
    expect((await store.createGoal(id, 'o')).event?.type).toBe('goal_created');
  });

  test('given metadata that cannot be written after the event, then the next command finds the goal', async () => {
    const fileSystem = faultyFileSystem({ on: 'rename', nth: 1, as: 'EIO' });
    const { store, id, warnings } = tempStore(aSession().withMessages(1), { fileSystem });

    await store.createGoal(id, 'o');
    const { session } = await store.pauseGoalIfActive(id, 'later');

    expect(warnings.map(({ code }) => code)).toContain('METADATA_NOT_WRITTEN');
    expect(session.goal).toMatchObject({ objective: 'o', status: 'paused' });
  });

  test('given use of tokens that changes no status, then no event is added and the session keeps its time', async () => {
    const { store, id, path } = tempStore(aSession().withMetadata({ goal }));
    const log = readFileSync(path('events.jsonl'));

    const { session, event } = await store.addGoalUsage(id, 7);

    expect(event).toBeNull();
    expect(session).toMatchObject({ updatedAt: '2026-07-09T11:00:00Z', goal: { tokensUsed: 7 } });
    expect(readFileSync(path('events.jsonl'))).toEqual(log);
  });

  test('given a goal that was cleared, then another can be created', async () => {
    const { store, id } = tempStore(aSession());
    await store.createGoal(id, 'one');

    await store.clearGoal(id);

    expect((await store.get(id))?.goal).toBeUndefined();
    expect((await store.createGoal(id, 'two')).session.goal?.objective).toBe('two');
  });

  test.each<[string, (store: SessionStore) => Promise<unknown>]>([
    ['a blank objective', (store) => store.createGoal('nobody', ' ')],
    ['a negative budget', (store) => store.editGoal('nobody', 'o', -1)],
    ['an unknown status', (store) => store.updateGoal('nobody', 'done')],
    ['a negative number of tokens', (store) => store.addGoalUsage('nobody', -1)],
  ])('given %s, then that is told before a session is looked for', async (_, change) => {
    const { store } = tempStore();

    await expect(change(store)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('given a malformed id and a blank objective, then the id is told', async () => {
    const { store } = tempStore();

    await expect(store.createGoal('a/b', ' ')).rejects.toMatchObject({ code: 'INVALID_ID' });
  });

  test('given a negative number of tokens, then it is refused', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ goal }));

    await expect(store.addGoalUsage(id, -1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
