import { WorkspaceRefusedError, type ZeroSessionsError } from '../../errors.js';
import type { RewindPlan } from '../../plan/rewind/rewind.js';
import type { EventLog } from '../parts/event-log.js';
import { findIntent, interruptedError } from '../recovery/interrupted-rewind.js';
import type { Workspace } from '../workspace/workspace.js';

/** A plan, the workspace that it is for, and what refuses it, if anything does. */
export interface PlannedRewind {
  readonly plan: RewindPlan;
  /** None where no file is named, or where none will do. */
  readonly workspace: Workspace | undefined;
  readonly refusal?: Refusal | undefined;
}

/** Makes the error of a refusal, which has the plan: undefined where none could be made. */
export type Refusal = (plan: RewindPlan | undefined) => ZeroSessionsError;

/** The plan, if nothing refuses it; else the refusal is thrown, with the plan. */
export function requireAllowed<Planned extends PlannedRewind>(planned: Planned): Planned {
  if (planned.refusal !== undefined) throw planned.refusal(planned.plan);
  return planned;
}

/** Plans what is refused already: where no plan can be made, only the refusal is said. */
export async function planRefused<Planned extends PlannedRewind>(
  refusal: Refusal,
  make: () => Planned | Promise<Planned>,
): Promise<Planned> {
  try {
    return { ...(await make()), refusal };
  } catch {
    throw refusal(undefined);
  }
}

/** Plans over a log; an unfinished rewind in it refuses the plan, which is made as if it were not there. */
export async function planUnlessInterrupted<Planned extends PlannedRewind>(
  log: EventLog,
  make: () => Planned | Promise<Planned>,
): Promise<Planned> {
  const found = findIntent(log);
  if (found === undefined) return make();
  return planRefused((plan) => interruptedError(found, { plan: incomplete(plan) }), make);
}

/** What is there will not stay as it is, so the plan is not all of it. */
export function incomplete(plan: RewindPlan | undefined): RewindPlan | undefined {
  return plan && { ...plan, complete: false };
}

/** The refusal that a workspace is, which is found before there is a plan. */
export function workspaceRefusal({ path, reason }: WorkspaceRefusedError): Refusal {
  return (plan) => new WorkspaceRefusedError(path, reason, plan);
}
