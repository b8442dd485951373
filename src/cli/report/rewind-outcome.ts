import { ZeroSessionsError } from '../../errors.js';
import type { RewindPlan } from '../../plan/rewind/rewind.js';
import type { RewindReport } from '../../store/rewind/apply-rewind.js';
import type { RewindOptions } from '../../store/rewind/plan-from-disk.js';
import type { CommandContext, MemberSchemas } from '../command.js';
import { UsageError } from '../errors.js';
import type { Page } from '../page.js';
import type { Redaction } from '../redaction.js';
import type { JsonMembers } from '../render/json.js';
import { openCallNotes } from '../render/open-calls.js';
import { isRewindPlan, planJson, reportJson } from '../render/plan-json.js';
import { EVENT_REF_SCHEMA } from '../schema/schema-parts.js';
import { EXIT_CODES, EXIT_DONE } from './exit-codes.js';
import { type KeptSize, keptNote, notableKept } from './kept-size.js';

/** What going back came to: a plan, or a plan carried out. */
export type RewindOutcome =
  | {
      readonly kind: 'planned';
      readonly work: RewindWork;
      readonly plan: RewindPlan;
      readonly allowed: Allowance;
      /** What refuses it, where that is not in the plan itself. */
      readonly refusal?: ZeroSessionsError | undefined;
    }
  | {
      readonly kind: 'done';
      readonly work: RewindWork;
      readonly plan: RewindPlan;
      readonly report: RewindReport;
      readonly allowed: Allowance;
      /** How much is kept, where that is worth a word. */
      readonly kept: KeptSize | undefined;
    };

/** What kind of going back it is, for the words. */
type RewindWork = 'rewind' | 'restore' | 'undo';

/** What was allowed that is else refused. */
export interface Allowance {
  readonly force: boolean;
  readonly allowPartial: boolean;
  /** Whether it is refused where something would stay that no checkpoint brings back. */
  readonly strict?: boolean | undefined;
}

/** Gives the paths of a plan, those left alone aside, or the id to undo it by. */
export function* quietOutcome(outcome: RewindOutcome, { redaction }: Page): Generator<string> {
  if (outcome.kind === 'done') {
    if (outcome.report.rewindId !== null) yield outcome.report.rewindId;
    return;
  }
  for (const { path, action } of outcome.plan.files) if (action !== 'leave') yield redaction.text(path);
}

/** Gives an outcome as the members of a document. */
export function outcomeJson(outcome: RewindOutcome, redaction: Redaction): JsonMembers {
  const plan = planJson(outcome.plan, redaction);
  return outcome.kind === 'planned' ? { plan } : { plan, report: reportJson(outcome.report, redaction) };
}

/** Gives the exit code: that of a plan is what carrying it out would give. */
export function exitCodeOf(outcome: RewindOutcome): number {
  if (outcome.kind === 'done') return EXIT_DONE;
  const { plan, allowed, refusal } = outcome;
  if (refusal !== undefined) return EXIT_CODES[refusal.code];
  const has = (action: string) => plan.files.some((file) => file.action === action);
  if (has('impossible') && !allowed.allowPartial) return EXIT_CODES.INCOMPLETE;
  if (isTooLittle(outcome)) return EXIT_CODES.INCOMPLETE;
  return (has('conflict') || plan.doubt !== undefined) && !allowed.force ? EXIT_CODES.CONFLICT : EXIT_DONE;
}

function isTooLittle({ plan, allowed }: RewindOutcome): boolean {
  return allowed.strict === true && plan.uncovered.length > 0;
}

/** Gives what a person should know besides: calls that lose their results, and what would be refused. */
export function outcomeNotes(outcome: RewindOutcome): readonly string[] {
  const { target, openCalls, wholeTargets } = outcome.plan;
  const [before, after] = wholeTargets;
  const kept = outcome.kind === 'done' && outcome.kept !== undefined ? [keptNote(outcome.kept)] : [];
  return [...openCallNotes(target, { openCalls, whole: { before, after } }), ...refusalOf(outcome), ...kept];
}

function refusalOf(outcome: RewindOutcome): readonly string[] {
  if (outcome.kind === 'planned' && outcome.refusal !== undefined) {
    return [`This would be refused: ${outcome.refusal.message}`, `  ${outcome.refusal.hint}`];
  }
  switch (exitCodeOf(outcome)) {
    case EXIT_CODES.INCOMPLETE:
      if (isTooLittle(outcome)) {
        return ['This would be refused: dropped events may have changed files that no checkpoint has (--strict).'];
      }
      return ['This would be refused: some files cannot be brought back. --allow-partial does the rest.'];
    case EXIT_CODES.CONFLICT:
      if (outcome.plan.doubt !== undefined) {
        return [
          `This would be refused: nobody can tell all that there is to undo: ${outcome.plan.doubt}. --force does it.`,
        ];
      }
      return ['This would be refused: it would overwrite what somebody else changed. --force does it, and keeps that.'];
    default:
      return [];
  }
}

