import { InterruptedError } from '../errors.js';

/** What a signal may still end, and from when on it may not. */
export interface Interruption {
  /** Aborts on the first signal, with an `InterruptedError` as reason, unless something has been changed by then. */
  readonly signal: AbortSignal;
  /** Whether something has been changed: then the work ends, and its answer is told, as if no signal had come. */
  readonly isTooLate: boolean;
  /**
   * To be called before each change.
   * @throws InterruptedError (`INTERRUPTED`) when the first change comes after a signal: nothing is done then.
   */
  beforeChange(): void;
}

/**
 * Gives what becomes of signals during one run: they end what waits or reads, and never what has begun to write.
 * @param signal - Aborts on the first signal that comes in.
 * @see CLI.md, "Exit codes"
 */
export function interruptionBy(signal: AbortSignal): Interruption {
  const waits = new AbortController();
  let isTooLate = false;
  const interrupt = () => {
    if (isTooLate) return;
    waits.abort(signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError());
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener('abort', interrupt, { once: true });
  return {
    signal: waits.signal,
    get isTooLate() {
      return isTooLate;
    },
    beforeChange() {
      if (isTooLate) return;
      waits.signal.throwIfAborted();
      isTooLate = true;
    },
  };
}

// 128 and the number of the signal, as a shell says it. The numbers are the same wherever these signals exist.
const EXITS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const satisfies Record<InterruptedError['signal'], number>;

/** Gives the exit code that tells by which signal a run was ended. */
export function exitOfInterrupted({ signal }: InterruptedError): number {
  return EXITS[signal];
}
