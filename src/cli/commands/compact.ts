import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, FileNotFoundError, IncompleteError, SystemError } from '../../errors.js';
import { trimSpace } from '../../model/ids.js';
import type { CompactionPlan } from '../../plan/compaction/compaction.js';
import {
  FEWEST_PART_CHARS,
  type PartPrompt,
  type SummaryPart,
  summaryPlaceholder,
} from '../../plan/compaction/summary-parts.js';
import type { SummaryPlan } from '../../store/queries/plan-summary.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { SummarizerFailedError, UsageError } from '../errors.js';
import { type ParsedArguments, parseCount, parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { filledText } from '../input/metadata-flags.js';
import { readInputText, STDIN } from '../input/read-input.js';
import { type CompactView, compactionPlanJson, renderCompact, type ShownEntries } from '../render/compact.js';
import { eventJson } from '../render/event-json.js';
import { counted } from '../render/numbers.js';
import { reportJson } from '../render/plan-json.js';
import { REPORT_SCHEMA, refuseTogether, warnIfInUse } from '../report/rewind-outcome.js';
import { runInShell } from '../run-program.js';
import { EVENT_REF_SCHEMA, EVENT_SCHEMA } from '../schema/schema-parts.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
const PLAN_SCHEMA = {
  type: 'object',
  required: ['sessionId', 'preserveLast', 'compactableCount', 'preservedCount', 'compactableEvents', 'preservedEvents'],
  properties: {
    sessionId: { type: 'string' },
    preserveLast: COUNT,
    compactableCount: COUNT,
    preservedCount: COUNT,
    compactableEvents: { type: 'array', items: EVENT_REF_SCHEMA },
    preservedEvents: { type: 'array', items: EVENT_REF_SCHEMA },
    promptChars: COUNT,
    truncated: { type: 'boolean' },
    entryCount: COUNT,
    shownCount: COUNT,
    cutCount: COUNT,
  },
} as const;

export const compact = defineCommand<CompactView>({
  description:
    'A summary stands for all but the last events from then on; the events themselves stay in the log. Without a ' +
    'summary nothing is recorded: the plan is shown, and the prompt to have one written (-q: the prompt alone). A long ' +
    'session takes more than one: each part has a prompt of its own, with the summary of the part before it. ' +
    '--summarizer runs a command in your shell, once for each part, gives it the prompt on stdin and takes its stdout ' +
    'for the summary.',
  examples: [
    "zero-sessions compact latest --summarizer 'llm -m small'",
    'zero-sessions compact latest -q | my-model | zero-sessions compact latest --summary-file -',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--preserve-last <n>', description: 'how many of the last messages, calls and results stay (6)' },
    { flags: '--max-prompt-chars <n>', description: 'how long a prompt may be (100000, at least 4000)' },
    { flags: '--part <k>', description: 'print the prompt of this part (1)' },
    { flags: '--summary <text>', description: 'the summary' },
    { flags: '--summary-file <file>', description: 'the file with the summary; - for stdin', value: 'file' },
    { flags: '--summarizer <command>', description: 'the command that writes it; nothing is recorded if it fails' },
    { flags: '--all-parts-shown', description: 'the summary that is given was written from all parts' },
    { flags: '--allow-partial', description: 'record it although it was written from the first part alone' },
    { flags: '--undo', description: 'take the latest compaction back' },
  ],
  writes: true,
  schemas: [
    { plan: PLAN_SCHEMA, prompt: { type: 'string' }, part: { type: 'integer', minimum: 1 }, parts: COUNT },
    { plan: PLAN_SCHEMA, event: EVENT_SCHEMA },
    { report: REPORT_SCHEMA },
  ],
  output: {
    text: renderCompact,
    json: (view, { redaction }) => {
      if (view.kind === 'undone') return { members: { report: reportJson(view.report, redaction) } };
      const plan = { ...compactionPlanJson(view.plan, redaction), ...view.shown };
      if (view.kind === 'recorded') return { members: { plan, event: eventJson(view.event, redaction) } };
      return { members: { plan, prompt: redaction.text(view.prompt), part: view.part, parts: view.parts } };
    },
    notes: (view) => (view.kind === 'planned' ? planNotes(view) : []),
  },
  run: runCompact,
});

const LIMITS = ['preserve-last', 'max-prompt-chars', 'part'] as const;
const SOURCES = ['summary', 'summary-file', 'summarizer', 'undo'] as const;
const LEAVES = ['all-parts-shown', 'allow-partial'] as const;

async function runCompact(context: CommandContext, args: ParsedArguments): Promise<CompactView> {
  const given = new Set([...SOURCES, ...LIMITS, ...LEAVES].filter((flag) => args.flag(flag)));
  refuseTogether(given, ...SOURCES);
  for (const flag of [...LIMITS, ...LEAVES]) refuseTogether(given, 'undo', flag);
  for (const flag of [...SOURCES, ...LEAVES]) refuseTogether(given, 'part', flag);
  refuseTogether(given, 'summarizer', 'all-parts-shown');
  const options = {
    preserveLast: countOf(args, 'preserve-last', 1),
    maxPromptChars: countOf(args, 'max-prompt-chars', FEWEST_PART_CHARS),
  };
  const part = countOf(args, 'part', 1) ?? 1;
  const id = await findSession(context, args.operand('session') ?? '');
  const { quiet } = context.globals;
  if (args.flag('undo')) {
    await warnIfInUse(context, id);
    return { kind: 'undone', quiet, sessionId: id, report: await context.store.undoCompaction(id) };
  }
  const planned = await context.store.planSummary(id, options);
  if (!SOURCES.some((flag) => args.flag(flag))) return { ...plannedView(planned, part), quiet };
  if (planned.plan.compactableCount === 0) {
    throw new UsageError(`Session ${id} has nothing to compact`, 'Keep fewer events with --preserve-last.');
  }
  const { plan, ...told } = await summarize(context, args, planned);
  const event = await context.store.recordCompaction(id, { plan, summary: told.summary });
  return { kind: 'recorded', plan, ...told, event, quiet };
}

function countOf(args: ParsedArguments, flag: string, least: number): number | undefined {
  const text = args.text(flag);
  return text === undefined ? undefined : parseCount(text, `--${flag}`, least);
}

function plannedView(planned: SummaryPlan, part: number): Omit<CompactView & { kind: 'planned' }, 'quiet'> {
  const { plan, parts } = planned;
  if (part > Math.max(1, parts.length)) {
    throw new UsageError(`There is no part ${part}: the prompt has ${counted(parts.length, 'part')}`);
  }
  const prompt = promptOfPart(planned, part);
  return {
    kind: 'planned',
    plan: { ...plan, promptChars: prompt?.chars ?? 0 },
    shown: { ...totals(parts), shownCount: parts[part - 1]?.entries ?? 0 },
    part,
    parts: parts.length,
    prompt: prompt?.text ?? '',
  };
}

function promptOfPart(planned: SummaryPlan, number: number): PartPrompt | undefined {
  if (planned.parts.length === 0) return undefined;
  for (const part of planned.filled()) {
    if (part.number === number) return planned.prompt(part, summaryPlaceholder(number - 1));
  }
  return undefined;
}

function totals(parts: readonly SummaryPart[]): Pick<ShownEntries, 'entryCount' | 'cutCount'> {
  const sum = (count: (part: SummaryPart) => number): number => parts.reduce((total, part) => total + count(part), 0);
  return { entryCount: sum(({ entries }) => entries), cutCount: sum(({ cut }) => cut) };
}

function planNotes({ plan, part, parts }: CompactView & { kind: 'planned' }): readonly string[] {
  if (plan.compactableCount === 0) {
    const kept = counted(plan.preservedCount, 'event');
    return [`Nothing to compact: session ${plan.sessionId} has ${kept}; see --preserve-last.`];
  }
  if (parts <= 1) return [];
  return [`This is part ${part} of ${parts}: see --part, or let --summarizer go through all of them.`];
}

interface WrittenSummary {
  readonly plan: CompactionPlan;
  readonly shown: ShownEntries;
  readonly summary: string;
}

/** Gives the summary, with what is known of how much its writer saw. */
async function summarize(
  context: CommandContext,
  args: ParsedArguments,
  planned: SummaryPlan,
): Promise<WrittenSummary> {
  const { plan, parts } = planned;
  const all = totals(parts);
  const command = filledText(args, 'summarizer');
  if (command !== undefined) {
    const { summary, promptChars } = await runSummarizer(context, command, planned);
    return { plan: { ...plan, promptChars }, shown: { ...all, shownCount: all.entryCount }, summary };
  }
  const shownCount = args.flag('all-parts-shown') ? all.entryCount : (parts[0]?.entries ?? 0);
  const truncated = shownCount < all.entryCount;
  if (truncated && !args.flag('allow-partial')) refusePartial(planned, shownCount, all.entryCount);
  return { plan: { ...plan, truncated }, shown: { ...all, shownCount }, summary: await givenSummary(context, args) };
}

function refusePartial({ plan: { summaryPrompt: _, ...plan }, parts }: SummaryPlan, shown: number, all: number): never {
  throw new IncompleteError(
    `The prompt has ${parts.length} parts, and part 1 shows ${shown} of ${all} events that the summary would stand for`,
    plan,
    'Nothing was recorded. If it was written from all parts, add --all-parts-shown; to record it all the same, --allow-partial.',
  );
}

async function givenSummary(context: CommandContext, args: ParsedArguments): Promise<string> {
  const file = filledText(args, 'summary-file');
  if (file === undefined) return parseFilled(args.text('summary') ?? '', '--summary');
  const text = file === STDIN ? await readInputText(context, 'the summary') : readFile(resolve(context.cwd, file));
  return parseFilled(text, 'The summary');
}

/** Has a command write the summary, part after part, each with what it wrote for those before. */
async function runSummarizer(
  context: CommandContext,
  command: string,
  planned: SummaryPlan,
): Promise<{ readonly summary: string; readonly promptChars: number }> {
  const rounds = planned.parts.length;
  let summary = '';
  let through = 0;
  let promptChars = 0;
  for (const part of planned.filled()) {
    if (rounds > 1) await context.note(`Round ${part.number} of ${rounds}: ${counted(part.entries, 'event')}.`);
    const prompt = planned.prompt(part, summary);
    if (prompt.isSummaryCut) {
      await context.warn(
        `The summary of part ${part.number - 1} is too long: part ${part.number} has its beginning only.`,
      );
    }
    const said = await sayTo(context, command, prompt.text);
    if (said.failure !== undefined) {
      throw new SummarizerFailedError(said.failure, { command, round: part.number, rounds, summary, through });
    }
    summary = said.summary;
    through = Math.max(through, part.through);
    promptChars += prompt.chars;
  }
  return { summary, promptChars };
}

async function sayTo(
  context: CommandContext,
  command: string,
  prompt: string,
): Promise<{ readonly summary: string; readonly failure?: string }> {
  try {
    const { code, out, err } = await runInShell(command, prompt, context);
    const summary = trimSpace(new TextDecoder().decode(out));
    if (code === 0 && summary !== '') return { summary };
    const said = err.split('\n').filter((line) => trimSpace(line) !== '');
    for (const line of said) await context.warn(line);
    return { summary: '', failure: code === 0 ? 'printed no summary' : `exited with ${code}` };
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    return { summary: '', failure: `failed (${error.message})` };
  }
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw new FileNotFoundError(path);
    throw error;
  }
}
