import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../src/index.js';
import { GOAL_STATUSES, type Goal } from '../../src/model/goal.js';
import {
  editedGoal,
  goalAfterReservation,
  goalAfterUsage,
  goalPayload,
  goalWithoutContinuations,
  goalWithStatus,
  newGoal,
  pausedGoal,
} from '../../src/plan/goal.js';

const NOW = '2026-07-09T12:00:00Z';
const LATER = '2026-07-09T12:01:00Z';

function aGoal(parts: Partial<Goal> = {}): Goal {
  return { objective: 'ship it', status: 'active', continuationLimit: 20, createdAt: NOW, updatedAt: NOW, ...parts };
}

describe('a new goal', () => {
  test('given an objective of 4,000 characters, then it is taken, and one more is refused', () => {
    expect(newGoal('🚀'.repeat(4000), 0, NOW).status).toBe('active');
    expect(() => newGoal('🚀'.repeat(4001), 0, NOW)).toThrow(InvalidArgumentError);
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('given a budget of %d, then it is refused', (budget) => {
    expect(() => newGoal('x', budget, NOW)).toThrow(InvalidArgumentError);
  });
});

describe('a change of status', () => {
  test('given an active goal, then it can be paused with a reason and taken up again without', () => {
    const paused = goalWithStatus(aGoal({ continuationCount: 3 }), 'paused', ' lunch ', LATER);
    const active = goalWithStatus(paused, 'active', '', LATER);

    expect(paused).toMatchObject({ status: 'paused', statusReason: 'lunch', continuationCount: 3, updatedAt: LATER });
    expect(active).toMatchObject({ status: 'active', statusReason: '', continuationCount: 0 });
  });

  test('given a goal over its budget, then it cannot become active before the budget is raised', () => {
    const over = aGoal({ status: 'budget_limited', tokenBudget: 100, tokensUsed: 150 });

    expect(() => goalWithStatus(over, 'active', '', LATER)).toThrow(InvalidArgumentError);
    expect(() => goalWithStatus({ ...over, status: 'paused' }, 'active', '', LATER)).toThrow(InvalidArgumentError);
    expect(editedGoal(over, 'ship it', 200, LATER)).toMatchObject({ status: 'active', statusReason: '' });
  });

  test.each(GOAL_STATUSES.slice(0, -1))('given a complete goal, then it cannot become %s', (status) => {
    expect(() => goalWithStatus(aGoal({ status: 'complete' }), status, '', LATER)).toThrow(InvalidArgumentError);
  });

  test.each(GOAL_STATUSES)('finding 29: given the status %s, then a goal can have it', (status) => {
    expect(goalWithStatus(aGoal(), status, ' why ', LATER)).toMatchObject({ status, statusReason: 'why' });
  });

  test.each(['done', 'Paused', ' blocked ', 'budget-limited', ''])(
    'given %j, which is no status, then it is refused',
    (word) => {
      expect(() => goalWithStatus(aGoal(), word, '', LATER)).toThrow(InvalidArgumentError);
    },
  );
});

describe('an edit', () => {
  test('given a budget below what is used, then an active goal stops', () => {
    const edited = editedGoal(aGoal({ tokensUsed: 50 }), 'less', 50, LATER);

    expect(edited).toMatchObject({ status: 'budget_limited', statusReason: 'token budget reached' });
  });

  test.each(GOAL_STATUSES)('finding 29: given a goal that is %s, then it is taken up again', (status) => {
    const { continuationLimit: _, ...goal } = aGoal({ status, statusReason: 'r', continuationCount: 13 });

    expect(editedGoal(goal, 'more', 9, LATER)).toMatchObject({
      objective: 'more',
      status: 'active',
      statusReason: '',
      continuationCount: 0,
      continuationLimit: 20,
    });
  });

  test.each(GOAL_STATUSES)(
    'finding 29: given a goal that is %s and a budget that is used up, then it stops',
    (status) => {
      expect(editedGoal(aGoal({ status, tokensUsed: 9 }), 'more', 9, LATER).status).toBe('budget_limited');
    },
  );
});

describe('the use of tokens', () => {
  test('given the last token of the budget, then the goal stops and that is told', () => {
    const one = goalAfterUsage(aGoal({ tokenBudget: 10 }), 9, LATER);
    const two = goalAfterUsage(one.goal, 1, LATER);

    expect(one).toMatchObject({ isTold: false, goal: { status: 'active', tokensUsed: 9 } });
    expect(two).toMatchObject({ isTold: true, goal: { status: 'budget_limited', tokensUsed: 10 } });
  });

  test('given a paused goal, then tokens are counted and nothing is told', () => {
    const paused = aGoal({ status: 'paused', tokenBudget: 10 });

    expect(goalAfterUsage(paused, 11, LATER)).toMatchObject({
      isTold: false,
      goal: { status: 'paused', tokensUsed: 11 },
    });
  });

  test('given no tokens, then nothing changes', () => {
    const goal = aGoal();

    expect(goalAfterUsage(goal, 0, LATER).goal).toBe(goal);
  });

  test('given more than can be counted, then the count stays whole', () => {
    const { goal } = goalAfterUsage(aGoal({ tokensUsed: Number.MAX_SAFE_INTEGER }), 5, LATER);

    expect(goal.tokensUsed).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('automatic continuations', () => {
  test('given a count at the limit, then the goal is paused instead', () => {
    const last = goalAfterReservation(aGoal({ continuationCount: 19 }), LATER);
    const over = goalAfterReservation(last.goal, LATER);

    expect(last).toMatchObject({ reserved: true, isTold: false, goal: { continuationCount: 20 } });
    expect(over).toMatchObject({ reserved: false, isTold: true, goal: { status: 'paused', continuationCount: 20 } });
  });

  test('given a goal without a limit of its own, then twenty are allowed', () => {
    const { continuationLimit: _, ...goal } = aGoal({ continuationCount: 19 });

    expect(goalAfterReservation(goal, LATER)).toMatchObject({ reserved: true, goal: { continuationLimit: 20 } });
    expect(goalAfterReservation({ ...goal, continuationCount: 20 }, LATER).reserved).toBe(false);
  });

  test('finding 29: given an active goal without a limit, then a reset gives it one, once', () => {
    const { continuationLimit: _, ...goal } = aGoal();
    const reset = goalWithoutContinuations(goal, LATER);

    expect(reset).toMatchObject({ continuationLimit: 20, updatedAt: LATER });
    expect(goalWithoutContinuations(reset, LATER)).toBe(reset);
  });

  test('given a goal that is not active, then none is reserved, paused or reset', () => {
    const goal = aGoal({ status: 'complete', continuationCount: 2 });

    expect(goalAfterReservation(goal, LATER)).toEqual({ goal, isTold: false, reserved: false });
    expect(pausedGoal(goal, 'r', LATER)).toEqual({ goal, isTold: false });
    expect(goalWithoutContinuations(goal, LATER)).toBe(goal);
  });
});

describe('the payload of a goal event', () => {
  test('given empty members, then only those that are always there are written, in order', () => {
    const payload = goalPayload(aGoal({ statusReason: '', tokenBudget: 0, tokensUsed: 4 }));

    expect(Object.keys(payload)).toEqual([
      'objective',
      'status',
      'tokensUsed',
      'continuationLimit',
      'createdAt',
      'updatedAt',
    ]);
  });
});
