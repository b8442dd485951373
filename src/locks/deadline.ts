import { monotonicClock } from './monotonic-clock.js';

/** How long to wait: one limit for a lock, or for several that are taken in a row. */
export interface Deadline extends TryLimit {
  readonly timeoutMs: number;
  /** Starts the limit of a single try, so that no deadline is too short for a lock that is free. */
  startTry(): TryLimit;
  /** Throws the reason of the caller's own signal if that is why the wait ended. */
  throwIfGivenUp(): void;
}

/** The limit of a single try: the deadline, but a second at least and five at most. */
interface TryLimit {
  /** Aborted when the time is over, or when the caller has given up. */
  readonly until: AbortSignal;
  /** Stops the timer. To be called once everything waited for is there, or the wait was cut short. */
  end(): void;
}

/** A try takes milliseconds; on a machine that is busy, some more. */
const SHORTEST_TRY_MS = 1_000;
const LONGEST_TRY_MS = 5_000;

/** @param timeoutMs - Milliseconds from now; 0 means to try once. */
export function startDeadline(timeoutMs: number, signal?: AbortSignal): Deadline {
  const whole = startLimit(timeoutMs, signal);
  const endsAt = monotonicClock() + timeoutMs;
  return {
    timeoutMs,
    until: whole.until,
    startTry: () => {
      const left = endsAt - monotonicClock();
      return startLimit(Math.min(Math.max(left, SHORTEST_TRY_MS), LONGEST_TRY_MS), signal);
    },
    throwIfGivenUp: () => signal?.throwIfAborted(),
    end: whole.end,
  };
}

function startLimit(timeoutMs: number, signal: AbortSignal | undefined): TryLimit {
  const over = new AbortController();
  // AbortSignal.any with AbortSignal.timeout would do, but Node 20 may collect the pair before it fires.
  const timer = setTimeout(() => over.abort(), Math.min(timeoutMs, LONGEST_TIMER_MS));
  const giveUp = () => over.abort(signal?.reason);
  if (signal?.aborted) giveUp();
  signal?.addEventListener('abort', giveUp, { once: true });
  return {
    until: over.signal,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
    },
  };
}

/** A longer timer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
