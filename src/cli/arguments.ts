import { InvalidArgumentError } from '../errors.js';
import { trimSpace } from '../model/ids.js';
import { parseInstant } from '../model/time.js';

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

const MINUTE = 60_000;
const UNIT_MS = { m: MINUTE, h: 60 * MINUTE, d: 24 * 60 * MINUTE, w: 7 * 24 * 60 * MINUTE } as const;
const AGE = /^(\d{1,9})([mhdw])$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/**
 * Gives the instant that a text names, in milliseconds: RFC 3339, a date (its local midnight) or an age before now.
 * @param flag - The flag that it was given to, for the message.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`)
 * @see CLI.md, "Times"
 */
export function parseTime(text: string, flag: string, now: Date): number {
  const trimmed = trimSpace(text);
  const [, amount, unit] = AGE.exec(trimmed) ?? [];
  if (amount !== undefined && unit !== undefined) return now.getTime() - Number(amount) * UNIT_MS[unit as 'm'];
  const instant = parseLocalDate(trimmed) ?? parseInstant(trimmed);
  if (instant !== undefined) return instant;
  throw new InvalidArgumentError(
    flag,
    `${flag}: ${JSON.stringify(text)} is no time`,
    'Give RFC 3339 (2026-07-09T12:00:00Z), a date (2026-07-09) or an age (90m, 2h, 3d, 1w).',
  );
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

function parseLocalDate(text: string): number | undefined {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return undefined;
  const date = new Date(0);
  date.setHours(0, 0, 0, 0);
  date.setFullYear(Number(year), Number(month) - 1, Number(day));
  // 2026-02-30 would be the 2nd of March.
  return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date.getTime() : undefined;
}
