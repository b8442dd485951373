import { Argument, Command as Commander, CommanderError, Option } from 'commander';
import type { ArgumentSpec, Command, OptionSpec, RegistryEntry } from './command.js';
import { NotYetError, UsageError } from './errors.js';
import type { ParsedArguments } from './input/arguments.js';
import { isFlagWord } from './input/flag-words.js';
import { GLOBAL_OPTIONS } from './input/global-options.js';
import { COMMANDS, FLAGS_WITH_VALUE, GROUP_SUMMARIES, LATER_COMMANDS } from './registry.js';
import { type HelpSection, type HelpView, renderHelp } from './render/help.js';

/** What a command line asks for: a text of the program's own, or a command to run. */
type Invocation =
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'run'; readonly command: Command; readonly args: ParsedArguments };

const PROGRAM = 'zero-sessions';
const DEFAULT_COMMAND = 'list';

/** What the parser needs to know of its surroundings. */
interface ParserOptions {
  readonly version: string;
  /** Columns for help. */
  readonly width: number;
}

/**
 * Gives what a command line asks for; only the command that it names is loaded.
 *
 * Flags may stand anywhere, also before the command. Nothing is guessed from abbreviations.
 * @throws {@link UsageError} (`USAGE`) when it cannot be understood, with a suggestion.
 * @throws {@link NotYetError} (`NOT_YET`) for a command that comes later.
 * @see CLI.md, "Shape"
 */
export async function parseCommandLine(argv: readonly string[], options: ParserOptions): Promise<Invocation> {
  const words = commandWords(argv);
  const first = words[0];
  if (first === undefined) {
    if (asksForHelp(argv)) return printed(overview(options), ['--help']);
    return parseFor(defaultEntry(), argv, options);
  }
  const entry = COMMANDS.find((each) => each.name === first.text || each.aliases.includes(first.text));
  if (entry !== undefined) return parseFor(entry, without(argv, [first.at]), options);
  const members = COMMANDS.filter((each) => each.name.startsWith(`${first.text} `));
  if (members.length > 0) return parseForGroup(first, words[1], members, argv, options);
  if (LATER_COMMANDS.includes(first.text)) throw new NotYetError(`${PROGRAM} ${first.text}`);
  // The overview knows every command, and what a mistyped one may have meant.
  return printed(overview(options), ['--', first.text]);
}

function parseForGroup(
  group: Word,
  second: Word | undefined,
  members: readonly RegistryEntry[],
  argv: readonly string[],
  options: ParserOptions,
): Promise<Invocation> | Invocation {
  const entry = members.find((each) => each.name === `${group.text} ${second?.text}`);
  if (entry !== undefined && second !== undefined) {
    return parseFor(entry, without(argv, [group.at, second.at]), options);
  }
  const parser = groupOverview(group.text, members, options);
  if (asksForHelp(argv)) return printed(parser, ['--help']);
  if (second !== undefined) return printed(parser, [second.text]);
  const names = members.map((each) => lastWord(each.name)).join(', ');
  throw new UsageError(`${group.text} needs one of: ${names}`, `See: ${PROGRAM} ${group.text} --help`);
}

async function parseFor(entry: RegistryEntry, rest: readonly string[], options: ParserOptions): Promise<Invocation> {
  const command = await entry.load();
  const parser = newParser(`${PROGRAM} ${entry.name}`, commandHelp(entry, command), options);
  for (const argument of command.arguments) parser.commander.addArgument(argumentOf(argument));
  for (const option of command.options) parser.commander.addOption(optionOf(option));
  let args: ParsedArguments | undefined;
  parser.commander.action((...given: unknown[]) => {
    args = parsedArguments(command, given, parser.commander.opts());
  });
  const text = parse(parser, rest);
  if (text !== undefined) return { kind: 'print', text };
  if (args === undefined) throw new Error(`${entry.name} was parsed without a result`);
  refuseContradictions(entry.name, command, args);
  return { kind: 'run', command, args };
}

