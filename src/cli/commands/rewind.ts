import type { RewindRecord } from '../../model/kept-record.js';
import { parsePosition } from '../../plan/position.js';
import type { SettledRewind } from '../../store/rewind/settle-rewind.js';
import type { CommandContext } from '../command.js';
import { defineCommand } from '../define-command.js';
import { UsageError } from '../errors.js';
import { type ParsedArguments, parseCount, parseFilled } from '../input/arguments.js';
import { findSession } from '../input/find-session.js';
import { filledText } from '../input/metadata-flags.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from '../render/json.js';
import { renderHistory, renderOutcome } from '../render/rewind.js';
import { safeText } from '../render/safe-text.js';
import { EXIT_DONE } from '../report/exit-codes.js';
import { notableKept } from '../report/kept-size.js';
import {
  type Allowance,
  exitCodeOf,
  goBack,
  OUTCOME_SCHEMAS,
  outcomeJson,
  outcomeNotes,
  plannedThough,
  quietOutcome,
  type RewindOutcome,
  refuseTogether,
  warnIfInUse,
} from '../report/rewind-outcome.js';
import { WORKSPACE_FLAG, workspaceOf } from './checkpoint-files.js';

/** What `rewind` did or shows. */
type RewindView =
  | { readonly kind: 'outcome'; readonly outcome: RewindOutcome }
  | { readonly kind: 'history'; readonly rewinds: readonly RewindRecord[]; readonly sessionId: string }
  | { readonly kind: 'aborted'; readonly settled: SettledRewind; readonly sessionId: string };

const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const PATHS = { type: 'array', items: TEXT } as const;

export const rewind = defineCommand<RewindView>({
  description:
    'Log and files go back together, all or nothing: --to 5 keeps event 5, drops what came after it, and undoes the ' +
    'checkpoints after it. What cannot be brought back stops it (exit 6), and so does a file that somebody else has ' +
    'changed since (exit 7). Nothing is lost: what is dropped or overwritten is kept, and --undo brings it back, also ' +
    'after an undo. Positions are 12, an event id, -2 (two events follow it), last-checkpoint, or 0 for before the first.',
  examples: [
    'zero-sessions rewind latest --to last-checkpoint --dry-run',
    'zero-sessions rewind latest --to -2',
    'zero-sessions rewind latest --undo',
  ],
  arguments: [{ name: '<session>', description: 'an id or its beginning, a title, latest, …', value: 'session' }],
  options: [
    { flags: '--to <position>', description: 'the last event to keep; 0 for none', value: 'position' },
    { flags: '--exclude-target', description: 'drop that event, too' },
    { flags: '--dry-run', description: 'show the plan and exit as the rewind would; change nothing' },
    { flags: '--events-only', description: 'leave the files alone' },
    { flags: '--files-only', description: 'leave the log alone, but for a marker' },
    WORKSPACE_FLAG,
    { flags: '--force', description: 'overwrite what somebody else changed; that is kept' },
    { flags: '--allow-partial', description: 'do what can be done, and report the rest' },
    { flags: '--strict', description: 'refuse where dropped events may have changed what no checkpoint brings back' },
    { flags: '--whole-turns', description: 'part no tool call from its result: go back further instead' },
    { flags: '--expect-head <seq>', description: 'only if this is still the last event' },
    { flags: '--undo [rewind-id]', description: 'undo the latest rewind, restore or undo, or this one' },
    { flags: '--history', description: 'list what can be undone, newest first' },
    { flags: '--abort', description: 'take back an interrupted rewind that was not taken back by itself' },
    { flags: '--continue', description: 'carry out an interrupted rewind instead' },
  ],
  writes: true,
  schemas: [
    ...OUTCOME_SCHEMAS,
    {
      rewinds: {
        type: 'array',
        items: {
          type: 'object',
          required: ['rewindId', 'createdAt', 'kind', 'targetSequence', 'events', 'head', 'files', 'undoes'],
          properties: {
            rewindId: TEXT,
            createdAt: TEXT,
            kind: { enum: ['rewind', 'restore', 'undo', 'cut'] },
            targetSequence: COUNT,
            events: COUNT,
            head: COUNT,
            files: COUNT,
            undoes: TEXT,
          },
        },
      },
    },
    {
      settled: {
        type: 'object',
        required: ['rewindId', 'work', 'restored', 'left', 'skipped'],
        properties: {
          rewindId: TEXT,
          work: { enum: ['rewind', 'undo', 'restore'] },
          restored: PATHS,
          left: PATHS,
          skipped: {
            type: 'array',
            description: 'why each file that is left was left',
            items: { type: 'object', required: ['path', 'reason'], properties: { path: TEXT, reason: TEXT } },
          },
        },
      },
    },
  ],
  output: {
    text: (view, page) => {
      if (view.kind === 'outcome') return renderOutcome(view.outcome, page);
      if (view.kind === 'history') return renderHistory(view.rewinds, page);
      return abortedText(view.settled, (path) => safeText(page.redaction.text(path)));
    },
    json: (view, { redaction }) => {
      if (view.kind === 'outcome') return { members: outcomeJson(view.outcome, redaction) };
      if (view.kind === 'history') return { members: { rewinds: view.rewinds.map((each) => ({ ...each })) } };
      return { members: { settled: settledJson(view.settled, redaction) } };
    },
    jsonl: (view) => (view.kind === 'history' ? view.rewinds.map((each) => ({ ...each })) : []),
    quiet: (view, page) => {
      if (view.kind === 'outcome') return quietOutcome(view.outcome, page);
      return view.kind === 'history' ? view.rewinds.map(({ rewindId }) => rewindId) : [view.settled.rewindId];
    },
    notes: (view) => {
      if (view.kind === 'outcome') return outcomeNotes(view.outcome);
      return view.kind === 'history' && view.rewinds.length === 0
        ? [`Session ${view.sessionId} has nothing to undo.`]
        : [];
    },
    exitCode: (view) => (view.kind === 'outcome' ? exitCodeOf(view.outcome) : EXIT_DONE),
  },
  run: runRewind,
});

