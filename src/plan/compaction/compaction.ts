import { InvalidArgumentError, PlanMismatchError, StalePlanError } from '../../errors.js';
import type { EventRef, StoredEvent } from '../../model/event.js';
import { trimSpace } from '../../model/ids.js';
import type { LogOutline } from '../../model/log-outline.js';
import { indexed, type NewestFirst, wholeTurnCut } from '../whole-turn-cut.js';
import { SummaryPrompt, type WrittenPrompt } from './compaction-prompt.js';
import type { ReplayPlan } from './replay.js';

export interface CompactionOptions {
  /** How many of the last events stay; 6 when left out or not positive. */
  readonly preserveLast?: number | undefined;
  /** Characters of the prompt at the most; 8,000 when left out or not positive. */
  readonly maxPromptChars?: number | undefined;
  readonly skipPrompt?: boolean | undefined;
}

export interface CompactionPlan {
  readonly sessionId: string;
  readonly preserveLast: number;
  readonly compactableCount: number;
  readonly preservedCount: number;
  readonly compactableEvents: readonly EventRef[];
  readonly preservedEvents: readonly EventRef[];
  readonly summaryPrompt: string;
  /** Characters (code points) of the prompt. */
  readonly promptChars: number;
  /** Whether the limit was too small for all that the summary stands for. */
  readonly truncated?: boolean;
}

export interface CompactionPayload {
  readonly summary: string;
  readonly preserveLast: number;
  readonly compactableCount: number;
  readonly preservedCount: number;
  readonly compactedThroughEventId?: string;
  readonly compactedThroughSequence?: number;
  readonly compactableEvents?: readonly EventRef[];
  readonly preservedEvents?: readonly EventRef[];
  readonly promptChars?: number;
  readonly truncated?: boolean;
}

const DEFAULT_PRESERVE_LAST = 6;
const DEFAULT_PROMPT_CHARS = 8000;
const NO_PROMPT: WrittenPrompt = { text: '', chars: 0, truncated: false };

/**
 * Which events a summary is to stand for, and the prompt for it (FORMAT.md, 4 and 5; FAULTS.md, 6, 22, 29).
 *
 * All but the last `preserveLast` events, except that no `tool_result` stays without its `tool_call`.
 * @param replay - What a model sees now; the log as it is where its last compaction cannot be decoded.
 * @throws StalePlanError (`STALE_PLAN`) when the events are not those of the outline.
 */
export function planCompaction(
  outline: LogOutline,
  replay: ReplayPlan,
  options: CompactionOptions,
  newestFirst: NewestFirst,
): CompactionPlan {
  const preserveLast = positive(options.preserveLast) ?? DEFAULT_PRESERVE_LAST;
  const wanted = Math.max(0, outline.events.length - preserveLast);
  // A call that the last summary stands for already was parted from its result before.
  const cut = wholeTurnCut(outline, wanted, newestFirst, (index) => replay.keeps(index));
  const limit = positive(options.maxPromptChars) ?? DEFAULT_PROMPT_CHARS;
  const isWritten = cut > 0 && options.skipPrompt !== true;
  const prompt = isWritten ? writePrompt(outline, cut, limit, replay, newestFirst) : NO_PROMPT;
  const { events } = outline;
  const plan = planWithoutPrompt(outline.sessionId, preserveLast, events.slice(0, cut), events.slice(cut));
  return { ...plan, summaryPrompt: prompt.text, promptChars: prompt.chars, truncated: prompt.truncated };
}

export function planWithoutPrompt(
  sessionId: string,
  preserveLast: number,
  compactableEvents: readonly EventRef[],
  preservedEvents: readonly EventRef[],
): CompactionPlan {
  const [compactableCount, preservedCount] = [compactableEvents.length, preservedEvents.length];
  const counts = { preserveLast, compactableCount, preservedCount };
  return {
    sessionId,
    ...counts,
    compactableEvents,
    preservedEvents,
    summaryPrompt: '',
    promptChars: 0,
    truncated: false,
  };
}

