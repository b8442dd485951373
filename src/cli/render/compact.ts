import type { CompactionPlan } from '../../plan/compaction.js';
import type { CompactView } from '../commands/compact.js';
import type { Page } from '../page.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from './json.js';
import { counted, grouped } from './numbers.js';
import { refJson } from './plan-json.js';
import { safeLines } from './safe-text.js';

/** Gives the plan of a compaction and the prompt for its summary, or what was recorded. */
export function renderCompact(view: CompactView, page: Page): string {
  if (view.kind === 'undone') return undoneText(view, page);
  const { plan } = view;
  // Not by the line, as other things are under -q: the prompt has many, and they stay as they are.
  if (view.quiet) return view.kind === 'planned' ? promptLines(plan, page) : `${view.event.sequence}\n`;
  const first = plan.compactableEvents.at(0)?.sequence;
  const last = plan.compactableEvents.at(-1)?.sequence;
  const range = first === undefined ? '' : ` (${first} to ${last})`;
  const kept = `${counted(plan.preservedCount, 'event')} ${plan.preservedCount === 1 ? 'stays' : 'stay'}`;
  if (view.kind === 'recorded') {
    const stands = `The summary stands for ${counted(plan.compactableCount, 'event')}${range}; ${kept}.\n`;
    return `Recorded as event ${view.event.sequence} of ${plan.sessionId}\n${stands}`;
  }
  const heading = `A summary would stand for ${counted(plan.compactableCount, 'event')}${range}; ${kept}`;
  const prompt = promptLines(plan, page);
  if (prompt === '') return `${page.style.heading(heading)}\n`;
  const cut = plan.truncated === true ? ', the oldest left out' : '';
  const about = page.style.dim(`The prompt (${grouped(plan.promptChars)} characters${cut}):`);
  return `${page.style.heading(heading)}\n${about}\n\n${prompt}`;
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

/** Gives the prompt without secrets. */
export function promptText(plan: CompactionPlan, redaction: Redaction): string {
  return redaction.text(plan.summaryPrompt);
}

function promptLines(plan: CompactionPlan, { redaction }: Page): string {
  return safeLines(promptText(plan, redaction))
    .map((line) => `${line}\n`)
    .join('');
}
