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

/** Plans a compaction; of the payloads only those are decoded that the prompt has room for. */
export async function planSessionCompaction(
  deps: StoreDeps,
  sessionId: string,
  options: CompactionOptions,
): Promise<CompactionPlan> {
  const log = openLog(deps, sessionId);
  const outline = log.outline(0);
  return planCompaction(outline, replayOrAsLogged(deps, outline), options, () => log.newestFirst());
}

export async function recordCompaction(
  deps: StoreDeps,
  sessionId: string,
  { plan, summary }: { readonly plan: CompactionPlan; readonly summary: string },
): Promise<StoredEvent> {
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
