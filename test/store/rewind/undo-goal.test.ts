import { describe, expect, test } from 'vitest';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

/** A goal with 700 tokens used and two continuations, which no event tells of, and an edit in front and behind it. */
async function counting(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ f: 'A' });
  await temp.say(); // 1
  await temp.tool({ f: 'B' }); // 2 to 4
  await temp.store.createGoal('s', 'reach it', 1000); // 5
  await temp.tool({ f: 'C' }); // 6 to 8
  await temp.store.addGoalUsage('s', 700);
  await temp.store.reserveGoalContinuation('s');
  await temp.store.reserveGoalContinuation('s');
  return temp;
}

describe('finding 10: going back and forth beside a goal', () => {
  const ways: readonly (readonly [string, (temp: TempWorkspace) => Promise<unknown>])[] = [
    ['a rewind behind its event', (temp) => temp.store.rewind('s', { target: 5 })],
    ['a restore', (temp) => temp.store.rewind('s', { target: 1, part: 'files' })],
    ['a bare restore', (temp) => temp.store.restoreToSequence('s', temp.workspace, 1)],
    ['a bare cut', (temp) => temp.store.truncateEvents('s', 5)],
  ];

  test.each(ways)('given %s and its undo, then the counts of the goal are what they were', async (_, goBack) => {
    const temp = await counting();
    const { goal } = (await temp.store.get('s')) ?? {};
    expect(goal).toMatchObject({ tokensUsed: 700, continuationCount: 2 });

    await goBack(temp);
    expect((await temp.store.get('s'))?.goal).toEqual(goal);
    await temp.store.undoRewind('s');
    expect((await temp.store.get('s'))?.goal).toEqual(goal);
    await temp.store.undoRewind('s');

    expect((await temp.store.get('s'))?.goal).toEqual(goal);
  });

  test('given a status that was set since, then that goes back, and what was used stays used', async () => {
    const temp = await counting();
    await temp.store.updateGoal('s', 'paused'); // 9
    await temp.store.addGoalUsage('s', 100);

    await temp.store.rewind('s', { target: 8 });
    expect((await temp.store.get('s'))?.goal).toMatchObject({
      status: 'active',
      tokensUsed: 800,
      continuationCount: 2,
    });
    await temp.store.undoRewind('s');

    expect((await temp.store.get('s'))?.goal).toMatchObject({
      status: 'paused',
      tokensUsed: 800,
      continuationCount: 2,
    });
  });
});
