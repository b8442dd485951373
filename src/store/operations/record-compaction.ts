import type { StoredEvent } from '../../model/event.js';
import { givenOptions } from '../../model/given.js';
import { parseSessionId } from '../../model/ids.js';
import { encodeRecord } from '../../model/json.js';
import {
  type CompactionOptions,
  type CompactionPlan,
  compactionPayloadFromPlan,
  planCompaction,
  requireCurrent,
  requirePlanOf,
} from '../../plan/compaction/compaction.js';
import type { StoreDeps } from '../base/deps.js';
import { openLog } from '../parts/read-session.js';
import { replayOrAsLogged } from '../queries/read-replay.js';
import { withSession } from '../recovery/session-lock.js';

/**
 * Tells which events a summary would stand for, and gives the prompt for it. Takes no lock and changes nothing; of the
 * payloads only those are decoded that the prompt has room for.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`), LogDamagedError (`LOG_DAMAGED`)
 * @throws StalePlanError (`STALE_PLAN`) when the session was rewound while it was read.
 * @see FORMAT.md, 4, planCompaction
 */
export async function planSessionCompaction(
  deps: StoreDeps,
  sessionId: string,
  options: CompactionOptions,
): Promise<CompactionPlan> {
  const log = openLog(deps, sessionId);
  const outline = log.outline(0);
  return planCompaction(outline, replayOrAsLogged(deps, outline), options, () => log.newestFirst());
}

/**
 * Records a summary in place of the events of a plan.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) without a summary, or when the plan is empty or names no session.
 * @throws PlanMismatchError (`PLAN_MISMATCH`) when the plan is for another session.
 * @throws StalePlanError (`STALE_PLAN`) when its events are no longer in the log.
 * @see FORMAT.md, 4 and 5
 */
export async function recordCompaction(
  deps: StoreDeps,
  sessionId: string,
  input: { readonly plan: CompactionPlan; readonly summary: string },
): Promise<StoredEvent> {
  const { plan, summary } = input;
  givenOptions(plan, 'plan');
  const id = parseSessionId(sessionId);
  const payload = encodeRecord({ ...compactionPayloadFromPlan(summary, plan) });
  requirePlanOf(id, plan);
  return withSession(deps, id, (session) => {
    session.document(); // fails first where the metadata cannot be read
    requireCurrent(plan, session.log.events());
    const [event] = session.append([{ type: 'session_compaction', payload }]);
    return event as StoredEvent;
  });
}
