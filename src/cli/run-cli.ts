import { InterruptedError } from '../errors.js';
import type { StoreDeps, StoreWarning } from '../store/deps.js';
import { storeDeps } from '../store/open-store.js';
import { SessionStore } from '../store/session-store.js';
import { asStoreError } from '../store/system-errors.js';
import type { ParsedArguments } from './arguments.js';
import type { Command } from './command.js';
import type { CliContext, CommandContext, GlobalOptions } from './context.js';
import { EXIT_CODES, EXIT_DONE } from './exit-codes.js';
import { globalOptions } from './global-options.js';
import { parseCommandLine } from './program.js';
import { HIDE_SECRETS, SHOW_SECRETS } from './redaction.js';
import { COMMANDS } from './registry.js';
import { safeText } from './render/safe-text.js';
import { type ColorMode, createStyle, wantsColor } from './render/style.js';
import { type ReportOptions, reportError } from './report-error.js';
import { packageVersion } from './version.js';

const HELP_WIDTH_PIPED = 80;

/**
 * Runs a command line and gives its exit code. Never throws: what goes wrong is reported in the form that was asked for.
 * @param argv - The arguments, without node and the script.
 * @see CLI.md
 */
export async function runCli(argv: readonly string[], context: CliContext): Promise<number> {
  try {
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
  const commandContext = openContext(context, globals);
  if (!globals.redact) await commandContext.note('What looks like a secret is shown as it is (--no-redact).');
  const done = command.execute(commandContext, args);
  // What only reads may be left where it is; what writes has to end well first.
  return command.writes === true ? done : Promise.race([done, interruption(context.signal)]);
}

function openContext(context: CliContext, globals: GlobalOptions): CommandContext {
  const redaction = globals.redact ? HIDE_SECRETS : SHOW_SECRETS;
  const { env, outIsTerminal } = context;
  const errStyle = errorStyle(context, globals.color);
  const say = (mark: string, text: string) => context.err.write(`${mark}${safeText(redaction.text(text))}\n`);
  const note = (text: string) => (globals.quiet ? Promise.resolve() : say('', text));
  const warn = (text: string) => say(`${errStyle.warning('warning:')} `, text);
  // Opened by the first that asks: some commands have nothing to do with a store.
  let opened: { readonly deps: StoreDeps; readonly store: SessionStore } | undefined;
  const open = () => {
    opened ??= openStore(context, globals, (warning) => {
      // Order is that of the calls, awaited or not.
      void (isNote(warning) ? note(warning.message) : warn(warning.message));
    });
    return opened;
  };
  return {
    ...context,
    globals,
    get store() {
      return open().store;
    },
    get deps() {
      return open().deps;
    },
    page: {
      style: createStyle({ color: wantsColor({ mode: globals.color, isTTY: outIsTerminal, env }) }),
      width: outIsTerminal ? context.columns : undefined,
      nowMs: outIsTerminal ? context.now().getTime() : undefined,
      unicode: isUtf8Locale(env),
      redaction,
      home: outIsTerminal ? env.HOME : undefined,
    },
    commands: COMMANDS,
    runAnother: runCli,
    note,
    warn,
  };
}

function openStore(
  { env, now, uid }: CliContext,
  { root, lockTimeoutMs, flock, asOwner }: GlobalOptions,
  onWarning: (warning: StoreWarning) => void,
): { readonly deps: StoreDeps; readonly store: SessionStore } {
  const deps = storeDeps({
    root,
    env,
    now,
    lockTimeoutMs,
    flock: flock ? 'auto' : 'off',
    uid,
    asOwner,
    onWarning,
  });
  return { deps, store: new SessionStore(deps) };
}

function isNote({ code }: StoreWarning): boolean {
  return code === 'TORN_TAIL' || code === 'REWIND_RECOVERED';
}

function isUtf8Locale(env: CliContext['env']): boolean {
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

function errorStyle({ env, errIsTerminal }: CliContext, mode: ColorMode): ReportOptions['style'] {
  return createStyle({ color: wantsColor({ mode, isTTY: errIsTerminal, env }) });
}

/** Never resolves; rejects on Ctrl-C. */
function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const interrupt = () => reject(new InterruptedError());
    if (signal.aborted) interrupt();
    else signal.addEventListener('abort', interrupt, { once: true });
  });
}

// The command line may be what is wrong, so the flags that matter here are looked for, not parsed.
async function report(error: unknown, argv: readonly string[], context: CliContext): Promise<number> {
  if (context.signal.aborted) return EXIT_CODES.INTERRUPTED;
  const end = argv.indexOf('--');
  const flags = new Set(end < 0 ? argv : argv.slice(0, end));
  const json = flags.has('--jsonl') ? 'jsonl' : 'text';
  return reportError(asStoreError(error), context, {
    format: flags.has('--json') ? 'json' : json,
    redaction: flags.has('--no-redact') ? SHOW_SECRETS : HIDE_SECRETS,
    style: errorStyle(context, colorAsTyped(argv)),
  });
}

function colorAsTyped(argv: readonly string[]): ColorMode {
  const flag = argv.findIndex((each) => each === '--color' || each.startsWith('--color='));
  const typed = argv[flag]?.includes('=') ? argv[flag]?.slice('--color='.length) : argv[flag + 1];
  return flag >= 0 && (typed === 'always' || typed === 'never') ? typed : 'auto';
}