function refuseContradictions(name: string, command: Command, args: ParsedArguments): void {
  const hint = `See: ${PROGRAM} ${name} --help`;
  if (args.flag('jsonl') && args.flag('json')) throw new UsageError('--jsonl does not go with --json', hint);
  if (args.flag('jsonl') && args.flag('quiet')) throw new UsageError('--jsonl does not go with --quiet', hint);
  if (args.flag('json') && !command.hasJson) throw new UsageError(`${name} has no --json`, hint);
  if (args.flag('jsonl') && !command.hasJsonl) throw new UsageError(`${name} gives no list: it has no --jsonl`, hint);
}

function defaultEntry(): RegistryEntry {
  return COMMANDS.find((each) => each.name === DEFAULT_COMMAND) as RegistryEntry;
}

/** A word of the command line that is no flag and no flag's value. */
interface Word {
  readonly text: string;
  readonly at: number;
}

/** Gives the first two words: the command, and its member when it is a group. */
function commandWords(argv: readonly string[]): readonly Word[] {
  const words: Word[] = [];
  for (let at = 0; at < argv.length && words.length < 2; at += 1) {
    const text = argv[at] as string;
    if (text === '--') break;
    if (!isFlagWord(text)) words.push({ text, at });
    else if (FLAGS_WITH_VALUE.has(text)) at += 1;
  }
  return words;
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).some((each) => each === '-h' || each === '--help');
}

function without(argv: readonly string[], positions: readonly number[]): readonly string[] {
  return argv.filter((_, at) => !positions.includes(at));
}

/** A parser of commander's, and what it has printed so far. */
interface Parser {
  readonly commander: Commander;
  readonly output: { text: string };
}

function newParser(name: string, help: HelpView, options: ParserOptions): Parser {
  const output = { text: '' };
  const commander = new Commander(name)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        output.text += text;
      },
      // Errors leave by way of report-error.ts, with a code and a hint.
      writeErr: () => {},
    })
    .configureHelp({ formatHelp: () => renderHelp(help, options.width) })
    .helpOption(HELP_FLAGS[0])
    .version(options.version, VERSION_FLAGS[0])
    .helpCommand(false)
    .allowExcessArguments(false);
  for (const option of GLOBAL_OPTIONS) commander.addOption(optionOf(option));
  return { commander, output };
}

const HELP_FLAGS = ['-h, --help', 'show help'] as const;
const VERSION_FLAGS = ['-V, --version', 'print the version'] as const;

/** Gives a parser that knows every command by name, for its help and its errors only. */
function overview(options: ParserOptions): Parser {
  const groups = new Map<string, [string, string][]>();
  const words = new Set<string>();
  for (const { name, aliases, summary, group } of COMMANDS) {
    const [word = name, member] = name.split(' ');
    if (!words.has(word)) {
      const line = member === undefined ? summary : (GROUP_SUMMARIES[word] ?? '');
      groups.set(group, [...(groups.get(group) ?? []), [[word, ...aliases].join(', '), line]]);
    }
    for (const each of [word, ...aliases]) words.add(each);
  }
  const help: HelpView = {
    summary: 'Look at, fork, rewind and resume the sessions of the Zero coding agent',
    usage: `${PROGRAM} [command] [session] [flags]`,
    description: `Without a command: ${DEFAULT_COMMAND}. More on a command: ${PROGRAM} <command> --help`,
    sections: [...[...groups].map(([heading, items]) => ({ heading, items })), GLOBAL_SECTION],
    examples: [`${PROGRAM} list --here`, `${PROGRAM} show latest`, `${PROGRAM} demo`],
  };
  return withCommands(newParser(PROGRAM, help, options), words);
}

