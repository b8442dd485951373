/** How long to wait: one limit for a lock, or for several that are taken in a row. */
export interface Deadline {
  readonly timeoutMs: number;
  /** Aborted when the time is over, or when the caller has given up. */
  readonly until: AbortSignal;
  /** Throws the reason of the caller's own signal if that is why the wait ended. */
  throwIfGivenUp(): void;
  /** Stops the timer. To be called once everything waited for is there, or the wait was cut short. */
  end(): void;
}

/**
 * Starts the clock for a wait.
 *
 * @param timeoutMs - Milliseconds from now; 0 means to try once.
 * @param signal - Ends the wait early.
 */
export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const over = new AbortController();
  // AbortSignal.any with AbortSignal.timeout would do, but Node 20 may collect the pair before it fires.
  const timer = setTimeout(() => over.abort(), Math.min(timeoutMs, LONGEST_TIMER_MS));
  const giveUp = () => over.abort(signal?.reason);
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  return {
    timeoutMs,
    until: over.signal,
    throwIfGivenUp: () => signal?.throwIfAborted(),
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    },
  };
}

/** A longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
