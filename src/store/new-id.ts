import { randomFillSync } from 'node:crypto';
import { monotonicFactory } from 'ulid';

/** Gives a maker of ULIDs: they rise with the clock, also within one millisecond, so ties sort by recency. */
export function ulidMaker(now: () => Date): () => string {
  // The package would look for a source of randomness by itself and load more than it needs for that.
  const byte = new Uint8Array(1);
  const next = monotonicFactory(() => {
    randomFillSync(byte);
    return (byte[0] as number) / 256;
  });
  return () => next(now().getTime());
}