/**
 * The payload of the event that records a summary: what is empty or 0 is left out, but for the three counts.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) without a summary, or when the plan has nothing to compact.
 */
export function compactionPayloadFromPlan(summary: string, plan: CompactionPlan): CompactionPayload {
  const text = trimSpace(summary);
  if (text === '') throw new InvalidArgumentError('summary', 'A compaction needs a summary', 'Give a summary.');
  const firstKept = plan.preservedEvents[0]?.sequence ?? Number.POSITIVE_INFINITY;
  // An earlier summary may stand among the events that stay: it is named, and what lies in front of it stays.
  const last = plan.compactableEvents.findLast(({ sequence }) => sequence < firstKept) ?? plan.compactableEvents.at(-1);
  if (last === undefined) {
    throw new InvalidArgumentError('plan', 'The plan has no events that a summary could stand for', NOTHING_HINT);
  }
  return {
    summary: text,
    preserveLast: plan.preserveLast,
    compactableCount: plan.compactableCount,
    preservedCount: plan.preservedCount,
    ...(last.id === '' ? {} : { compactedThroughEventId: last.id }),
    ...(last.sequence === 0 ? {} : { compactedThroughSequence: last.sequence }),
    compactableEvents: plan.compactableEvents.map(storedRef),
    ...(plan.preservedEvents.length === 0 ? {} : { preservedEvents: plan.preservedEvents.map(storedRef) }),
    ...(plan.promptChars > 0 ? { promptChars: plan.promptChars } : {}),
    ...(plan.truncated === true ? { truncated: true } : {}),
  };
}

const NOTHING_HINT = 'Keep fewer events with --preserve-last.';

/** Refuses a plan that names no session, or another one. */
export function requirePlanOf(sessionId: string, plan: CompactionPlan): void {
  const planned = trimSpace(plan.sessionId);
  if (planned === '') throw new InvalidArgumentError('plan', 'The plan names no session', 'Make the plan anew.');
  if (planned !== sessionId) throw new PlanMismatchError(planned, sessionId);
}

/**
 * Refuses a plan whose events are no longer in the log under their id and sequence (FORMAT.md, 5; FAULTS.md, 28).
 *
 * Where a rewind was applied Zero may have used ids again, so there type and time have to agree as well.
 */
export function requireCurrent(plan: CompactionPlan, events: Iterable<StoredEvent>): void {
  const missing = new Map([...plan.compactableEvents, ...plan.preservedEvents].map((ref) => [ref.id, ref]));
  const altered: EventRef[] = [];
  let rewound = false;
  for (const event of events) {
    if (event.type === 'session_rewind') rewound = true;
    const ref = missing.get(event.id);
    if (ref === undefined || ref.sequence !== event.sequence) continue;
    missing.delete(event.id);
    if (ref.type !== event.type || (ref.createdAt ?? '') !== event.createdAt) altered.push(ref);
  }
  const [gone] = missing.values();
  if (gone !== undefined) throw new StalePlanError(`Event ${gone.id} of the plan is no longer in the log`);
  const [other] = altered;
  if (rewound && other !== undefined) {
    throw new StalePlanError(`Event ${other.id} is not the one that the plan was made for`);
  }
}

function writePrompt(
  outline: LogOutline,
  cut: number,
  limit: number,
  replay: ReplayPlan,
  newestFirst: NewestFirst,
): WrittenPrompt {
  const prompt = new SummaryPrompt(outline, cut, limit, replay);
  for (const [index, event] of indexed(outline, newestFirst())) {
    if (prompt.isFull) break;
    if (index < cut) prompt.add(event, index);
  }
  return prompt.text();
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? Math.floor(value) : undefined;
}

function storedRef({ id, sequence, type, createdAt }: EventRef): EventRef {
  return createdAt === undefined || createdAt === '' ? { id, sequence, type } : { id, sequence, type, createdAt };
}
