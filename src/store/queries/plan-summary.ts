import { StalePlanError } from '../../errors.js';
import type { EventRef, StoredEvent } from '../../model/event.js';
import type { LogOutline } from '../../model/log-outline.js';
import type { CompactionPlan } from '../../plan/compaction/compaction.js';
import {
  DEFAULT_PART_CHARS,
  type FilledPart,
  fillParts,
  type PartPrompt,
  partPrompt,
  type SummaryPart,
} from '../../plan/compaction/summary-parts.js';
import { DEFAULT_PRESERVE_LAST, eventsToShow, planSummary } from '../../plan/compaction/summary-plan.js';
import type { StoreDeps } from '../base/deps.js';
import { eachOrStoreError } from '../base/system-errors.js';
import type { EventLog } from '../parts/event-log.js';
import { openLog } from '../parts/read-session.js';
import { replayOrAsLogged } from './read-replay.js';

/** What a summary may cover, and how long a prompt may be. */
export interface SummaryOptions {
  /** How many messages, calls and results stay; 6 when left out. */
  readonly preserveLast?: number | undefined;
  /** Characters of a prompt at the most; 100,000 when left out, 4,000 at the least. */
  readonly maxPromptChars?: number | undefined;
}

/** How a summary of everything that it is to stand for is asked for: in parts, the summary so far handed on. */
export interface SummaryPlan {
  /** Without a prompt: the parts have theirs. */
  readonly plan: CompactionPlan;
  /** None when there is nothing to compact. */
  readonly parts: readonly SummaryPart[];
  /** Reads the log once more and gives part after part; only one is held. No lock is taken, and none need be held between. */
  filled(): Iterable<FilledPart>;
  /** Gives the prompt for a part. @param summary - What was written for the parts before. */
  prompt(part: FilledPart, summary: string): PartPrompt;
}

/** Plans a summary that sees all that it is to stand for; recording refuses the plan if its events are gone by then. */
export async function planSessionSummary(
  deps: StoreDeps,
  sessionId: string,
  options: SummaryOptions,
): Promise<SummaryPlan> {
  const log = openLog(deps, sessionId);
  const outline = log.outline(0);
  const replay = replayOrAsLogged(deps, outline);
  const plan = planSummary(outline, options.preserveLast ?? DEFAULT_PRESERVE_LAST, () => log.newestFirst());
  const mostChars = options.maxPromptChars ?? DEFAULT_PART_CHARS;
  const filled = () => eachOrStoreError(fillParts(eventsToShow(plan, replay, asOutlined(log, outline)), mostChars));
  const parts: SummaryPart[] = [];
  if (plan.compactableCount > 0) for (const { lines: _, ...part } of filled()) parts.push(part);
  return { plan, parts, filled, prompt: (part, summary) => partPrompt(part, parts.length, mostChars, summary) };
}

// Reads the events that an outline has, with their index. Minutes may lie between the two.
function* asOutlined(log: EventLog, outline: LogOutline): Generator<readonly [index: number, event: StoredEvent]> {
  const stale = new StalePlanError(`Session ${outline.sessionId} was rewound while it was read`);
  let index = 0;
  for (const event of log.events()) {
    const ref = outline.events[index];
    if (ref === undefined) return; // appended since
    if (!isSame(ref, event)) throw stale;
    yield [index, event];
    index += 1;
  }
  if (index < outline.events.length) throw stale;
}

function isSame(ref: EventRef, event: StoredEvent): boolean {
  return ref.id === event.id && ref.sequence === event.sequence && ref.createdAt === event.createdAt;
}
