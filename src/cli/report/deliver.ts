import { ZeroSessionsError } from '../../errors.js';
import type { CommandContext, CommandOutput, JsonDocument, TextPieces } from '../command.js';
import { AnswerLostError } from '../errors.js';
import { type JsonView, openJsonDocument, openJsonLines, renderJsonDocument } from '../render/json.js';
import { safeText } from '../render/safe-text.js';
import { EXIT_DONE } from './exit-codes.js';

// Small parts are gathered: a system call for each would be most of the work.
const FLUSH_LENGTH = 64 * 1024;

// On a terminal it is seen; what is stored or passed on has changed without a word.
const HIDDEN = 'What looks like a secret was replaced by [REDACTED]; --no-redact gives it as it is.';

/**
 * Writes a view in the form that is wanted: data to stdout, then warnings and notes to stderr.
 * @throws AnswerLostError (`ANSWER_LOST`) when something was changed and stdout does not take the answer.
 * @returns The exit code; done when the reader has gone, since what is missing is what nobody wants.
 * @see CLI.md, "Shape"
 */
export async function deliver<View>(context: CommandContext, output: CommandOutput<View>, view: View): Promise<number> {
  try {
    await writeData(context, output, view);
  } catch (error) {
    if (!context.interruption.isTooLate || !(error instanceof ZeroSessionsError)) throw error;
    throw new AnswerLostError(await writtenNames(context, output, view), error);
  }
  if (context.out.closed) return EXIT_DONE;
  if (context.hasHidden() && !context.outIsTerminal) await context.warn(output.hiddenWarning ?? HIDDEN);
  for (const warning of output.warnings?.(view) ?? []) await context.warn(warning);
  for (const note of output.notes?.(view, context.page) ?? []) await context.note(note);
  return output.exitCode?.(view) ?? EXIT_DONE;
}

async function writeData<View>(context: CommandContext, output: CommandOutput<View>, view: View): Promise<void> {
  const { globals, page } = context;
  const verbatim = output.verbatim?.(view);
  if (verbatim !== undefined) return writePieces(context, verbatim);
  if (globals.format === 'json' && typeof output.json === 'function') {
    return writeDocument(context, output.json(view, page));
  }
  if (globals.format === 'jsonl' && output.jsonl !== undefined) return writeLines(context, output.jsonl(view, page));
  if (globals.quiet && output.quiet !== undefined) {
    // Safe by the line: an id or a path with a control character in it must not become two.
    return writePieces(context, eachLine(output.quiet(view, page)));
  }
  return writePieces(context, output.text(view, page));
}

// Enough to find it by: whoever has more is not told all of it on stderr.
const MOST_NAMES = 5;

async function writtenNames<View>(
  { page }: CommandContext,
  { quiet }: CommandOutput<View>,
  view: View,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const name of quiet?.(view, page) ?? []) {
    if (names.length === MOST_NAMES) return [...names, '…'];
    names.push(name);
  }
  return names;
}

async function* eachLine(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield `${safeText(text)}\n`;
}

async function writeDocument({ out, signal }: CommandContext, document: JsonDocument): Promise<void> {
  if ('members' in document) return out.write(renderJsonDocument(document.members));
  const opened = openJsonDocument(out, document.leading, document.name);
  for await (const item of document.items) {
    if (out.closed) return;
    signal.throwIfAborted();
    await opened.item(item);
  }
  await opened.close(document.trailing());
}

async function writeLines(
  { out, signal }: CommandContext,
  items: Iterable<JsonView> | AsyncIterable<JsonView>,
): Promise<void> {
  const lines = openJsonLines(out);
  for await (const item of items) {
    if (out.closed) return;
    signal.throwIfAborted();
    await lines.item(item);
  }
  await lines.flush();
}

async function writePieces({ out, signal }: CommandContext, pieces: TextPieces): Promise<void> {
  if (typeof pieces === 'string' || pieces instanceof Uint8Array) return out.write(pieces);
  let gathered = '';
  for await (const piece of pieces) {
    if (out.closed) return;
    signal.throwIfAborted();
    if (typeof piece === 'string') gathered += piece;
    if (typeof piece === 'string' && gathered.length < FLUSH_LENGTH) continue;
    await out.write(gathered);
    gathered = '';
    if (typeof piece !== 'string') await out.write(piece);
  }
  await out.write(gathered);
}
