import type { Output } from './output.js';
import type { ColorMode } from './render/style.js';

/** The program's standard input. */
export interface Input {
  readonly isTerminal: boolean;
  /** Gives what is piped in, as it comes. */
  bytes(): AsyncIterable<Uint8Array>;
  /**
   * Asks a person at the terminal for a line; empty when the input ends instead.
   * @throws the reason of the signal when that aborts.
   */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

/** What the process gives to a run; tests hand in their own. */
export interface CliContext {
  /** Data goes here. */
  readonly out: Output;
  /** Warnings, notes and errors go here. */
  readonly err: Output;
  readonly in: Input;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Columns of the terminal that shows `out`; of no interest when it is none. */
  readonly columns: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home folder of the process; the system is asked when it is left out. */
  readonly home?: string | undefined;
  readonly cwd: string;
  /** The user who runs it; undefined where users have no numbers. */
  readonly uid: number | undefined;
  readonly now: () => Date;
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP, with an `InterruptedError` as reason. */
  readonly signal: AbortSignal;
}

/** The flags that every command has (CLI.md, "Shape"), with their defaults filled in. */
export interface GlobalOptions {
  /** The folder of the store; undefined for Zero's default. */
  readonly root: string | undefined;
  readonly format: OutputFormat;
  readonly quiet: boolean;
  readonly color: ColorMode;
  readonly redact: boolean;
  readonly lockTimeoutMs: number;
  /** Whether a person may be asked: stdin and stderr are terminals and `--no-input` was not given. */
  readonly input: boolean;
  readonly flock: boolean;
  readonly asOwner: boolean;
}

export type OutputFormat = 'text' | 'json' | 'jsonl';
