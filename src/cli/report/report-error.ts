import { InvalidArgumentError, ZeroSessionsError } from '../../errors.js';
import { POSITION } from '../../plan/position.js';
import { SELECTOR } from '../../plan/selector.js';
import type { CliContext, GlobalOptions } from '../context.js';
import { InterruptedError, SummarizerFailedError, UsageError } from '../errors.js';
import type { Page } from '../page.js';
import type { Redaction } from '../redaction.js';
import { type JsonView, renderJsonDocument, renderJsonLine, SCHEMA_VERSION } from '../render/json.js';
import { isRewindPlan, planJson } from '../render/plan-json.js';
import { safeLines, safeText } from '../render/safe-text.js';
import type { Style } from '../render/style.js';
import { BUG_CODE, EXIT_CODES, EXIT_FAILED } from './exit-codes.js';
import { exitOfInterrupted } from './interruption.js';

/** How an error is to be told. */
interface ReportOptions {
  readonly format: GlobalOptions['format'];
  readonly redaction: Redaction;
  /** For stderr. */
  readonly style: Style;
  /** How the plan of what was refused is shown on stderr; undefined where it is not. */
  readonly page?: Page | undefined;
}

/**
 * Tells an error: as text on stderr, and as JSON on stdout under `--json` and `--jsonl`.
 * @returns The exit code.
 * @see CLI.md, "JSON"
 */
export async function reportError(error: unknown, context: CliContext, options: ReportOptions): Promise<number> {
  const told = error instanceof ZeroSessionsError ? asTyped(error) : bug(error);
  if (told instanceof InterruptedError) return exitOfInterrupted(told); // whoever sent the signal knows
  if (options.format !== 'text') await writeJson(told, context, options);
  else await writePlan(told, context, options);
  await context.err.write(errorText(told, options));
  if (options.format === 'text') await context.err.write(summarySoFar(told, options));
  if (told.code === BUG_CODE && error instanceof Error && context.env.ZERO_SESSIONS_DEBUG) {
    await context.err.write(`${error.stack}\n`);
  }
  return told.code === BUG_CODE ? EXIT_FAILED : EXIT_CODES[told.code];
}

const TYPED: ReadonlySet<string> = new Set([POSITION, SELECTOR]);

/** Names and positions are typed: to the library they are arguments, to who reads this they are the command line. */
function asTyped(error: ZeroSessionsError): ZeroSessionsError {
  if (!(error instanceof InvalidArgumentError) || !TYPED.has(error.argument)) return error;
  return new UsageError(error.message, error.hint);
}

type ToldError = ZeroSessionsError | (Error & { readonly code: typeof BUG_CODE; readonly hint: string });

/** Gives an error as text for people: what is wrong, and what to do next. */
function errorText({ message, hint }: Pick<ToldError, 'message' | 'hint'>, options: ReportOptions): string {
  const { style, redaction } = options;
  const shown = (text: string) => safeText(redaction.text(text));
  return `${style.error('zero-sessions:')} ${shown(message)}\n  ${shown(hint)}\n`;
}

/** Gives what a summarizer had written before it failed: it may have cost minutes. */
function summarySoFar(error: ToldError, { redaction }: ReportOptions): string {
  if (!(error instanceof SummarizerFailedError) || error.summary === '') return '';
  const lines = safeLines(redaction.text(error.summary)).map((line) => `${line}\n`);
  return `The summary so far, through event ${error.through}:\n${lines.join('')}`;
}

// The same table as `--dry-run` shows, so that nobody has to run it twice.
async function writePlan(error: ToldError, { err }: CliContext, { page }: ReportOptions): Promise<void> {
  if (page === undefined || !('plan' in error) || !isRewindPlan(error.plan)) return;
  const { renderRefused } = await import('../render/rewind.js');
  await err.write(`${renderRefused(error.plan, page)}\n`);
}

// When stdout itself is what failed, stderr still has the message.
async function writeJson(error: ToldError, { out }: CliContext, { format, redaction }: ReportOptions): Promise<void> {
  const members = { error: errorView(error, redaction) };
  try {
    await out.write(
      format === 'json' ? renderJsonDocument(members) : renderJsonLine({ schemaVersion: SCHEMA_VERSION, ...members }),
    );
  } catch (failure) {
    if (!(failure instanceof ZeroSessionsError)) throw failure;
  }
}

/** Gives an error with its facts: code, message, hint, then the fields of its class. */
function errorView(error: ToldError, redaction: Redaction): JsonView {
  const { code, message, hint } = error;
  const facts = Object.entries(error).filter(([name, fact]) => fact !== undefined && !ENVELOPE.has(name));
  return Object.fromEntries([
    ...Object.entries({ code, message: redaction.text(message), hint: redaction.text(hint) }),
    ...facts.map(([name, fact]) => [name, isRewindPlan(fact) ? planJson(fact, redaction) : redacted(fact, redaction)]),
  ]);
}

const ENVELOPE: ReadonlySet<string> = new Set(['name', 'code', 'message', 'hint', 'cause', 'stack']);

function redacted(value: unknown, redaction: Redaction): JsonView {
  if (typeof value === 'string') return redaction.text(value);
  if (value instanceof Uint8Array) return redaction.json(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redaction));
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return Object.fromEntries(members.map(([name, member]) => [name, redacted(member, redaction)]));
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function bug(error: unknown): ToldError {
  const message = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(`This should not have happened: ${message}`), {
    code: BUG_CODE,
    hint: 'Please report it, with what ZERO_SESSIONS_DEBUG=1 adds to this message.',
  } as const);
}
