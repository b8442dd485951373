import type { ArgumentSpec, OptionSpec, RegistryEntry, ValueKind } from '../command.js';
import { flagNames, isFlagWord, takesValue } from '../input/flag-words.js';
import { GLOBAL_OPTIONS } from '../input/global-options.js';
import { COMMANDS, FLAGS_WITH_VALUE, GROUP_SUMMARIES } from '../registry.js';
import { bareCandidates, type Candidate } from './candidate.js';
import type { TypedLine } from './typed-line.js';

/** What can stand where the cursor is: words that the program knows by itself, or a value that has to be looked up. */
type Wanted =
  | { readonly kind: 'words'; readonly lead: string; readonly candidates: readonly Candidate[] }
  | WantedValue;

export interface WantedValue {
  readonly kind: 'value';
  /** What stands before the value in the same word: `--to=`, or nothing. */
  readonly lead: string;
  readonly of: ValueKind;
  /** The name of the session that the line is about, when there is one. */
  readonly session: string | undefined;
  /** The argument before this one. */
  readonly previous: string | undefined;
}

/** What the words of a line are. */
interface Reading {
  readonly operands: readonly string[];
  readonly values: ReadonlyMap<string, string>;
  readonly given: ReadonlySet<string>;
  /** The flag whose value comes next. */
  readonly pending: string | undefined;
  /** Whether `--` has ended the flags. */
  readonly ended: boolean;
}

const DEFAULT_COMMAND = 'list';
const OWN_FLAGS: readonly OptionSpec[] = [
  { flags: '-h, --help', description: 'show help' },
  { flags: '-V, --version', description: 'print the version' },
];
const NO_WORDS: Wanted = { kind: 'words', candidates: [], lead: '' };

/** Gives what can stand at the cursor of a line. Only the command that the line names is loaded. */
export async function wantedAt(line: TypedLine): Promise<Wanted> {
  const first = readWords(line.before, takesKnownValue);
  const [word, member] = first.operands;
  const entry = entryOf(word, member);
  if (entry !== undefined) return wantedOf(entry, entry.name.split(' ').length, line);
  const members = COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
  if (word !== undefined && (members.length === 0 || member !== undefined)) return NO_WORDS;
  if (first.pending !== undefined || (!first.ended && line.current.startsWith('-'))) {
    return word === undefined ? wantedOf(entryNamed(DEFAULT_COMMAND), 0, line) : flagsWanted([], first);
  }
  if (first.ended) return NO_WORDS;
  const candidates = word === undefined ? commandCandidates(line.current) : memberCandidates(members);
  return { kind: 'words', candidates, lead: '' };
}

/** Gives the folder of the store that a line names, as it was typed. */
export function rootOnLine(line: TypedLine): string | undefined {
  return readWhole(line, takesKnownValue).values.get('--root');
}

/** Gives each command, and in the place of a group's members the group. Aliases are offered to those who type on. */
export function commandCandidates(current: string): readonly Candidate[] {
  const candidates = new Map<string, string>();
  for (const { name, summary } of COMMANDS) {
    const [word = name, member] = name.split(' ');
    candidates.set(word, member === undefined ? summary : (GROUP_SUMMARIES[word] ?? ''));
  }
  if (current !== '') {
    for (const { aliases, summary } of COMMANDS) for (const alias of aliases) candidates.set(alias, summary);
  }
  return [...candidates].map(([word, description]) => ({ word, description }));
}

/** Gives the members of a group of commands. */
export function memberCandidates(members: readonly RegistryEntry[]): readonly Candidate[] {
  return members.map(({ name, summary }) => ({ word: name.slice(name.indexOf(' ') + 1), description: summary }));
}

function entryOf(word: string | undefined, member: string | undefined): RegistryEntry | undefined {
  return (
    COMMANDS.find(({ name, aliases }) => word !== undefined && (name === word || aliases.includes(word))) ??
    COMMANDS.find(({ name }) => name === `${word} ${member}`)
  );
}

