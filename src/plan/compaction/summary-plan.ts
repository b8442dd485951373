import type { EventRef, StoredEvent } from '../../model/event.js';
import type { LogOutline } from '../../model/log-outline.js';
import { type NewestFirst, wholeTurnCut } from '../whole-turn-cut.js';
import { type CompactionPlan, planWithoutPrompt } from './compaction.js';
import type { ReplayPlan } from './replay.js';

/** What was said and done; the rest of a log keeps its books. */
const SAID_AND_DONE: ReadonlySet<string> = new Set(['message', 'tool_call', 'tool_result']);
/** How many of these stay, where nothing else is said. */
export const DEFAULT_PRESERVE_LAST = 6;

/**
 * Which events a summary in as many parts as it takes is to stand for (CLI.md, compact).
 *
 * All but the last `preserveLast` messages, calls and results with what lies between them; no call is parted from its
 * results. An earlier summary is always among them: it would stay in the context beside the new one.
 * @throws StalePlanError (`STALE_PLAN`) when the events are not those of the outline.
 */
export function planSummary(outline: LogOutline, preserveLast: number, newestFirst: NewestFirst): CompactionPlan {
  const cut = wholeTurnCut(outline, cutBeforeLast(outline.events, preserveLast), newestFirst);
  const isCovered = (event: EventRef, index: number): boolean =>
    cut > 0 && (index < cut || event.type === 'session_compaction');
  const compactableEvents = outline.events.filter(isCovered);
  const preservedEvents = outline.events.filter((event, index) => !isCovered(event, index));
  return planWithoutPrompt(outline.sessionId, preserveLast, compactableEvents, preservedEvents);
}

/** What the writer of the summary sees: the last summary, then the events of the plan that it does not stand for. */
export function* eventsToShow(
  plan: CompactionPlan,
  replay: ReplayPlan,
  events: Iterable<readonly [index: number, event: StoredEvent]>,
): Generator<StoredEvent> {
  const covered = new Set(plan.compactableEvents.map(({ sequence }) => sequence));
  if (replay.compaction !== undefined) yield replay.compaction;
  for (const [index, event] of events) if (covered.has(event.sequence) && replay.keeps(index)) yield event;
}

/** How many events come before the last so many that were said or done; 0 when no other was. */
function cutBeforeLast(events: readonly EventRef[], count: number): number {
  const said = events.flatMap(({ type }, index) => (SAID_AND_DONE.has(type) ? [index] : []));
  return said.length > count ? (said.at(-count) as number) : 0;
}
