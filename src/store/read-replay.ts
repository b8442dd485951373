import type { StoredEvent } from '../model/event.js';
import { planReplay, replayStream } from '../plan/replay.js';
import type { StoreDeps } from './deps.js';
import { type ReadOptions, streamEvents } from './read-events.js';
import { openLog } from './read-session.js';

/**
 * Gives the events as a model should see them, as a stream: the log is read twice and never held.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`), LogDamagedError (`LOG_DAMAGED`)
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when the last compaction is malformed.
 * @see FORMAT.md, 4, rehydrate
 */
export async function* streamReplay(
  deps: StoreDeps,
  sessionId: string,
  options: Pick<ReadOptions, 'signal'> = {},
): AsyncGenerator<StoredEvent> {
  const plan = planReplay(openLog(deps, sessionId).outline(0));
  yield* replayStream(plan, streamEvents(deps, sessionId, options));
}
