import type { CliContext, GlobalOptions } from '../context.js';
import { rootOf } from '../input/global-options.js';
import { renderCompletion } from '../render/completion.js';
import { EXIT_DONE } from '../report/exit-codes.js';
import { type Candidate, type Completion, isPlainWord } from './candidate.js';
import { rootOnLine, type WantedValue, wantedAt } from './complete-line.js';
import { parseRequest, type TypedLine } from './typed-line.js';

/**
 * Answers a completion script: writes what fits at the cursor, one candidate a line. Never fails, never writes to a store, and
 * says nothing besides: a shell would show it in the middle of the line that is being typed.
 * @param argv - What the script gives; see `parseRequest`.
 */
export async function answerCompletion(argv: readonly string[], context: CliContext): Promise<number> {
  const request = parseRequest(argv);
  if (request === undefined) return EXIT_DONE;
  try {
    const completion = await completionAt(request.line, context);
    await context.out.write(renderCompletion(completion, request));
  } catch {
    // Nothing fits: there is no store, nobody knows the session, the shell has gone.
  }
  return EXIT_DONE;
}

async function completionAt(line: TypedLine, context: CliContext): Promise<Completion> {
  const wanted = await wantedAt(line);
  const typed = line.current.slice(wanted.lead.length);
  const completion = wanted.kind === 'words' ? wanted : await lookUp(wanted, typed, line, context);
  if (completion.kind !== 'words') return completion;
  const candidates = fitting(completion.candidates, typed);
  return { kind: 'words', candidates: candidates.map((each) => ({ ...each, word: wanted.lead + each.word })) };
}

async function lookUp(wanted: WantedValue, typed: string, line: TypedLine, context: CliContext): Promise<Completion> {
  // Commands and flags do without a store, which takes a while to load.
  const [{ completeValue }, { openContext }] = await Promise.all([
    import('./complete-value.js'),
    import('../open-context.js'),
  ]);
  const silent = { ...context, err: { ...context.err, write: () => Promise.resolve() } };
  return completeValue(
    openContext(silent, readingOptions(line, context), async () => EXIT_DONE),
    wanted,
    typed,
  );
}

function readingOptions(line: TypedLine, context: CliContext): GlobalOptions {
  return {
    root: rootOf(withHome(rootOnLine(line), context), context),
    format: 'text',
    quiet: true,
    color: 'never',
    redact: true,
    lockTimeoutMs: 0,
    input: false,
    flock: true,
    asOwner: false,
  };
}

/** Puts the home folder in place of the `~` that the shell would have expanded. */
function withHome(folder: string | undefined, { env }: CliContext): string | undefined {
  return folder?.replace(/^~(?=\/|$)/, () => env.HOME ?? '~');
}

/** Gives the candidates that begin with what was typed and that every shell takes as they stand, each once. */
function fitting(candidates: readonly Candidate[], typed: string): readonly Candidate[] {
  const fit = candidates.filter(({ word }) => word.startsWith(typed) && isPlainWord(word));
  return [...new Map(fit.map((each) => [each.word, each])).values()];
}
