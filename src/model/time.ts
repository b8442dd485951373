/** Milliseconds. A time further ahead than clocks and zones explain is a mistake. */
const DAY_MS = 86_400_000;
const NS_PER_MS = 1_000_000n;
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/**
 * The instant that a stored time names, in milliseconds since 1970; undefined when it is malformed.
 * Times are compared as instants: as text `15:00:00+05:00` would sort above `13:00:00Z` (FORMAT.md, 4).
 */
export function parseInstant(text: string): number | undefined {
  const parts = instantParts(text);
  return parts === undefined
    ? undefined
    : parts.seconds + (parts.fraction === '' ? 0 : Number(`0.${parts.fraction}`) * 1000);
}

/** As {@link parseInstant}, in nanoseconds: what is finer is cut. */
export function parseInstantNs(text: string): bigint | undefined {
  const parts = instantParts(text);
  if (parts === undefined) return undefined;
  return BigInt(parts.seconds) * NS_PER_MS + BigInt(parts.fraction.slice(0, 9).padEnd(9, '0'));
}

export function isFarAhead(text: string, now: Date): boolean {
  const instant = parseInstant(text);
  return instant !== undefined && instant - now.getTime() > DAY_MS;
}

function instantParts(text: string): { readonly seconds: number; readonly fraction: string } | undefined {
  const match = RFC3339.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone = ''] = match;
  // Date.UTC takes the years 0 to 99 for those of the last century, and Go's empty time is in year 1.
  const check = new Date(0);
  check.setUTCFullYear(+year, +month - 1, +day);
  const whole = check.setUTCHours(+hour, +minute, Math.min(+second, 59));
  if (check.getUTCMonth() !== +month - 1 || check.getUTCDate() !== +day || +hour > 23 || +minute > 59 || +second > 60) {
    return undefined;
  }
  return { seconds: whole + (+second === 60 ? 1000 : 0) - offsetMs(zone), fraction: fraction.slice(1) };
}

/** An instant as it is stored: UTC, whole seconds (cut, not rounded), `Z` (FORMAT.md, 2). */
export function formatInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`;
}

/** The later of two stored times; a malformed one never wins over a well-formed one. */
export function laterOf(a: string, b: string): string {
  const first = parseInstant(a) ?? Number.NEGATIVE_INFINITY;
  const second = parseInstant(b) ?? Number.NEGATIVE_INFINITY;
  return first > second ? a : b;
}

function offsetMs(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000;
}
