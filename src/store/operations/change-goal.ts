import { GoalExistsError, GoalNotFoundError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import type { Goal } from '../../model/goal.js';
import { parseSessionId } from '../../model/ids.js';
import { encodeRecord } from '../../model/json.js';
import type { SessionMetadata } from '../../model/metadata.js';
import {
  checkGoal,
  editedGoal,
  type GoalStep,
  goalAfterReservation,
  goalAfterUsage,
  goalPayload,
  goalWithoutContinuations,
  goalWithStatus,
  newGoal,
  parseGoalStatus,
  pausedGoal,
  requireCount,
} from '../../plan/goal.js';
import type { StoreDeps } from '../base/deps.js';
import type { LockedSession } from '../parts/locked-session.js';
import { withSession } from '../recovery/session-lock.js';

/** The session after a goal operation, and the event that it appended, or null. */
export interface GoalResult {
  readonly session: SessionMetadata;
  readonly event: StoredEvent | null;
}

/** What a goal is to be; a budget of 0 tokens is no limit. */
interface GoalWish {
  readonly objective: string;
  readonly tokenBudget: number;
}

/** Gives a session a goal (golden case v0.8/goal-lifecycle). */
export async function createGoal(
  deps: StoreDeps,
  sessionId: string,
  { objective, tokenBudget }: GoalWish,
): Promise<GoalResult> {
  parseSessionId(sessionId);
  checkGoal(objective, tokenBudget);
  return withSession(deps, sessionId, (session) => {
    const goal = newGoal(objective, tokenBudget, session.stamp());
    if (session.metadata.goal !== undefined) throw new GoalExistsError(session.id);
    return tell(session, 'goal_created', goal);
  });
}

export async function editGoal(
  deps: StoreDeps,
  sessionId: string,
  { objective, tokenBudget }: GoalWish,
): Promise<GoalResult> {
  parseSessionId(sessionId);
  checkGoal(objective, tokenBudget);
  return withSession(deps, sessionId, (session) =>
    tell(session, 'goal_updated', editedGoal(goalOf(session), objective, tokenBudget, session.stamp())),
  );
}

export async function updateGoal(
  deps: StoreDeps,
  sessionId: string,
  { status, reason }: { readonly status: string; readonly reason: string },
): Promise<GoalResult> {
  parseSessionId(sessionId);
  const wanted = parseGoalStatus(status);
  return withSession(deps, sessionId, (session) =>
    tell(session, 'goal_updated', goalWithStatus(goalOf(session), wanted, reason, session.stamp())),
  );
}

/** Takes the goal of a session away; the event holds what it was. */
export async function clearGoal(deps: StoreDeps, sessionId: string): Promise<GoalResult> {
  return withSession(deps, sessionId, (session) => tell(session, 'goal_cleared', goalOf(session)));
}

export async function addGoalUsage(deps: StoreDeps, sessionId: string, tokens: number): Promise<GoalResult> {
  parseSessionId(sessionId);
  const used = requireCount(tokens, 'tokens');
  return step(deps, sessionId, (goal, now) => goalAfterUsage(goal, used, now));
}

export async function pauseGoalIfActive(deps: StoreDeps, sessionId: string, reason: string): Promise<GoalResult> {
  return step(deps, sessionId, (goal, now) => pausedGoal(goal, reason, now));
}

export async function reserveGoalContinuation(
  deps: StoreDeps,
  sessionId: string,
): Promise<GoalResult & { readonly reserved: boolean }> {
  let reserved = false;
  const result = await step(deps, sessionId, (goal, now) => {
    const after = goalAfterReservation(goal, now);
    reserved = after.reserved;
    return after;
  });
  return { ...result, reserved };
}

export async function resetGoalContinuations(deps: StoreDeps, sessionId: string): Promise<SessionMetadata> {
  const reset = (goal: Goal, now: string) => ({ goal: goalWithoutContinuations(goal, now), isTold: false });
  return (await step(deps, sessionId, reset)).session;
}

/** Takes a step with the goal, if there is one; a change that no event tells of leaves `updatedAt` of the session. */
async function step(
  deps: StoreDeps,
  sessionId: string,
  take: (goal: Goal, now: string) => GoalStep,
): Promise<GoalResult> {
  return withSession(deps, sessionId, (session) => {
    const { goal } = session.metadata;
    if (goal === undefined) return { session: session.metadata, event: null };
    const after = take(goal, session.stamp());
    if (after.isTold) return tell(session, 'goal_updated', after.goal);
    return { session: session.updateMetadata({ goal: after.goal }), event: null };
  });
}

/** Appends the event first, then puts the goal into the metadata, or takes it out (FAULTS.md, 44). */
function tell(session: LockedSession, type: 'goal_created' | 'goal_updated' | 'goal_cleared', goal: Goal): GoalResult {
  const payload = encodeRecord(goalPayload(goal));
  const [event] = session.append([{ type, payload }], { goal: type === 'goal_cleared' ? undefined : goal });
  return { session: session.metadata, event: event ?? null };
}

function goalOf(session: LockedSession): Goal {
  const { goal } = session.metadata;
  if (goal === undefined) throw new GoalNotFoundError(session.id);
  return goal;
}