const MODES = ['to', 'undo', 'history', 'abort', 'continue'] as const;
/** The flags that each way to go back knows. */
const MODE_FLAGS: Readonly<Record<(typeof MODES)[number], readonly string[]>> = {
  to: [
    'exclude-target',
    'dry-run',
    'events-only',
    'files-only',
    'workspace',
    'force',
    'allow-partial',
    'strict',
    'whole-turns',
    'expect-head',
  ],
  undo: ['dry-run', 'workspace', 'force', 'allow-partial'],
  history: [],
  abort: ['workspace'],
  continue: ['workspace', 'force', 'allow-partial'],
};

async function runRewind(context: CommandContext, args: ParsedArguments): Promise<RewindView> {
  const mode = modeOf(args);
  if (context.globals.format === 'jsonl' && mode !== 'history') {
    throw new UsageError('Of rewind only --history is a list', 'Give --json instead of --jsonl.');
  }
  const id = await findSession(context, args.operand('session') ?? '');
  switch (mode) {
    case 'to':
      return { kind: 'outcome', outcome: await rewindTo(context, id, args) };
    case 'undo':
      return { kind: 'outcome', outcome: await undo(context, id, args) };
    case 'history':
      return { kind: 'history', rewinds: await context.store.rewindHistory(id), sessionId: id };
    case 'abort':
      return { kind: 'aborted', settled: await abort(context, id, args), sessionId: id };
    case 'continue':
      return { kind: 'outcome', outcome: await goOn(context, id, args) };
    default:
      return mode satisfies never;
  }
}

