import { InterruptedRewindError, StalePlanError, WorkspaceRefusedError } from '../../errors.js';
import type { RewindPlan } from '../../plan/rewind/rewind.js';

/**
 * Does what may be refused before there is a plan; the error then carries what could be seen of one.
 * @param seen - Plans as far as it can be seen what would be done.
 */
export async function tellingPlan<T>(
  work: () => T | Promise<T>,
  seen: () => RewindPlan | Promise<RewindPlan>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isRefusal(error)) error.plan ??= await planFor(error, seen);
    throw error;
  }
}

type Refusal = StalePlanError | WorkspaceRefusedError | InterruptedRewindError;

function isRefusal(error: unknown): error is Refusal {
  return (
    error instanceof StalePlanError || error instanceof WorkspaceRefusedError || error instanceof InterruptedRewindError
  );
}

async function planFor(error: Refusal, seen: () => RewindPlan | Promise<RewindPlan>): Promise<RewindPlan | undefined> {
  try {
    const plan = await seen();
    return error instanceof InterruptedRewindError ? { ...plan, complete: false } : plan;
  } catch {
    return undefined; // what is wrong has been said already
  }
}