function entryNamed(wanted: string): RegistryEntry {
  return COMMANDS.find(({ name }) => name === wanted) as RegistryEntry;
}

/** @param named - How many words name the command. */
async function wantedOf(entry: RegistryEntry, named: number, line: TypedLine): Promise<Wanted> {
  const command = await entry.load();
  const options = [...command.options, ...GLOBAL_OPTIONS, ...OWN_FLAGS];
  const optionOf = (flag: string) => options.find((option) => flagNames(option).includes(flag));
  const takes: TakesValue = (flag) => takesValue(optionOf(flag) ?? { flags: flag });
  const before = readWords(line.before, takes);
  const operands = before.operands.slice(named);
  const context = {
    session: sessionOf(command.arguments, readWhole(line, takes).operands.slice(named)),
    previous: operands.at(-1),
  };

  if (before.pending !== undefined) return valueWanted(optionOf(before.pending), { ...context, lead: '' });
  const [flag = '', ...value] = line.current.split('=');
  if (!before.ended && line.current.startsWith('--') && value.length > 0) {
    return takes(flag) === 'never' ? NO_WORDS : valueWanted(optionOf(flag), { ...context, lead: `${flag}=` });
  }
  if (!before.ended && line.current.startsWith('-')) return flagsWanted(command.options, before);
  const last = command.arguments.at(-1);
  const argument = command.arguments[operands.length] ?? (last?.name.includes('...') ? last : undefined);
  if (argument !== undefined) return valueWanted(argument, { ...context, lead: '' });
  return before.ended ? NO_WORDS : flagsWanted(command.options, before);
}

function valueWanted(
  spec: ArgumentSpec | OptionSpec | undefined,
  rest: { readonly lead: string; readonly session: string | undefined; readonly previous: string | undefined },
): Wanted {
  if (spec?.choices !== undefined) {
    return { kind: 'words', candidates: bareCandidates(spec.choices), lead: rest.lead };
  }
  return { kind: 'value', of: spec?.value ?? 'other', ...rest };
}

/** Gives the flags that may still come, by their long names. */
function flagsWanted(options: readonly OptionSpec[], { given }: Reading): Wanted {
  const open = [...options, ...GLOBAL_OPTIONS, ...OWN_FLAGS].filter(
    (option) => option.repeat === true || !flagNames(option).some((name) => given.has(name)),
  );
  const candidates = open.map((option) => ({ word: flagNames(option).at(-1) ?? '', description: option.description }));
  return { kind: 'words', candidates, lead: '' };
}

function sessionOf(specs: readonly ArgumentSpec[], operands: readonly string[]): string | undefined {
  return operands[specs.findIndex(({ value }) => value === 'session')];
}

type TakesValue = (flag: string) => ReturnType<typeof takesValue>;

// As the parser tells them before it knows the command.
const takesKnownValue: TakesValue = (flag) => (FLAGS_WITH_VALUE.has(flag) ? 'always' : 'never');

/** Reads a line without the word at the cursor, nor the flag whose value that is. */
function readWhole({ before, after }: TypedLine, takes: TakesValue): Reading {
  const isValue = readWords(before, takes).pending !== undefined;
  return readWords([...(isValue ? before.slice(0, -1) : before), ...after], takes);
}

function readWords(words: readonly string[], takes: TakesValue): Reading {
  const operands: string[] = [];
  const values = new Map<string, string>();
  const given = new Set<string>();
  let pending: string | undefined;
  let ended = false;
  for (const [at, word] of words.entries()) {
    const next = words[at + 1];
    if (pending !== undefined) {
      values.set(pending, word);
      pending = undefined;
    } else if (ended || !isFlagWord(word)) {
      operands.push(word);
    } else if (word === '--') {
      ended = true;
    } else {
      const [flag = '', ...value] = word.split('=');
      given.add(flag);
      if (value.length > 0) values.set(flag, value.join('='));
      else if (takes(flag) === 'always') pending = flag;
      else if (takes(flag) === 'maybe' && next !== undefined && !next.startsWith('-')) pending = flag;
    }
  }
  return { operands, values, given, pending, ended };
}
