import { safeText } from './safe-text.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
// Past this, a date says more than a number of weeks.
const DATE_AFTER = 8 * WEEK;

const UNKNOWN = 'unknown';

/**
 * Gives an instant as a person says it: `just now`, `5 min ago`, `3 h ago`, `4 d ago`, `3 wk ago`, `in 5 min`, and the
 * local date when it is eight weeks away or more. What is no instant is `unknown`.
 * @param instantMs - Milliseconds since the epoch; NaN when it could not be read.
 */
export function relativeTime(instantMs: number, nowMs: number): string {
  if (!isInstant(instantMs)) return UNKNOWN;
  const distance = Math.abs(nowMs - instantMs);
  if (distance < MINUTE) return 'just now';
  if (distance >= DATE_AFTER) return localDate(instantMs);
  const amount = spokenAmount(distance);
  return instantMs <= nowMs ? `${amount} ago` : `in ${amount}`;
}

/**
 * Gives a stored time as a table shows it: relative to `nowMs` on a terminal, as stored when `nowMs` is undefined
 * (piped). A time that cannot be read is shown as it stands, `unknown` when blank.
 * @see CLI.md, "Shape"
 */
export function storedTime(stored: string, nowMs: number | undefined): string {
  if (stored.trim() === '') return UNKNOWN;
  const instant = nowMs === undefined ? Number.NaN : Date.parse(stored);
  return nowMs === undefined || Number.isNaN(instant) ? safeText(stored) : relativeTime(instant, nowMs);
}

/**
 * Gives a text of ours with the times in it as a person reads a clock: `09:41:07`, on another day `2026-07-09 09:41`.
 * When `nowMs` is undefined (piped) they stay as they are.
 */
export function withClockTimes(text: string, nowMs: number | undefined): string {
  if (nowMs === undefined) return text;
  return text.replace(STORED_TIME, (time) => {
    const instant = new Date(time);
    const day = localDate(instant.getTime());
    const clock = [instant.getHours(), instant.getMinutes(), instant.getSeconds()].map(twoDigits);
    return day === localDate(nowMs) ? clock.join(':') : `${day} ${clock.slice(0, 2).join(':')}`;
  });
}

const STORED_TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/g;

const BYTE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'] as const;

/** Gives a number of bytes in the unit that keeps it under 1024: `0 B`, `1023 B`, `1.5 KiB`, `12 MiB`. */
export function formatBytes(bytes: number): string {
  if (!Number.isFinite(bytes) || bytes < 0) return UNKNOWN;
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let amount = bytes;
  let unit = '';
  for (const larger of BYTE_UNITS) {
    amount /= 1024;
    unit = larger;
    // Rounded, 1023.99 KiB would read as 1024.
    if (Math.round(amount) < 1024) break;
  }
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

function spokenAmount(distance: number): string {
  if (distance < HOUR) return `${Math.floor(distance / MINUTE)} min`;
  if (distance < DAY) return `${Math.floor(distance / HOUR)} h`;
  if (distance < 2 * WEEK) return `${Math.floor(distance / DAY)} d`;
  return `${Math.floor(distance / WEEK)} wk`;
}

function localDate(instantMs: number): string {
  const date = new Date(instantMs);
  const [month, day] = [twoDigits(date.getMonth() + 1), twoDigits(date.getDate())];
  return `${String(date.getFullYear()).padStart(4, '0')}-${month}-${day}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}

function isInstant(instantMs: number): boolean {
  return Math.abs(instantMs) <= 8.64e15;
}
