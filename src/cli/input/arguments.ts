import { InvalidArgumentError } from '../../errors.js';
import { trimSpace } from '../../model/ids.js';
import { parseInstant } from '../../model/time.js';

/** What was typed, by the names that the command gives: `session`, `limit`, `preserve-last`. */
export interface ParsedArguments {
  /** Gives a positional argument, or undefined when it was left out. */
  operand(name: string): string | undefined;
  /** Gives a positional argument that takes many. */
  operands(name: string): readonly string[];
  /** Tells whether a flag was given, with or without its value. */
  flag(name: string): boolean;
  /** Gives the value of a flag, or undefined when it has none. */
  text(name: string): string | undefined;
  /** Gives the values of a flag that may be repeated. */
  texts(name: string): readonly string[];
}

/** A span of time, milliseconds; it begins with `since` and ends before `until`. */
export interface Span {
  readonly since: number;
  readonly until: number;
}

const MINUTE = 60_000;
const UNIT_MS = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE, w: 7 * 24 * 60 * MINUTE } as const;
const AGE = /^(\d{1,9})(mo|[mhdw])$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;
const DAY_FORMS = 'a date (2026-07-09), today, yesterday, a weekday (monday)';

/**
 * Gives the instant that a text names, in milliseconds: RFC 3339, the local midnight that a day began with, or an age
 * before now.
 * @param flag - The flag that it was given to, for the message.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`)
 * @see CLI.md, "Times"
 */
export function parseTime(text: string, flag: string, now: Date): number {
  const trimmed = trimSpace(text);
  const instant = parseAge(trimmed, now) ?? startOfDay(trimmed, now)?.getTime() ?? parseInstant(trimmed);
  if (instant !== undefined) return instant;
  const forms = `Give RFC 3339 (2026-07-09T12:00:00Z), ${DAY_FORMS} or an age (90m, 2h, 3d, 1w, 2mo).`;
  throw new InvalidArgumentError(flag, `${flag}: ${JSON.stringify(text)} is no time`, forms);
}

/**
 * Gives the span of a day, from one local midnight to the next.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`)
 */
export function parseDay(text: string, flag: string, now: Date): Span {
  const start = startOfDay(trimSpace(text), now);
  if (start !== undefined) return { since: start.getTime(), until: midnight(start, 1).getTime() };
  throw new InvalidArgumentError(flag, `${flag}: ${JSON.stringify(text)} is no day`, `Give ${DAY_FORMS}.`);
}

/**
 * Gives a whole number.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) for anything else, or less than `least`.
 */
export function parseCount(text: string, flag: string, least = 0): number {
  const count = /^\d{1,15}$/.test(trimSpace(text)) ? Number(text) : -1;
  if (count >= least) return count;
  const wanted = `Give a whole number, ${least} or more.`;
  throw new InvalidArgumentError(flag, `${flag}: ${JSON.stringify(text)} is no such number`, wanted);
}

/**
 * Gives a text that is not blank, without the space around it.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`)
 */
export function parseFilled(text: string, flag: string): string {
  const trimmed = trimSpace(text);
  if (trimmed !== '') return trimmed;
  throw new InvalidArgumentError(flag, `${flag} is blank`);
}

function parseAge(text: string, now: Date): number | undefined {
  const [, digits, unit] = AGE.exec(text) ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  const amount = Number(digits);
  return unit === 'mo' ? monthsBefore(now, amount) : now.getTime() - amount * UNIT_MS[unit as keyof typeof UNIT_MS];
}

// The same day of the month, or its last: a month before the 31st of March is the end of February.
function monthsBefore(now: Date, months: number): number | undefined {
  const date = new Date(now);
  date.setDate(1);
  date.setMonth(date.getMonth() - months);
  const lastDay = new Date(date.getFullYear(), date.getMonth() + 1, 0).getDate();
  date.setDate(Math.min(now.getDate(), lastDay));
  return Number.isNaN(date.getTime()) ? undefined : date.getTime();
}

/** Gives the local midnight that a day began with; of weekdays the last one, today among them. */
function startOfDay(text: string, now: Date): Date | undefined {
  const word = text.toLowerCase();
  if (word === 'today') return midnight(now, 0);
  if (word === 'yesterday') return midnight(now, -1);
  const weekday = (WEEKDAYS as readonly string[]).indexOf(word);
  return weekday < 0 ? parseLocalDate(text) : midnight(now, -((now.getDay() - weekday + 7) % 7));
}

function midnight(day: Date, later: number): Date {
  const date = new Date(day);
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() + later); // not so many hours: a day may have 23 or 25
  return date;
}

function parseLocalDate(text: string): Date | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(0);
  date.setHours(0, 0, 0, 0);
  date.setFullYear(Number(year), Number(month) - 1, Number(day));
  // 2026-02-30 would be the 2nd of March.
  return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date : undefined;
}
