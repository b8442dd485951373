import type { EventRef, StoredEvent } from '../../model/event.js';
import { sequenceText } from '../../model/ids.js';
import type { CompactionPlan } from '../../plan/compaction/compaction.js';
import { cutToCodePoints } from '../../plan/event-preview.js';
import type { RewindReport } from '../../store/rewind/apply-rewind.js';
import type { Page } from '../page.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from './json.js';
import { counted, grouped } from './numbers.js';
import { refJson } from './plan-json.js';
import { safeLines } from './safe-text.js';

/** A compaction that could be, one that was recorded, or one that was undone. */
export type CompactView = { readonly quiet: boolean } & (
  | {
      readonly kind: 'planned';
      readonly plan: CompactionPlan;
      readonly shown: ShownEntries;
      /** Which part the prompt is of, 1-based. */
      readonly part: number;
      readonly parts: number;
      readonly prompt: string;
    }
  | {
      readonly kind: 'recorded';
      readonly plan: CompactionPlan;
      readonly shown: ShownEntries;
      readonly summary: string;
      readonly event: StoredEvent;
    }
  | { readonly kind: 'undone'; readonly sessionId: string; readonly report: RewindReport }
);

/** How much of what a summary stands for was shown to whoever wrote it. */
export interface ShownEntries {
  /** How many there are to show: all events of the plan but those that an earlier summary stands for. */
  readonly entryCount: number;
  /** How many are in the prompts that were given, at the most. */
  readonly shownCount: number;
  /** How many of all are cut. */
  readonly cutCount: number;
}

const LINES_OF_SUMMARY = 3;

/** Gives the plan of a compaction and the prompt for its summary, or what was recorded. */
export function renderCompact(view: CompactView, page: Page): string {
  if (view.kind === 'undone') return undoneText(view, page);
  const { plan } = view;
  // Not by the line, as other things are under -q: the prompt has many, and they stay as they are.
  if (view.quiet) return view.kind === 'planned' ? promptLines(view.prompt, page) : `${view.event.sequence}\n`;
  const [first] = plan.compactableEvents;
  const range = first === undefined ? '' : ` (${sequenceText(first)} to ${sequenceText(lastInFront(plan) ?? first)})`;
  const kept = `${counted(plan.preservedCount, 'event')} ${plan.preservedCount === 1 ? 'stays' : 'stay'}`;
  if (view.kind === 'recorded') {
    const stands = `The summary stands for ${counted(plan.compactableCount, 'event')}${range}; ${kept}.\n`;
    return `Recorded as event ${view.event.sequence} of ${plan.sessionId}\n${stands}${shownText(view)}\n${beginning(view, page)}`;
  }
  const heading = `A summary would stand for ${counted(plan.compactableCount, 'event')}${range}; ${kept}`;
  if (view.prompt === '') return `${page.style.heading(heading)}\n`;
  const part = view.parts === 1 ? 'The prompt' : `The prompt, part ${view.part} of ${view.parts}`;
  const { shownCount } = view.shown;
  const about = page.style.dim(`${part} (${counted(shownCount, 'event')}, ${grouped(plan.promptChars)} characters):`);
  return `${page.style.heading(heading)}\n${about}\n\n${promptLines(view.prompt, page)}`;
}

/** Gives the last event in front of what stays; an earlier summary may be named behind it. */
function lastInFront({ compactableEvents, preservedEvents: [kept] }: CompactionPlan): EventRef | undefined {
  const inFront = compactableEvents.filter(({ sequence }) => kept === undefined || sequence < kept.sequence);
  return inFront.at(-1) ?? compactableEvents.at(-1);
}

function shownText({ plan, shown }: CompactView & { kind: 'recorded' }): string {
  const { entryCount, shownCount, cutCount } = shown;
  const cut = cutCount === 0 ? '' : `, ${grouped(cutCount)} of them cut`;
  if (shownCount < entryCount)
    return `At most ${grouped(shownCount)} of ${grouped(entryCount)} were shown to its writer.`;
  if (entryCount === plan.compactableCount) return `All of them were shown to its writer${cut}.`;
  return `${grouped(shownCount)} of them were shown to its writer${cut}; for the others an earlier summary stood.`;
}

function beginning({ summary }: CompactView & { kind: 'recorded' }, { redaction, style, width }: Page): string {
  const lines = safeLines(redaction.text(summary));
  const shown = lines
    .slice(0, LINES_OF_SUMMARY)
    .map((line) => cutToCodePoints(line, (width ?? Number.MAX_SAFE_INTEGER) - 2));
  const more = lines.length > LINES_OF_SUMMARY ? [`… (${counted(lines.length - LINES_OF_SUMMARY, 'more line')})`] : [];
  return [...shown, ...more].map((line) => `  ${style.dim(line)}\n`).join('');
}

function undoneText({ quiet, report, sessionId }: CompactView & { kind: 'undone' }, { style }: Page): string {
  if (quiet) return `${report.rewindId}\n`;
  const command = `zero-sessions rewind ${sessionId} --undo ${report.rewindId}`;
  return `The latest compaction of ${sessionId} was taken back\nUndo that with: ${style.code(command)}\n`;
}

/** Gives the plan as JSON; the prompt stands beside it. */
export function compactionPlanJson(plan: CompactionPlan, redaction: Redaction): JsonMembers {
  return {
    sessionId: plan.sessionId,
    preserveLast: plan.preserveLast,
    compactableCount: plan.compactableCount,
    preservedCount: plan.preservedCount,
    compactableEvents: plan.compactableEvents.map((ref) => refJson(ref, redaction)),
    preservedEvents: plan.preservedEvents.map((ref) => refJson(ref, redaction)),
    promptChars: plan.promptChars,
    truncated: plan.truncated === true,
  };
}

function promptLines(prompt: string, { redaction }: Page): string {
  return safeLines(redaction.text(prompt))
    .map((line) => `${line}\n`)
    .join('');
}
