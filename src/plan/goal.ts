import { InvalidArgumentError } from '../errors.js';
import { GOAL_MEMBERS, GOAL_STATUSES, type Goal, type GoalStatus } from '../model/goal.js';
import { trimSpace } from '../model/ids.js';
import { tidied } from '../model/metadata.js';
import { countCodePoints } from './event-preview.js';

/** What an operation makes of a goal: the same one when nothing changes, and whether an event tells of it. */
export interface GoalStep {
  readonly goal: Goal;
  readonly isTold: boolean;
}

const MOST_OBJECTIVE_CHARS = 4000;
const CONTINUATION_LIMIT = 20;
const OUT_OF_TOKENS = 'token budget reached';
const OUT_OF_CONTINUATIONS = 'automatic continuation limit reached';

/** Refuses a goal before a session is looked for. */
export function checkGoal(objective: string, tokenBudget: number): void {
  requireObjective(objective);
  requireCount(tokenBudget, 'tokenBudget');
}

/**
 * @param tokenBudget - 0 for none.
 * @throws InvalidArgumentError for a blank objective or one over 4,000 characters, and for a budget that is no count.
 */
export function newGoal(objective: string, tokenBudget: number, now: string): Goal {
  return {
    objective: requireObjective(objective),
    status: 'active',
    tokenBudget: requireCount(tokenBudget, 'tokenBudget'),
    continuationLimit: CONTINUATION_LIMIT,
    createdAt: now,
    updatedAt: now,
  };
}

/** Takes a goal up again, from whatever status, with no continuations used. One whose budget is used up stops. */
export function editedGoal(goal: Goal, objective: string, tokenBudget: number, now: string): Goal {
  const edited = startedAgain({
    ...goal,
    objective: requireObjective(objective),
    status: 'active',
    statusReason: '',
    tokenBudget: requireCount(tokenBudget, 'tokenBudget'),
    updatedAt: now,
  });
  return isOverBudget(edited) ? limited(edited) : edited;
}

/**
 * A goal that becomes active starts its count of continuations again.
 * @throws InvalidArgumentError for an unknown status, an active goal without tokens left, a change of a complete one.
 */
export function goalWithStatus(goal: Goal, status: string, reason: string, now: string): Goal {
  const wanted = parseGoalStatus(status);
  if (goal.status === 'complete' && wanted !== 'complete') {
    throw new InvalidArgumentError('status', 'The goal is complete', 'Clear it and create a new one.');
  }
  if (wanted === 'active' && isOverBudget(goal)) {
    const message = `The goal has used ${goal.tokensUsed} tokens of ${goal.tokenBudget}`;
    throw new InvalidArgumentError('status', message, 'Give it a larger budget first.');
  }
  const changed = { ...goal, status: wanted, statusReason: trimSpace(reason), updatedAt: now };
  return wanted === 'active' ? startedAgain(changed) : changed;
}

/** Each status has one spelling. */
export function parseGoalStatus(status: string): GoalStatus {
  const known = GOAL_STATUSES.find((word) => word === status);
  if (known !== undefined) return known;
  const hint = `Give one of: ${GOAL_STATUSES.join(', ')}.`;
  throw new InvalidArgumentError('status', `${JSON.stringify(status)} is no status of a goal`, hint);
}

/** An active goal that reaches its budget stops. */
export function goalAfterUsage(goal: Goal, tokens: number, now: string): GoalStep {
  if (tokens === 0) return { goal, isTold: false };
  const tokensUsed = Math.min(Number.MAX_SAFE_INTEGER, (goal.tokensUsed ?? 0) + tokens);
  const used = { ...goal, tokensUsed, updatedAt: now };
  return goal.status === 'active' && isOverBudget(used)
    ? { goal: limited(used), isTold: true }
    : { goal: used, isTold: false };
}

export function requireCount(count: number, argument: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidArgumentError(argument, `${argument} is ${count}; it is a whole number, 0 or more`);
}

export function pausedGoal(goal: Goal, reason: string, now: string): GoalStep {
  if (goal.status !== 'active') return { goal, isTold: false };
  return { goal: { ...goal, status: 'paused', statusReason: trimSpace(reason), updatedAt: now }, isTold: true };
}

/** An active goal at the limit of its continuations is paused instead. */
export function goalAfterReservation(goal: Goal, now: string): GoalStep & { readonly reserved: boolean } {
  if (goal.status !== 'active') return { goal, isTold: false, reserved: false };
  const continuationLimit = limitOf(goal);
  const count = goal.continuationCount ?? 0;
  if (count >= continuationLimit) {
    return { ...pausedGoal({ ...goal, continuationLimit }, OUT_OF_CONTINUATIONS, now), reserved: false };
  }
  const counted = { ...goal, continuationCount: count + 1, continuationLimit, updatedAt: now };
  return { goal: counted, isTold: false, reserved: true };
}

/** An active goal gets a count of 0 and a limit; the same goal when there is nothing to change. */
export function goalWithoutContinuations(goal: Goal, now: string): Goal {
  if (goal.status !== 'active') return goal;
  if ((goal.continuationCount ?? 0) === 0 && goal.continuationLimit === limitOf(goal)) return goal;
  return { ...startedAgain(goal), updatedAt: now };
}

/** A goal as the payload of an event: the members in their order, without those that are empty or 0. */
export function goalPayload(goal: Goal): Readonly<Record<string, unknown>> {
  const { exact: _exact, ...payload } = tidied({ ...goal }, GOAL_MEMBERS);
  return payload;
}

/** One that was stored without a limit gets the usual one. */
function startedAgain(goal: Goal): Goal {
  return { ...goal, continuationCount: 0, continuationLimit: limitOf(goal) };
}

function limitOf({ continuationLimit = 0 }: Goal): number {
  return continuationLimit > 0 ? continuationLimit : CONTINUATION_LIMIT;
}

function isOverBudget({ tokenBudget = 0, tokensUsed = 0 }: Goal): boolean {
  return tokenBudget > 0 && tokensUsed >= tokenBudget;
}

function limited(goal: Goal): Goal {
  return { ...goal, status: 'budget_limited', statusReason: OUT_OF_TOKENS };
}

function requireObjective(objective: string): string {
  const text = trimSpace(objective);
  if (text === '') throw new InvalidArgumentError('objective', 'A goal needs an objective');
  const length = countCodePoints(text);
  if (length <= MOST_OBJECTIVE_CHARS) return text;
  const message = `The objective has ${length} characters; ${MOST_OBJECTIVE_CHARS} are allowed`;
  throw new InvalidArgumentError('objective', message, 'Give a shorter one.');
}
