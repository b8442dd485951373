import type { EventRef } from '../../model/event.js';
import type { RewindRecord } from '../../model/kept-record.js';
import type { FileAction } from '../../plan/rewind/file-change.js';
import { effectiveChanges, isNothingToDo, type RewindPlan, type UncoveredWork } from '../../plan/rewind/rewind.js';
import type { Page } from '../page.js';
import type { RewindOutcome } from '../report/rewind-outcome.js';
import { counted, grouped } from './numbers.js';
import { safeText } from './safe-text.js';
import { shownFolder } from './session-text.js';
import type { Paint, Style } from './style.js';
import { type Cell, type Column, renderTable } from './table.js';
import { storedTime, withClockTimes } from './time.js';

const PLAN_COLUMNS: readonly Column[] = [
  { header: 'ACTION' },
  { header: 'PATH', shrink: 1, minWidth: 20 },
  { header: 'WHY', shrink: 2, minWidth: 16 },
];

/** Gives what going back does or did: a sentence, a table of the files, and how to undo it. */
export function renderOutcome(outcome: RewindOutcome, page: Page): string {
  const { plan, allowed } = outcome;
  const isNothing = isNothingToDo(plan, allowed.force);
  const blocks = [`${page.style.heading(isNothing ? nothingText(outcome) : headline(outcome))}\n`];
  blocks.push(...planBlocks(plan, allowed.force, page));
  if (!isNothing) blocks.push(closing(outcome, page));
  return blocks.filter((block) => block !== '').join('\n');
}

/** Gives the plan of what was refused: what it would have done to the log and to each file. */
export function renderRefused(plan: RewindPlan, page: Page): string {
  const work = plan.returned !== undefined ? 'undo' : plan.dropped.length > 0 ? 'rewind' : 'restore';
  const outcome: RewindOutcome = { kind: 'planned', work, plan, allowed: { force: false, allowPartial: false } };
  const blocks = [`${page.style.heading(headline(outcome))}\n`, ...planBlocks(plan, false, page)];
  return blocks.filter((block) => block !== '').join('\n');
}

function planBlocks({ files, workspace, uncovered }: RewindPlan, force: boolean, page: Page): readonly string[] {
  const rows = files.map((file) => fileRow(file, force, page));
  const folder = workspace === undefined ? '' : `Files in ${safeText(shownFolder(workspace, page))}\n`;
  const table = renderTable(PLAN_COLUMNS, rows, { width: page.width, style: page.style });
  return [rows.length === 0 ? '' : `${folder}${table}`, uncoveredLines(uncovered, page)];
}

// One line for each kind: a shell call says nothing of what it did, so how many there were has to do.
function uncoveredLines(uncovered: readonly UncoveredWork[], page: Page): string {
  const ofKind = (kind: UncoveredWork['kind']) => uncovered.filter((work) => work.kind === kind);
  const [files, shells, children] = [ofKind('file'), ofKind('shell'), ofKind('child')];
  const shown = (text = ''): string => safeText(page.redaction.text(text));
  const lines: string[] = [];
  if (files.length > 0) {
    const paths = listed(files.map(({ path }) => shown(path)));
    lines.push(`${paths}: changed, but in no checkpoint; ${files.length === 1 ? 'it stays as it is' : 'they stay'}`);
  }
  if (shells.length > 0) {
    const first = shells.length === 1 ? 'event' : 'the first is event';
    lines.push(
      `${counted(shells.length, 'shell command')} (${first} ${shells[0]?.sequence}) may have changed more files`,
    );
  }
  if (children.length > 0) {
    const ids = listed(children.map(({ sessionId }) => shown(sessionId)));
    lines.push(`${counted(children.length, 'sub-agent')} changed files that stay as they are: ${ids}`);
  }
  return lines.map((line) => `${page.style.warning('uncovered')}  ${line}\n`).join('');
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED;
  return more > 0 ? `${names.slice(0, LISTED).join(', ')} and ${grouped(more)} more` : names.join(', ');
}

const LISTED = 5;

const HISTORY_COLUMNS: readonly Column[] = [
  { header: 'REWIND' },
  { header: 'WHAT' },
  { header: 'WHEN' },
  { header: 'TO', align: 'right' },
  { header: 'EVENTS BEFORE', align: 'right', hide: 1 },
  { header: 'FILES', align: 'right' },
  { header: 'UNDOES', hide: 2 },
];

/** Gives what can be undone as a table, newest first. */
export function renderHistory(records: readonly RewindRecord[], page: Page): string {
  if (records.length === 0) return '';
  const rows = records.map((record): Cell[] => [
    { text: record.rewindId, paint: page.style.id },
    KIND_WORDS[record.kind],
    record.createdAt === '' ? '' : storedTime(record.createdAt, page.nowMs),
    String(record.targetSequence),
    String(record.events),
    String(record.files),
    { text: record.undoes, paint: page.style.dim },
  ]);
  return renderTable(HISTORY_COLUMNS, rows, { width: page.width, style: page.style });
}

const KIND_WORDS: Readonly<Record<RewindRecord['kind'], string>> = {
  rewind: 'rewind',
  restore: 'files restored',
  undo: 'undo',
  cut: 'events dropped',
};

