import { describe, expect, test } from 'vitest';
import { formatBytes, relativeTime, storedTime } from '../../../src/cli/render/time.js';

const NOW = Date.UTC(2026, 6, 9, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('a time as a person says it', () => {
  test.each([
    [0, 'just now'],
    [MINUTE - 1, 'just now'],
    [MINUTE, '1 min ago'],
    [HOUR - 1, '59 min ago'],
    [HOUR, '1 h ago'],
    [DAY - 1, '23 h ago'],
    [DAY, '1 d ago'],
    [14 * DAY - 1, '13 d ago'],
    [14 * DAY, '2 wk ago'],
    [56 * DAY - 1, '7 wk ago'],
    [56 * DAY, '2026-05-14'],
    [-30_000, 'just now'],
    [-5 * MINUTE, 'in 5 min'],
    [-3 * DAY, 'in 3 d'],
    [Number.NaN, 'unknown'],
    [Number.POSITIVE_INFINITY, 'unknown'],
  ])('given %i ms before now, then it is %s', (before, said) => {
    expect(relativeTime(NOW - before, NOW)).toBe(said);
  });
});

describe('a stored time', () => {
  test('given a terminal, then it is relative; piped, then it stands as stored, to the nanosecond', () => {
    const stored = '2026-07-09T11:00:00.123456789Z';

    expect(storedTime(stored, NOW)).toBe('59 min ago');
    expect(storedTime(stored, undefined)).toBe(stored);
  });

  test('given one that cannot be read, then it is shown and not obeyed; blank is unknown', () => {
    expect(storedTime('soon\u001b[2J', NOW)).toBe('soon\\u{1b}[2J');
    expect(storedTime('soon\u001b[2J', undefined)).toBe('soon\\u{1b}[2J');
    expect(storedTime(' ', NOW)).toBe('unknown');
  });
});

describe('a size', () => {
  test.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [10 * 1024, '10 KiB'],
    [10 * 1024 - 1, '10 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [1.5 * 1024 ** 3, '1.5 GiB'],
    [Number.MAX_SAFE_INTEGER, '8.0 PiB'],
    [-1, 'unknown'],
    [Number.NaN, 'unknown'],
  ])('given %d bytes, then it is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