function groupOverview(group: string, members: readonly RegistryEntry[], options: ParserOptions): Parser {
  const help: HelpView = {
    summary: GROUP_SUMMARIES[group] ?? group,
    usage: `${PROGRAM} ${group} <command> [flags]`,
    description: `More on a command: ${PROGRAM} ${group} <command> --help`,
    sections: [
      { heading: 'Commands', items: members.map(({ name, summary }) => [lastWord(name), summary] as const) },
      GLOBAL_SECTION,
    ],
    examples: [],
  };
  return withCommands(
    newParser(`${PROGRAM} ${group}`, help, options),
    new Set(members.map(({ name }) => lastWord(name))),
  );
}

function withCommands(parser: Parser, names: ReadonlySet<string>): Parser {
  for (const name of names) parser.commander.command(name);
  return parser;
}

function commandHelp({ name, aliases, summary }: RegistryEntry, command: Command): HelpView {
  const operands = command.arguments.map((argument) => argument.name);
  const also = aliases.length > 0 ? ` Also: ${aliases.join(', ')}.` : '';
  return {
    summary,
    usage: [PROGRAM, name, ...operands, '[flags]'].join(' '),
    description: command.description + also,
    sections: [
      { heading: 'Arguments', items: command.arguments.map((each) => [each.name, describe(each)] as const) },
      { heading: 'Flags', items: command.options.map((each) => [each.flags, describe(each)] as const) },
      GLOBAL_SECTION,
    ],
    examples: command.examples,
  };
}

function describe({ description, choices }: ArgumentSpec | OptionSpec): string {
  return choices === undefined ? description : `${description}: ${choices.join(', ')}`;
}

const GLOBAL_SECTION: HelpSection = {
  heading: 'Flags of every command',
  items: [...GLOBAL_OPTIONS.map((each) => [each.flags, describe(each)] as const), HELP_FLAGS, VERSION_FLAGS],
};

function printed(parser: Parser, argv: readonly string[]): Invocation {
  const text = parse(parser, argv);
  if (text === undefined) throw new Error(`Nothing came of ${argv.join(' ')}`);
  return { kind: 'print', text };
}

/** Parses; gives help or the version when it is asked for. */
function parse({ commander, output }: Parser, argv: readonly string[]): string | undefined {
  try {
    commander.parse(argv, { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return output.text;
    throw usageErrorOf(error, commander.name());
  }
}

// error: unknown option '--jsno'\n(Did you mean --json?)
const SUGGESTION = /\n\((Did you mean .*)\)$/s;

function usageErrorOf(error: CommanderError, name: string): UsageError {
  const message = error.message.replace(/^error: /, '');
  const suggestion = SUGGESTION.exec(message)?.[1];
  const text = message.replace(SUGGESTION, '');
  return new UsageError(text.charAt(0).toUpperCase() + text.slice(1), suggestion ?? `See: ${name} --help`);
}

function argumentOf({ name, description, choices }: ArgumentSpec): Argument {
  const argument = new Argument(name, description);
  return choices === undefined ? argument : argument.choices(choices);
}

function optionOf({ flags, description, repeat, choices }: OptionSpec): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  if (repeat === true) {
    option.argParser((value: string, given: readonly string[] | undefined) => [...(given ?? []), value]);
  }
  return option;
}

function parsedArguments(
  command: Command,
  operands: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
): ParsedArguments {
  const values = new Map<string, unknown>();
  for (const spec of [...command.options, ...GLOBAL_OPTIONS]) {
    const option = new Option(spec.flags);
    const value = options[option.attributeName()];
    // commander keeps --no-input as "input" that is false.
    values.set(option.name(), option.negate ? value === false : value);
  }
  const places = new Map(command.arguments.map(({ name }, at) => [name.replace(/[<>[\].]/g, ''), at]));
  const operandOf = (name: string) => operands[places.get(name) ?? -1];
  return {
    operand: (name) => asText(operandOf(name)),
    operands: (name) => asTexts(operandOf(name)),
    flag: (name) => values.get(name) !== undefined && values.get(name) !== false,
    text: (name) => asText(values.get(name)),
    texts: (name) => asTexts(values.get(name)),
  };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function lastWord(name: string): string {
  return name.slice(name.indexOf(' ') + 1);
}
