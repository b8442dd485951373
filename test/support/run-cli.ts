import { tmpdir } from 'node:os';
import type { CliContext } from '../../src/cli/context.js';
import type { Output } from '../../src/cli/output.js';
import { runCli } from '../../src/cli/run-cli.js';
import { fixedClock } from './fixed-clock.js';

/** What a run of the program gave. */
export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What went to stdout, byte for byte. */
  readonly outBytes: Uint8Array;
}

/** The surroundings of a run; everything has a default. */
export interface CliSurroundings {
  /** The store: put in as `--root`. Without it the flags and the environment say. */
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly now?: () => Date;
  readonly stdin?: string;
  /** Who runs it; the user of this process without it. */
  readonly uid?: number;
  /** What is typed where a question is asked. */
  readonly answer?: string;
  /** Columns of the terminal that stdout and stderr are; without it they are pipes. */
  readonly columns?: number;
  readonly signal?: AbortSignal;
  /** Closes stdout after so many bytes, as `| head` does. */
  readonly closeAfter?: number;
  /** What writing to stdout fails with, as on a full disk. */
  readonly outFailure?: Error;
}

/** Runs a command line in this process, on streams that are kept. */
export async function runCommandLine(argv: readonly string[], surroundings: CliSurroundings = {}): Promise<CliRun> {
  const { root, env = {}, cwd = tmpdir(), now = fixedClock().now, columns, signal, closeAfter } = surroundings;
  const out = new KeptOutput(closeAfter, surroundings.outFailure);
  const err = new KeptOutput();
  const isTerminal = columns !== undefined;
  const context: CliContext = {
    out,
    err,
    in: {
      isTerminal,
      bytes: () => inputOf(surroundings.stdin ?? ''),
      ask: async (question) => {
        await err.write(question);
        return surroundings.answer ?? '';
      },
    },
    outIsTerminal: isTerminal,
    errIsTerminal: isTerminal,
    columns: columns ?? 80,
    env: { LANG: 'C.UTF-8', ...env },
    home: '', // no test is to find the store of who runs it
    cwd,
    uid: surroundings.uid ?? process.getuid?.(),
    now,
    signal: signal ?? new AbortController().signal,
  };
  const code = await runCli(root === undefined ? argv : ['--root', root, ...argv], context);
  return { code, out: out.text(), err: err.text(), outBytes: out.bytes() };
}

/** Keeps what is written. */
class KeptOutput implements Output {
  readonly #parts: Uint8Array[] = [];
  readonly #closing = new AbortController();
  readonly #failure: Error | undefined;
  #room: number;

  constructor(closeAfter = Number.POSITIVE_INFINITY, failure?: Error) {
    this.#room = closeAfter;
    this.#failure = failure;
  }

  get closed(): boolean {
    return this.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.closed) return;
    const bytes = Buffer.from(data);
    this.#parts.push(bytes.subarray(0, Math.max(0, this.#room)));
    this.#room -= bytes.length;
    if (this.#room < 0) this.#closing.abort();
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  text(): string {
    return Buffer.concat(this.#parts).toString();
  }
}

async function* inputOf(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}
