import type { StoredEvent } from '../model/event.js';
import type { SessionMetadata } from '../model/metadata.js';
import type { StoreDeps } from './deps.js';

/** The session after a goal operation, and the event that it appended, or null. */
export interface GoalResult {
  readonly session: SessionMetadata;
  readonly event: StoredEvent | null;
}

export async function createGoal(
  _d: StoreDeps,
  _id: string,
  _objective: string,
  _tokenBudget: number,
): Promise<GoalResult> {
  throw new Error('stub');
}
export async function editGoal(
  _d: StoreDeps,
  _id: string,
  _objective: string,
  _tokenBudget: number,
): Promise<GoalResult> {
  throw new Error('stub');
}
export async function updateGoal(_d: StoreDeps, _id: string, _status: string, _reason: string): Promise<GoalResult> {
  throw new Error('stub');
}
export async function clearGoal(_d: StoreDeps, _id: string): Promise<GoalResult> {
  throw new Error('stub');
}
export async function addGoalUsage(_d: StoreDeps, _id: string, _tokens: number): Promise<GoalResult> {
  throw new Error('stub');
}
export async function pauseGoalIfActive(_d: StoreDeps, _id: string, _reason: string): Promise<GoalResult> {
  throw new Error('stub');
}
export async function reserveGoalContinuation(
  _d: StoreDeps,
  _id: string,
): Promise<GoalResult & { readonly reserved: boolean }> {
  throw new Error('stub');
}
export async function resetGoalContinuations(_d: StoreDeps, _id: string): Promise<SessionMetadata> {
  throw new Error('stub');
}
