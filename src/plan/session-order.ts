import { compareCodePoints } from '../model/json.js';
import type { SessionMetadata } from '../model/metadata.js';
import { parseInstantNs } from '../model/time.js';

/** What decides the place of a session among others; nanoseconds since 1970, undefined where no time can be read. */
interface Recency {
  readonly active: bigint | undefined;
  readonly made: bigint | undefined;
  readonly id: string;
}

// Crockford's base 32: the first ten digits are the milliseconds.
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const ULID_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_TIME_LENGTH = 10;
const OF_ZERO = /^zero_\d+_(\d{1,19})_\d+$/;
const NS_PER_MS = 1_000_000n;

export function recencyOf({ sessionId, updatedAt, createdAt }: SessionMetadata): Recency {
  return { active: parseInstantNs(updatedAt), made: timeInId(sessionId) ?? parseInstantNs(createdAt), id: sessionId };
}

/**
 * The newest activity first, a time that cannot be read last; ties by when the sessions were made, which a generated id
 * tells more finely than `createdAt`; then the higher id first (FORMAT.md, 4, list).
 */
export function compareRecency(a: Recency, b: Recency): number {
  return newestFirst(a.active, b.active) || newestFirst(a.made, b.made) || compareCodePoints(b.id, a.id);
}

export function sortedByRecency(
  sessions: readonly SessionMetadata[],
  compareFirst: (a: SessionMetadata, b: SessionMetadata) => number = () => 0,
): readonly SessionMetadata[] {
  const keyed = sessions.map((session) => ({ session, recency: recencyOf(session) }));
  keyed.sort((a, b) => compareFirst(a.session, b.session) || compareRecency(a.recency, b.recency));
  return keyed.map(({ session }) => session);
}

/** The nanoseconds since 1970 that a generated id holds: a ULID, or one of Zero's. */
function timeInId(id: string): bigint | undefined {
  if (ULID.test(id)) {
    let ms = 0n;
    for (const digit of id.slice(0, ULID_TIME_LENGTH)) ms = ms * 32n + BigInt(ULID_DIGITS.indexOf(digit));
    return ms * NS_PER_MS;
  }
  const ns = OF_ZERO.exec(id)?.[1];
  return ns === undefined ? undefined : BigInt(ns);
}

function newestFirst(a: bigint | undefined, b: bigint | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  return b === undefined || a > b ? -1 : 1;
}