function modeOf(args: ParsedArguments): (typeof MODES)[number] {
  const given = new Set([...MODES, ...MODE_FLAGS.to].filter((flag) => args.flag(flag)));
  refuseTogether(given, ...MODES);
  refuseTogether(given, 'events-only', 'files-only');
  refuseTogether(given, 'events-only', 'workspace');
  const mode = MODES.find((each) => given.has(each));
  if (mode === undefined)
    throw new UsageError(
      'rewind needs one of --to, --undo, --history, --abort, --continue',
      'See: zero-sessions rewind --help',
    );
  for (const flag of MODE_FLAGS.to) {
    if (!MODE_FLAGS[mode].includes(flag)) refuseTogether(given, flag, mode);
  }
  return mode;
}

async function rewindTo(context: CommandContext, id: string, args: ParsedArguments): Promise<RewindOutcome> {
  const excludeTarget = args.flag('exclude-target');
  const head = args.text('expect-head');
  const target = parsePosition(parseFilled(args.text('to') ?? '', '--to'), { allowNone: true });
  if (excludeTarget && target.kind === 'none')
    throw new UsageError('--exclude-target: 0 is no event that could be dropped');
  const part = args.flag('events-only') ? 'events' : args.flag('files-only') ? 'files' : 'all';
  return goBack(
    context,
    id,
    {
      target,
      excludeTarget,
      part,
      workspace: workspaceOf(context, args),
      force: args.flag('force'),
      allowPartial: args.flag('allow-partial'),
      strict: args.flag('strict'),
      wholeTurns: args.flag('whole-turns'),
      expectHead: head === undefined ? undefined : parseCount(head, '--expect-head'),
    },
    { dryRun: args.flag('dry-run'), work: part === 'files' ? 'restore' : 'rewind' },
  );
}

async function undo(context: CommandContext, id: string, args: ParsedArguments): Promise<RewindOutcome> {
  const allowed = allowanceOf(args);
  const options = { rewindId: filledText(args, 'undo'), ...allowed, workspace: workspaceOf(context, args) };
  try {
    if (args.flag('dry-run')) {
      return { kind: 'planned', work: 'undo', plan: await context.store.previewUndo(id, options), allowed };
    }
    await warnIfInUse(context, id);
    const done = await context.store.undoRewind(id, options);
    return { kind: 'done', work: 'undo', ...done, allowed, kept: await notableKept(context, id) };
  } catch (error) {
    if (!args.flag('dry-run')) throw error;
    return plannedThough(context, error, 'undo', allowed);
  }
}

function abort(context: CommandContext, id: string, args: ParsedArguments): Promise<SettledRewind> {
  return context.store.abortRewind(id, { workspace: workspaceOf(context, args) });
}

async function goOn(context: CommandContext, id: string, args: ParsedArguments): Promise<RewindOutcome> {
  const allowed = allowanceOf(args);
  const workspace = workspaceOf(context, args);
  const done = await context.store.continueRewind(id, { ...allowed, workspace });
  return { kind: 'done', ...done, allowed, kept: await notableKept(context, id) };
}

function allowanceOf(args: ParsedArguments): Allowance {
  return { force: args.flag('force'), allowPartial: args.flag('allow-partial') };
}

function settledJson({ rewindId, work, restored, left, skipped }: SettledRewind, redaction: Redaction): JsonMembers {
  return {
    rewindId,
    work,
    restored: restored.map((path) => redaction.text(path)),
    left: left.map((path) => redaction.text(path)),
    skipped: skipped.map(({ path, reason }) => ({ path: redaction.text(path), reason: redaction.text(reason) })),
  };
}

function abortedText({ work, restored, skipped }: SettledRewind, shown: (text: string) => string): string {
  const lines = [
    `The interrupted ${work} was taken back.`,
    ...restored.map((path) => `restored  ${shown(path)}`),
    ...skipped.map(({ path, reason }) => `left      ${shown(path)}  (${shown(reason)})`),
  ];
  return `${lines.join('\n')}\n`;
}
