import { InvalidArgumentError } from '../errors.js';
import { GOAL_MEMBERS, GOAL_STATUSES, type Goal, type GoalStatus } from '../model/goal.js';
import { trimSpace } from '../model/ids.js';
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

/**
 * Checks what a goal is asked to be: so that it is refused before a session is looked for.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`), as {@link newGoal}.
 */
export function checkGoal(objective: string, tokenBudget: number): void {
  requireObjective(objective);
  requireCount(tokenBudget, 'tokenBudget');
}

/**
 * Gives a new, active goal.
 * @param tokenBudget - 0 for none.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for an objective that is blank or longer than 4,000 characters, and
 * for a budget that is no whole number of 0 or more.
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

/**
 * Gives a goal with another objective and budget, taken up again from whatever status: active, or stopped for its budget
 * where that is used up already; without a reason, with no continuations used, and with the usual limit if it has none.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`), as {@link newGoal}.
 * @see golden cases v0.8/goal-edit-every-status and v0.8/goal-edit-budget
 */
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
 * Gives a goal with another status. One that becomes active starts its count of continuations again.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for an unknown status, for an active goal without tokens left, and
 * for a complete one that is to be something else (FAULTS.md, 42).
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

/**
 * Gives a status of a goal as it is: there is one spelling of each.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for any other text.
 */
export function parseGoalStatus(status: string): GoalStatus {
  const known = GOAL_STATUSES.find((word) => word === status);
  if (known !== undefined) return known;
  const hint = `Give one of: ${GOAL_STATUSES.join(', ')}.`;
  throw new InvalidArgumentError('status', `${JSON.stringify(status)} is no status of a goal`, hint);
}

/** Gives a goal with so many more tokens used; an active one that reaches its budget stops. */
export function goalAfterUsage(goal: Goal, tokens: number, now: string): GoalStep {
  if (tokens === 0) return { goal, isTold: false };
  const tokensUsed = Math.min(Number.MAX_SAFE_INTEGER, (goal.tokensUsed ?? 0) + tokens);
  const used = { ...goal, tokensUsed, updatedAt: now };
  return goal.status === 'active' && isOverBudget(used)
    ? { goal: limited(used), isTold: true }
    : { goal: used, isTold: false };
}

/**
 * Gives a number of tokens as it is.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when it is no whole number of 0 or more.
 */
export function requireCount(count: number, argument: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new InvalidArgumentError(argument, `${argument} is ${count}; it is a whole number, 0 or more`);
}

/** Gives a goal paused, if it is active. */
export function pausedGoal(goal: Goal, reason: string, now: string): GoalStep {
  if (goal.status !== 'active') return { goal, isTold: false };
  return { goal: { ...goal, status: 'paused', statusReason: trimSpace(reason), updatedAt: now }, isTold: true };
}

/** Counts one automatic continuation of an active goal; at the limit it is paused instead. */
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

/**
 * Gives an active goal with its count of continuations at 0 and a limit; the same one when there is nothing to change.
 */
export function goalWithoutContinuations(goal: Goal, now: string): Goal {
  if (goal.status !== 'active') return goal;
  if ((goal.continuationCount ?? 0) === 0 && goal.continuationLimit === limitOf(goal)) return goal;
  return { ...startedAgain(goal), updatedAt: now };
}

/** Gives a goal as the payload of an event: the members in their order, without those that are empty or 0. */
export function goalPayload(goal: Goal): Readonly<Record<string, unknown>> {
  const payload: Record<string, unknown> = {};
  for (const [name, , always] of GOAL_MEMBERS as readonly (readonly [keyof Goal, string, string?])[]) {
    const value = goal[name];
    if (always !== undefined || (value !== undefined && value !== '' && value !== 0)) payload[name] = value ?? '';
  }
  return payload;
}

/** Gives a goal with no continuations used; one that was stored without a limit gets the usual one. */
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
