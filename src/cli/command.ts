import type { ParsedArguments } from './arguments.js';
import type { CommandContext } from './context.js';
import { deliver } from './deliver.js';
import type { Page } from './page.js';
import type { JsonMembers, JsonView } from './render/json.js';

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

/** Makes a command of its definition. */
export function defineCommand<View>(definition: CommandDefinition<View>): Command {
  const { run, output, ...rest } = definition;
  return {
    ...rest,
    hasJson: output.json !== 'none',
    hasJsonl: output.jsonl !== undefined,
    execute: async (context, args) => deliver(context, output, await run(context, args)),
  };
}
