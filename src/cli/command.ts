import type { SessionStore } from '../store/session-store.js';
import type { CliContext, GlobalOptions } from './context.js';
import type { ParsedArguments } from './input/arguments.js';
import type { Page } from './page.js';
import type { JsonMembers, JsonView } from './render/json.js';
import type { Interruption } from './report/interruption.js';

/** What the value of an argument or a flag is, for completion. */
export type ValueKind =
  | 'session'
  | 'position'
  | 'kind'
  | 'tag'
  | 'model'
  | 'provider'
  | 'event-type'
  | 'command'
  | 'shell'
  | 'file'
  | 'folder'
  | 'other';

/** A flag of one command. Its name means the same, and takes a value or not, in every command that has it. */
export interface OptionSpec {
  /** `--limit <n>`, `--all`, `--exec [cmd]`. */
  readonly flags: string;
  readonly description: string;
  /** It may be given more than once; each value counts. */
  readonly repeat?: true;
  readonly choices?: readonly string[];
  readonly value?: ValueKind;
}

/** A positional argument. */
export interface ArgumentSpec {
  /** `<session>`, `[session]`, `<path...>`. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly value?: ValueKind;
}

/** Text in pieces; a command that streams gives them as they come. */
export type TextPieces = string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** A JSON document: its members, or members around one long array of which only a part is ever in memory. */
export type JsonDocument =
  | { readonly members: JsonMembers }
  | {
      readonly leading: JsonMembers;
      readonly name: string;
      readonly items: Iterable<JsonView> | AsyncIterable<JsonView>;
      /** Asked for when the array is at its end: what was met on the way stands here. */
      readonly trailing: () => JsonMembers;
    };

/**
 * How a view leaves the program. Everything is asked for in this order: the data in the form that is wanted, then
 * warnings, notes and the exit code, which may know what was met on the way.
 */
export interface CommandOutput<View> {
  /** What goes out as it is, whatever form is wanted; undefined when this view has no such thing. */
  readonly verbatim?: (view: View) => TextPieces | undefined;
  /** For people. */
  readonly text: (view: View, page: Page) => TextPieces;
  /** What `--json` prints; `own` when the text is the format (CLI.md: schema, completion), `none` when there is none. */
  readonly json: ((view: View, page: Page) => JsonDocument) | 'own' | 'none';
  /** What `--jsonl` prints, one a line; without it the flag is wrong. */
  readonly jsonl?: (view: View, page: Page) => Iterable<JsonView> | AsyncIterable<JsonView>;
  /** What `-q` prints, one a line; without it the text. */
  readonly quiet?: (view: View, page: Page) => Iterable<string> | AsyncIterable<string>;
  /** What to say when a secret was hidden and stdout is no terminal; it has a default. */
  readonly hiddenWarning?: string;
  /** Damage, said on stderr also under `-q`. */
  readonly warnings?: (view: View) => readonly string[];
  /** What a person should know besides, said on stderr. */
  readonly notes?: (view: View, page: Page) => readonly string[];
  readonly exitCode?: (view: View) => number;
}

/** What `--json` prints as JSON Schema: the members beside `schemaVersion`, all of them required. */
export type MemberSchemas = Readonly<Record<string, JsonView>>;

/** What a command is: help, arguments, work and output (STYLE.md, 9). Name, aliases and summary are in the registry. */
export interface CommandDefinition<View> {
  /** What the summary leaves unsaid; full sentences. */
  readonly description: string;
  /** Command lines that show it at work, without the prompt. */
  readonly examples: readonly string[];
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Whether it changes the store: Ctrl-C then waits for it to end well. */
  readonly writes?: true;
  /** Each form of document that `--json` can print; none for a command that prints its own format. */
  readonly schemas: readonly MemberSchemas[];
  /** What its schemas refer to as `#/$defs/<name>`; the name is no other command's. */
  readonly schemaDefinitions?: MemberSchemas;
  readonly output: CommandOutput<View>;
  /** Turns arguments into calls of the core, and gives what is to be shown. Prints nothing. */
  run(context: CommandContext, args: ParsedArguments): Promise<View>;
}

/** A command, whatever its view. */
export interface Command extends Omit<CommandDefinition<unknown>, 'run' | 'output'> {
  readonly hasJson: boolean;
  readonly hasJsonl: boolean;
  /** Runs it and writes what it shows; gives the exit code. */
  execute(context: CommandContext, args: ParsedArguments): Promise<number>;
}

/** A command's names and the line that help opens with; the rest of it is loaded when it is wanted. */
export interface RegistryEntry {
  /** `list`, or `checkpoint capture` for one of a group. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** An imperative line without a full stop. */
  readonly summary: string;
  readonly group: 'Look' | 'Change' | 'Go on' | 'Help';
  readonly load: () => Promise<Command>;
}

/** What a command runs with: the process, the flags, and the store that they name. */
export interface CommandContext extends CliContext {
  readonly globals: GlobalOptions;
  readonly store: SessionStore;
  /** The homes of whoever runs this. */
  readonly homes: readonly string[];
  /** Aborts as `interruption` says: a signal ends no work that has changed something. */
  readonly signal: AbortSignal;
  /** What becomes of signals during this run. */
  readonly interruption: Interruption;
  /** How `out` is to be written to. */
  readonly page: Page;
  /** Tells whether something that was to be shown by `page` looked like a secret and was hidden. */
  readonly hasHidden: () => boolean;
  /** Every command, for those that are about commands. */
  readonly commands: readonly RegistryEntry[];
  /** Runs another command line as this one runs; gives its exit code. */
  readonly runAnother: (argv: readonly string[], context: CliContext) => Promise<number>;
  /** Tells a person something on stderr; silent under `-q`. The text is made safe and redacted here. */
  note(text: string): Promise<void>;
  /** Warns on stderr, also under `-q`. The text is made safe and redacted here. */
  warn(text: string): Promise<void>;
}