const WORDS = {
  rewind: { planned: 'Would go back', done: 'Went back' },
  restore: { planned: 'Would bring files back', done: 'Brought files back' },
} as const;

function headline(outcome: RewindOutcome): string {
  const { kind, work, plan } = outcome;
  if (work === 'undo') return undoneText(outcome);
  const words = WORDS[work][kind];
  const where = plan.target === 0 ? 'before the first event' : `to event ${plan.target}`;
  const rest = work === 'restore' ? '' : `, ${eventsText(plan, kind)}`;
  return `${words} ${where} of ${plan.sessionId}${rest}`;
}

const UNDO_WORDS = {
  planned: { undo: 'Would undo', is: 'would be', are: 'would be', ends: 'would end' },
  done: { undo: 'Undid', is: 'is', are: 'are', ends: 'ends' },
} as const;

function undoneText({ kind, plan, allowed }: RewindOutcome): string {
  const { target, dropped, returned = [], sessionId } = plan;
  const words = UNDO_WORDS[kind];
  const be = (count: number): string => (count > 1 ? words.are : words.is);
  const files = effectiveChanges(plan, allowed.force).length;
  const back = [countedOrNone(returned.length, 'event'), countedOrNone(files, 'file')].filter(Boolean).join(' and ');
  const since = dropped.filter((event, at) => !isOfRewind(event, dropped[at + 1])).length;
  const end = target === 0 ? 'before the first event' : `with event ${target}`;
  const parts = [
    ...(back === '' ? [] : [`${back} ${be(returned.length + files)} back`]),
    `the log of ${sessionId} ${words.ends} ${end} again`,
    ...(since === 0 ? [] : [`${counted(since, 'event')} since then ${be(since)} taken back`]),
  ];
  return `${words.undo} that: ${parts.join(', ')}`;
}

function countedOrNone(count: number, noun: string): string {
  return count === 0 ? '' : counted(count, noun);
}

// A marker, or the checkpoint that a restore of files puts in front of its own.
function isOfRewind({ type, sequence }: EventRef, next: EventRef | undefined): boolean {
  if (type === 'session_rewind') return true;
  return type === 'session_checkpoint' && next?.type === 'session_rewind' && next.sequence === sequence + 1;
}

function nothingText({ work, plan }: RewindOutcome): string {
  const where = plan.target === 0 ? 'before the first event' : `just after event ${plan.target}`;
  if (work === 'restore') return `Files are already as they were ${where}`;
  return `Nothing to do: log and files are already as they were ${where}`;
}

function eventsText({ dropped }: RewindPlan, kind: RewindOutcome['kind']): string {
  if (dropped.length === 0) return 'no event is dropped';
  return `${counted(dropped.length, 'event')} ${kind === 'planned' ? 'would be ' : ''}dropped`;
}

function fileRow({ path, action, reason, forced }: RewindPlan['files'][number], force: boolean, page: Page): Cell[] {
  const isForced = force && action === 'conflict' && forced !== undefined;
  const shown = isForced ? forced : action;
  const said = withClockTimes(reason, page.nowMs);
  const why = page.redaction.text(isForced ? `${said} (forced)` : said);
  return [
    { text: shown, paint: actionPaint(shown, page.style) },
    page.redaction.text(path),
    action === 'leave' ? { text: why, paint: page.style.dim } : why,
  ];
}

function actionPaint(action: FileAction, style: Style): Paint {
  switch (action) {
    case 'restore':
      return style.added;
    case 'delete':
      return style.removed;
    case 'leave':
      return style.dim;
    case 'conflict':
      return style.warning;
    case 'impossible':
      return style.error;
    default:
      return action satisfies never;
  }
}

function closing(outcome: RewindOutcome, page: Page): string {
  const { plan } = outcome;
  const counts = countActions(plan, outcome.allowed.force, outcome.kind);
  if (outcome.kind === 'planned') return `Nothing was changed: this is a plan${counts === '' ? '' : ` (${counts})`}.\n`;
  const { rewindId } = outcome.report;
  const did = counts === '' ? '' : `Files: ${counts}.\n`;
  if (rewindId === null) return did;
  const command = `zero-sessions rewind ${plan.sessionId} --undo ${rewindId}`;
  return `${did}Undo it with: ${page.style.code(safeText(command))}\n`;
}

const COUNT_WORDS = {
  planned: { restore: 'to restore', delete: 'to delete' },
  done: { restore: 'restored', delete: 'deleted' },
} as const;
const OTHER_WORDS = { leave: 'unchanged', conflict: 'in conflict', impossible: 'not possible' } as const;

function countActions({ files }: RewindPlan, force: boolean, kind: RewindOutcome['kind']): string {
  const actions = files.map(({ action, forced }) => (force && action === 'conflict' ? (forced ?? action) : action));
  return Object.entries({ ...COUNT_WORDS[kind], ...OTHER_WORDS })
    .map(([action, word]) => [actions.filter((each) => each === action).length, word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${grouped(count)} ${word}`)
    .join(', ');
}
