/** A clock that stands still until it is told to go on. */
export interface FixedClock {
  readonly now: () => Date;
  /** Lets so many milliseconds pass; a negative number sets the clock back. */
  pass(ms: number): void;
}

/** Gives a clock that shows this time. */
export function fixedClock(at = '2026-07-09T12:00:00Z'): FixedClock {
  let present = new Date(at).getTime();
  return {
    now: () => new Date(present),
    pass: (ms) => {
      present += ms;
    },
  };
}
