import { resolve } from 'node:path';
import { trimSpace } from '../../model/ids.js';
import type { OptionSpec } from '../command.js';
import type { CliContext, GlobalOptions, OutputFormat } from '../context.js';
import type { ColorMode } from '../render/style.js';
import { type ParsedArguments, parseCount, parseFilled } from './arguments.js';

/** The flags that every command has, in the order of the help; `--help` and `--version` are the parser's. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: '--root <dir>', description: "the store (else $ZERO_SESSIONS_ROOT, else Zero's own)", value: 'folder' },
  { flags: '--json', description: 'one JSON document on stdout' },
  { flags: '--jsonl', description: 'for lists: one JSON object a line' },
  { flags: '-q, --quiet', description: 'only what a script wants, one a line; no notes' },
  { flags: '--color <when>', description: 'colours', choices: ['auto', 'always', 'never'] },
  { flags: '--no-redact', description: 'show what looks like a secret as it is' },
  { flags: '--lock-timeout <ms>', description: 'how long to wait for a busy session (10000)' },
  { flags: '--no-input', description: 'never ask' },
  { flags: '--no-flock', description: 'work where flock is missing' },
  { flags: '--as-owner', description: "as root, on another user's store: keep its owner" },
];

const DEFAULT_LOCK_TIMEOUT_MS = 10_000;

/**
 * Gives the flags that every command has, defaults filled in from the environment.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for a value that cannot be.
 */
export function globalOptions(args: ParsedArguments, context: CliContext): GlobalOptions {
  return {
    root: rootOf(args.text('root'), context),
    format: formatOf(args),
    quiet: args.flag('quiet'),
    color: (args.text('color') ?? 'auto') as ColorMode,
    redact: !args.flag('no-redact'),
    lockTimeoutMs: lockTimeoutOf(args, context),
    input: !args.flag('no-input') && context.in.isTerminal && context.errIsTerminal,
    flock: !args.flag('no-flock'),
    asOwner: args.flag('as-owner'),
  };
}

/**
 * Gives the folder of the store: the one given, else that of the environment; undefined for Zero's default.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when the one given is blank.
 */
export function rootOf(given: string | undefined, { env, cwd }: Pick<CliContext, 'env' | 'cwd'>): string | undefined {
  if (given !== undefined) return resolve(cwd, parseFilled(given, '--root'));
  const fromEnv = trimSpace(env.ZERO_SESSIONS_ROOT ?? '');
  return fromEnv === '' ? undefined : resolve(cwd, fromEnv);
}

function formatOf(args: ParsedArguments): OutputFormat {
  if (args.flag('json')) return 'json';
  return args.flag('jsonl') ? 'jsonl' : 'text';
}

function lockTimeoutOf(args: ParsedArguments, { env }: CliContext): number {
  const given = args.text('lock-timeout');
  if (given !== undefined) return parseCount(given, '--lock-timeout');
  const fromEnv = trimSpace(env.ZERO_SESSIONS_LOCK_TIMEOUT ?? '');
  if (fromEnv === '') return DEFAULT_LOCK_TIMEOUT_MS;
  return parseCount(fromEnv, 'ZERO_SESSIONS_LOCK_TIMEOUT');
}