const PLAN_SCHEMA = {
  type: 'object',
  required: [
    'sessionId',
    'head',
    'target',
    'targetEventId',
    'keepTarget',
    'workspace',
    'dropped',
    'files',
    'uncovered',
    'openCalls',
    'complete',
  ],
  properties: {
    sessionId: { type: 'string' },
    head: { type: 'integer' },
    target: { type: 'integer' },
    targetEventId: { type: 'string' },
    keepTarget: { type: 'boolean' },
    workspace: { type: ['string', 'null'], description: 'the folder of the files; null where none is concerned' },
    dropped: { type: 'array', items: EVENT_REF_SCHEMA },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'action', 'reason'],
        properties: {
          path: { type: 'string' },
          action: { enum: ['restore', 'delete', 'leave', 'conflict', 'impossible'] },
          reason: { type: 'string' },
        },
      },
    },
    uncovered: {
      type: 'array',
      description: 'what dropped events may have changed without a checkpoint',
      items: {
        type: 'object',
        required: ['kind', 'sequence'],
        properties: {
          kind: { enum: ['file', 'shell', 'child'] },
          sequence: { type: 'integer' },
          path: { type: 'string' },
          sessionId: { type: 'string' },
        },
      },
    },
    openCalls: {
      type: 'array',
      description: 'kept tool calls whose results are dropped',
      items: {
        type: 'object',
        required: ['sequence', 'id', 'name'],
        properties: { sequence: { type: 'integer' }, id: { type: 'string' }, name: { type: 'string' } },
      },
    },
    complete: { type: 'boolean' },
  },
} as const;

/** What a rewind did. */
export const REPORT_SCHEMA = {
  type: 'object',
  required: ['rewindId', 'targetSequence', 'filesRestored', 'filesDeleted', 'skipped'],
  properties: {
    rewindId: { type: ['string', 'null'], description: 'what --undo takes; null when there was nothing to do' },
    targetSequence: { type: 'integer' },
    filesRestored: { type: 'integer' },
    filesDeleted: { type: 'integer' },
    skipped: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'reason'],
        properties: { path: { type: 'string' }, reason: { type: 'string' } },
      },
    },
  },
} as const;

/** The documents of an outcome. */
export const OUTCOME_SCHEMAS: readonly MemberSchemas[] = [
  { plan: PLAN_SCHEMA },
  { plan: PLAN_SCHEMA, report: REPORT_SCHEMA },
];

/** Warns of a session that another process has open or is writing to: it does not notice that the log goes back. */
export async function warnIfInUse({ store, globals, warn }: CommandContext, sessionId: string): Promise<void> {
  if (globals.quiet) return;
  const { isLive, processesOf } = await store.liveSessions();
  const pids = processesOf(sessionId);
  if (pids.length > 0) {
    const processes = pids.length === 1 ? `process ${pids[0]}` : `processes ${pids.join(', ')}`;
    await warn(`Zero has session ${sessionId} open (${processes}): close it first, it would not notice.`);
  } else if (isLive(sessionId) === true) {
    await warn(`Session ${sessionId} is being written to right now.`);
  }
}

/**
 * Goes back, or plans it. What refuses it carries a plan, as CLI.md has it for the exit codes 6 and 7.
 * @throws IncompleteError (`INCOMPLETE`), ConflictError (`CONFLICT`), StalePlanError (`STALE_PLAN`),
 * WorkspaceRefusedError (`WORKSPACE_REFUSED`), InterruptedRewindError (`INTERRUPTED_REWIND`)
 */
export async function goBack(
  context: CommandContext,
  sessionId: string,
  options: RewindOptions,
  { dryRun, work }: { readonly dryRun: boolean; readonly work: RewindWork },
): Promise<RewindOutcome> {
  const { force = false, allowPartial = false, strict } = options;
  const allowed = { force, allowPartial, strict };
  try {
    if (dryRun) {
      return { kind: 'planned', work, plan: await context.store.previewRewind(sessionId, options), allowed };
    }
    await warnIfInUse(context, sessionId);
    const done = await context.store.rewind(sessionId, options);
    return { kind: 'done', work, ...done, allowed, kept: await notableKept(context, sessionId) };
  } catch (error) {
    if (!dryRun) throw error;
    return plannedThough(context, error, work, allowed);
  }
}

/**
 * Gives what was refused as a plan, for people; scripts get the error, which has the plan.
 * @throws the error where it has no plan.
 */
export function plannedThough(
  { globals }: CommandContext,
  refusal: unknown,
  work: RewindWork,
  allowed: Allowance,
): RewindOutcome {
  const isForPeople = globals.format === 'text' && !globals.quiet;
  if (!isForPeople || !(refusal instanceof ZeroSessionsError) || !('plan' in refusal)) throw refusal;
  if (!isRewindPlan(refusal.plan)) throw refusal;
  return { kind: 'planned', work, plan: refusal.plan, allowed, refusal };
}

/** Refuses flags that do not go together. */
export function refuseTogether(flags: ReadonlySet<string>, ...together: readonly string[]): void {
  const [first, second] = together.filter((flag) => flags.has(flag));
  if (first === undefined || second === undefined) return;
  throw new UsageError(`--${first} does not go with --${second}`, 'See what goes together with --help.');
}
