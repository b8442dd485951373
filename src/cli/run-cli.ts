import { asStoreError } from '../store/base/system-errors.js';
import type { Command } from './command.js';
import { COMPLETION_CALLBACK } from './completion/completions.js';
import type { CliContext } from './context.js';
import type { ParsedArguments } from './input/arguments.js';
import { globalOptions } from './input/global-options.js';
import { pageOf } from './page.js';
import { HIDE_SECRETS, SHOW_SECRETS } from './redaction.js';
import type { ColorMode } from './render/style.js';
import { errorStyle } from './report/error-style.js';
import { EXIT_DONE } from './report/exit-codes.js';
import { reportError } from './report/report-error.js';
import { packageVersion } from './version.js';

const HELP_WIDTH_PIPED = 80;

/**
 * Runs a command line and gives its exit code. Never throws: what goes wrong is reported in the form that was asked for.
 * @param argv - The arguments, without node and the script.
 * @see CLI.md
 */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
    // Somebody waits for a completion at each keystroke, and it does without the parser.
    if (argv[0] === COMPLETION_CALLBACK) {
      const { answerCompletion } = await import('./completion/complete-callback.js');
      return await Promise.race([answerCompletion(argv.slice(1), context), interruption(context.signal)]);
    }
    const { parseCommandLine } = await import('./program.js');
    const width = context.outIsTerminal ? context.columns : HELP_WIDTH_PIPED;
    const invocation = await parseCommandLine(argv, { version: packageVersion(), width });
    if (invocation.kind === 'run') return await runCommand(invocation.command, invocation.args, context);
    await context.out.write(invocation.text);
    return EXIT_DONE;
  } catch (error) {
    return report(error, argv, context);
  }
}

async function runCommand(command: Command, args: ParsedArguments, context: CliContext): Promise<number> {
  const globals = globalOptions(args, context);
  // Help and mistyped command lines do without a store, which takes a while to load.
  const { openContext } = await import('./open-context.js');
  const commandContext = openContext(context, globals, runCli);
  if (!globals.redact) await commandContext.note('What looks like a secret is shown as it is (--no-redact).');
  const { signal } = commandContext;
  signal.throwIfAborted();
  const done = command.execute(commandContext, args);
  // What only reads may be left where it is; what writes ends by itself: its waits do, and its first change fails.
  return command.writes === true ? done : Promise.race([done, interruption(signal)]);
}

/** Never resolves; rejects with the reason of the signal. */
function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const interrupt = () => reject(signal.reason);
    if (signal.aborted) interrupt();
    else signal.addEventListener('abort', interrupt, { once: true });
  });
}

// The command line may be what is wrong, so the flags that matter here are looked for, not parsed.
async function report(error: unknown, argv: readonly string[], context: CliContext): Promise<number> {
  const end = argv.indexOf('--');
  const flags = new Set(end < 0 ? argv : argv.slice(0, end));
  const json = flags.has('--jsonl') ? 'jsonl' : 'text';
  const redaction = flags.has('--no-redact') ? SHOW_SECRETS : HIDE_SECRETS;
  const style = errorStyle(context, colorAsTyped(argv));
  return reportError(asStoreError(error), context, {
    format: flags.has('--json') ? 'json' : json,
    redaction,
    style,
    page:
      flags.has('-q') || flags.has('--quiet')
        ? undefined
        : pageOf(context, context.errIsTerminal, { redaction, style }),
  });
}

function colorAsTyped(argv: readonly string[]): ColorMode {
  const flag = argv.findIndex((each) => each === '--color' || each.startsWith('--color='));
  const typed = argv[flag]?.includes('=') ? argv[flag]?.slice('--color='.length) : argv[flag + 1];
  return flag >= 0 && (typed === 'always' || typed === 'never') ? typed : 'auto';
}
