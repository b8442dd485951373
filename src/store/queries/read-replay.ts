import { PayloadDamagedError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import type { LogOutline } from '../../model/log-outline.js';
import { planAsLogged, planReplay, type ReplayPlan, replayed, replayStream } from '../../plan/compaction/replay.js';
import { shownInPrompt } from '../../plan/exec-prompt.js';
import type { StoreDeps } from '../base/deps.js';
import { orStoreError } from '../base/system-errors.js';
import type { EventLog } from '../parts/event-log.js';
import { openLog } from '../parts/read-session.js';
import { type ReadOptions, streamEvents } from './read-events.js';

/** Streams the events as a model should see them: the log is read twice and never held. */
export async function* streamReplay(
  deps: StoreDeps,
  sessionId: string,
  options: Pick<ReadOptions, 'signal'> = {},
): AsyncGenerator<StoredEvent> {
  const plan = orStoreError(() => planReplay(openLog(deps, sessionId).outline(0)));
  yield* replayStream(plan, streamEvents(deps, sessionId, options));
}

/** What a run is told of a session. */
export interface ExecContext {
  /** How many events a model sees of the session. */
  readonly count: number;
  /** Those that the prompt shows, oldest first. */
  readonly shown: readonly StoredEvent[];
}

/** The context that `prepareExec` gives, less the events that a prompt does not show: for a log of any length. */
export function readExecContext(deps: StoreDeps, sessionId: string): ExecContext {
  const log = openLog(deps, sessionId);
  const outline = log.outline(0);
  const plan = replayOrAsLogged(deps, outline);
  const wanted = shownInPrompt(replayed(plan, outline.events)).map(({ sequence }) => sequence);
  const found = newestWithSequences(log, new Set(wanted), plan.compaction);
  return { count: plan.count, shown: wanted.flatMap((sequence) => found.get(sequence) ?? []) };
}

/** Plans what a model sees: the log as it is where its last compaction cannot be decoded. */
export function replayOrAsLogged(deps: StoreDeps, outline: LogOutline): ReplayPlan {
  return orAsLogged({ deps, sessionId: outline.sessionId }, () => planReplay(outline)) ?? planAsLogged(outline);
}

/** Does what needs the last compaction of a session; undefined, with a warning, where that cannot be decoded. */
export function orAsLogged<T>(
  { deps, sessionId }: { readonly deps: StoreDeps; readonly sessionId: string },
  work: () => T,
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PayloadDamagedError)) throw error;
    const message = `${error.message}; the context is the events as logged`;
    deps.warn({ code: 'COMPACTION_UNREADABLE', sessionId, message });
    return undefined;
  }
}

// Reads from the end of the log only as far as it must; the compaction, which may be far away, is at hand.
function newestWithSequences(
  log: EventLog,
  wanted: ReadonlySet<number>,
  compaction: StoredEvent | undefined,
): ReadonlyMap<number, StoredEvent> {
  const found = new Map<number, StoredEvent>();
  if (compaction !== undefined && wanted.has(compaction.sequence)) found.set(compaction.sequence, compaction);
  if (found.size === wanted.size) return found;
  for (const item of log.scanBackwards()) {
    if (item.kind === 'damage') throw log.damaged(item.damage);
    if (item.kind !== 'event' || !wanted.has(item.event.sequence)) continue;
    found.set(item.event.sequence, item.event);
    if (found.size === wanted.size) break;
  }
  return found;
}
