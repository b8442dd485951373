import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf, FileNotFoundError, SystemError, UsageError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import { trimSpace } from '../../model/ids.js';
import type { CompactionPlan } from '../../plan/compaction.js';
import type { RewindReport } from '../../store/apply-rewind.js';
import { type ParsedArguments, parseCount, parseFilled } from '../arguments.js';
import { defineCommand } from '../command.js';
import type { CommandContext } from '../context.js';
import { findSession } from '../find-session.js';
import { filledText } from '../metadata-flags.js';
import { readInputText, STDIN } from '../read-input.js';
import { compactionPlanJson, promptText, renderCompact } from '../render/compact.js';
import { eventJson } from '../render/event-json.js';
import { counted } from '../render/numbers.js';
import { reportJson } from '../render/plan-json.js';
import { REPORT_SCHEMA, refuseTogether, warnIfInUse } from '../rewind-outcome.js';
import { runInShell } from '../run-program.js';
import { EVENT_REF_SCHEMA, EVENT_SCHEMA } from '../schema-parts.js';

/** A compaction that could be, one that was recorded, or one that was undone. */
export type CompactView = { readonly quiet: boolean } & (
  | { readonly kind: 'planned'; readonly plan: CompactionPlan }
  | { readonly kind: 'recorded'; readonly plan: CompactionPlan; readonly event: StoredEvent }
  | { readonly kind: 'undone'; readonly sessionId: string; readonly report: RewindReport }
);

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
  },
} as const;

export const compact = defineCommand<CompactView>({
  description:
    'A summary stands for all but the last events from then on; the events themselves stay in the log. Without a ' +
    'summary nothing is recorded: the plan is shown, and the prompt to have one written (-q: the prompt alone). ' +
    '--summarizer runs a command in your shell, gives it the prompt on stdin and takes its stdout for the summary.',
  examples: [
    "zero-sessions compact latest --summarizer 'llm -m small'",
    'zero-sessions compact latest -q | my-model | zero-sessions compact latest --summary-file -',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--preserve-last <n>', description: 'how many of the last events stay (6)' },
    { flags: '--max-prompt-chars <n>', description: 'how long the prompt may be (8000)' },
    { flags: '--summary <text>', description: 'the summary' },
    { flags: '--summary-file <file>', description: 'the file with the summary; - for stdin', value: 'file' },
    { flags: '--summarizer <command>', description: 'the command that writes it; nothing is recorded if it fails' },
    { flags: '--undo', description: 'take the latest compaction back' },
  ],
  writes: true,
  schemas: [
    { plan: PLAN_SCHEMA, prompt: { type: 'string' } },
    { plan: PLAN_SCHEMA, event: EVENT_SCHEMA },
    { report: REPORT_SCHEMA },
  ],
  output: {
    text: renderCompact,
    json: (view, { redaction }) => {
      if (view.kind === 'undone') return { members: { report: reportJson(view.report, redaction) } };
      const plan = compactionPlanJson(view.plan, redaction);
      return {
        members:
          view.kind === 'planned'
            ? { plan, prompt: promptText(view.plan, redaction) }
            : { plan, event: eventJson(view.event, redaction) },
      };
    },
    notes: (view) => (view.kind === 'planned' ? nothingNotes(view.plan) : []),
  },
  run: runCompact,
});

const LIMITS = ['preserve-last', 'max-prompt-chars'] as const;
const SOURCES = ['summary', 'summary-file', 'summarizer', 'undo'] as const;

async function runCompact(context: CommandContext, args: ParsedArguments): Promise<CompactView> {
  const given = new Set([...SOURCES, ...LIMITS].filter((flag) => args.flag(flag)));
  refuseTogether(given, ...SOURCES);
  for (const limit of LIMITS) refuseTogether(given, 'undo', limit);
  const counts = {
    preserveLast: countOf(args, 'preserve-last'),
    maxPromptChars: countOf(args, 'max-prompt-chars'),
  };
  const id = await findSession(context, args.operand('session') ?? '');
  const { quiet } = context.globals;
  if (args.flag('undo')) {
    await warnIfInUse(context, id);
    return { kind: 'undone', quiet, sessionId: id, report: await context.store.undoCompaction(id) };
  }
  const isPlanOnly = !SOURCES.some((flag) => args.flag(flag));
  const skipPrompt = !isPlanOnly && !args.flag('summarizer');
  const plan = await context.store.planCompaction(id, { ...counts, skipPrompt });
  if (isPlanOnly) return { kind: 'planned', plan, quiet };
  if (plan.compactableCount === 0) {
    throw new UsageError(`Session ${id} has nothing to compact`, 'Keep fewer events with --preserve-last.');
  }
  const summary = await summaryOf(context, args, plan);
  return { kind: 'recorded', plan, quiet, event: await context.store.recordCompaction(id, { plan, summary }) };
}

function nothingNotes({ compactableCount, preservedCount, sessionId }: CompactionPlan): readonly string[] {
  if (compactableCount > 0) return [];
  return [`Nothing to compact: session ${sessionId} has ${counted(preservedCount, 'event')}; see --preserve-last.`];
}

function countOf(args: ParsedArguments, flag: string): number | undefined {
  const text = args.text(flag);
  return text === undefined ? undefined : parseCount(text, `--${flag}`, 1);
}

async function summaryOf(context: CommandContext, args: ParsedArguments, plan: CompactionPlan): Promise<string> {
  const summarizer = filledText(args, 'summarizer');
  if (summarizer !== undefined) return runSummarizer(context, summarizer, plan.summaryPrompt);
  const file = filledText(args, 'summary-file');
  if (file === undefined) return parseFilled(args.text('summary') ?? '', '--summary');
  const text = file === STDIN ? await readInputText(context, 'the summary') : readFile(resolve(context.cwd, file));
  return parseFilled(text, 'The summary');
}

async function runSummarizer(context: CommandContext, command: string, prompt: string): Promise<string> {
  const { code, out, err } = await runInShell(command, prompt, context);
  const summary = trimSpace(new TextDecoder().decode(out));
  if (code === 0 && summary !== '') return summary;
  const said = err.split('\n').filter((line) => trimSpace(line) !== '');
  for (const line of said) await context.warn(line);
  const what = code === 0 ? 'printed no summary' : `exited with ${code}`;
  throw new SystemError(`The summarizer ${what}: nothing was recorded`, 'EIO', undefined);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw new FileNotFoundError(path);
    throw error;
  }
}
