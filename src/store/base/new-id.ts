import { randomFillSync } from 'node:crypto';
import { decodeTime, incrementBase32, monotonicFactory } from 'ulid';

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

/** Gives the ULID that follows another. */
export function idAfter(id: string): string {
  return incrementBase32(id);
}

/** Gives when a ULID was made. */
export function timeOfId(id: string): Date {
  return new Date(decodeTime(id));
}
