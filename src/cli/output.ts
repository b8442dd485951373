import { fstatSync, writeSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { errnoOf, SystemError } from '../errors.js';

/** One of the two streams that the program writes to. */
export interface Output {
  /**
   * Writes text as UTF-8, or bytes. Resolves when more can be taken, so that a slow reader slows the writer; what was
   * handed in leaves in order, awaited or not. After the reader has gone it does nothing.
   * @throws {@link SystemError} (`SYSTEM`) when the stream cannot be written: disk full, terminal gone.
   */
  write(data: string | Uint8Array): Promise<void>;
  /** Whether the reader has gone (`| head -1`): a command that streams should stop, and end well. */
  readonly closed: boolean;
  /** Aborts when the reader has gone. */
  readonly signal: AbortSignal;
}

/** Where an output goes, and what a failure means. */
export interface OutputTarget {
  /** The file descriptor, for what it takes at once. */
  readonly fd: number;
  /** Its stream, asked for only when the descriptor alone will not do: to load one costs 5 ms. */
  readonly stream: () => Writable;
  /** Name of the stream for messages: `standard output`. */
  readonly name: string;
  /** `throw` for data; `ignore` for notes, which nobody misses on a stream that is broken. */
  readonly failures: 'throw' | 'ignore';
}

// A pipe holds 64 KiB at least where nobody lowered it: up to there writing returns at once, whoever reads.
const PIPE_BYTES = 64 * 1024;

/**
 * Opens one of the program's streams for writing.
 *
 * Files and terminals are written at once. So is a pipe while it has room; past that the event loop waits for the reader,
 * so that signals and timers still run. Nothing is lost when the process ends by `exitCode`; `process.exit` would
 * cut what is on its way.
 * @see CLI.md, "Shape"
 */
export function createOutput(target: OutputTarget): Output {
  return new DescriptorOutput(target);
}

class DescriptorOutput implements Output {
  readonly #target: OutputTarget;
  readonly #reader = new LazyAbort();
  #room: number | undefined; // bytes that surely go at once; undefined until the kind of the target is known
  #stream: Writable | undefined;
  #failure: SystemError | undefined;
  readonly #wakeWaiting: (() => void)[] = [];

  constructor(target: OutputTarget) {
    this.#target = target;
  }

  get closed(): boolean {
    return this.#reader.aborted;
  }

  get signal(): AbortSignal {
    return this.#reader.signal;
  }

  // Not async: the order of calls is the order of the bytes, whoever forgets to await.
  write(data: string | Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return this.#settled();
    if (this.closed || data.length === 0) return Promise.resolve();
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const rest = this.#stream === undefined ? this.#writeAtOnce(bytes) : bytes;
    if (rest.length === 0 || this.closed || this.#failure !== undefined) return this.#settled();
    return this.#writeToStream(rest);
  }

  /** Writes what the descriptor takes without waiting; gives the rest. */
  #writeAtOnce(bytes: Uint8Array): Uint8Array {
    this.#room ??= roomOf(this.#target.fd);
    let written = 0;
    try {
      while (written < bytes.length && this.#room > 0) {
        const count = writeSync(this.#target.fd, bytes, written, Math.min(bytes.length - written, this.#room));
        written += count;
        this.#room -= count;
      }
    } catch (error) {
      // Somebody made the descriptor non-blocking: the stream knows how to wait for it.
      if (errnoOf(error) !== 'EAGAIN') this.#fail(error);
    }
    return bytes.subarray(written);
  }

  #writeToStream(bytes: Uint8Array): Promise<void> {
    this.#stream ??= this.#openStream();
    if (this.#stream.write(bytes)) return this.#settled();
    return new Promise((resolve, reject) => {
      this.#wakeWaiting.push(() => this.#settled().then(resolve, reject));
    });
  }

  #openStream(): Writable {
    const stream = this.#target.stream();
    const wake = () => {
      for (const wakeOne of this.#wakeWaiting.splice(0)) wakeOne();
    };
    stream.on('drain', wake);
    stream.on('error', (error) => {
      this.#fail(error);
      wake();
    });
    stream.on('close', wake);
    return stream;
  }

  #settled(): Promise<void> {
    return this.#failure === undefined ? Promise.resolve() : Promise.reject(this.#failure);
  }

  #fail(error: unknown): void {
    const errno = errnoOf(error);
    const readerIsGone = errno === 'EPIPE' || errno === 'ECONNRESET' || errno === 'EOF';
    if (readerIsGone || this.#target.failures === 'ignore') {
      this.#reader.abort();
      return;
    }
    const reason = errno ?? String(error);
    this.#failure ??= new SystemError(`Cannot write to ${this.#target.name}: ${reason}`, reason, undefined, {
      cause: error,
    });
  }
}

/** Gives how many bytes a descriptor takes without making the process wait for a reader. */
function roomOf(fd: number): number {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket() ? PIPE_BYTES : Number.POSITIVE_INFINITY;
  } catch {
    return PIPE_BYTES; // unknown: no more than would fit a pipe
  }
}

/** An abort signal that is made when somebody asks for it. */
class LazyAbort {
  #controller: AbortController | undefined;
  aborted = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.aborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.#controller?.abort();
  }
}
