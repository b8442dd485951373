import { describe, expect, test } from 'vitest';
import { parseCount, parseDay, parseFilled, parseTime } from '../../../src/cli/input/arguments.js';
import { InvalidArgumentError } from '../../../src/errors.js';

const NOW = new Date('2026-07-09T12:00:00.500Z');

describe('a time', () => {
  test.each([
    ['2026-07-09T10:00:00Z', '2026-07-09T10:00:00.000Z'],
    ['2026-07-09T10:00:00.25+02:00', '2026-07-09T08:00:00.250Z'],
    ['90m', '2026-07-09T10:30:00.500Z'],
    ['2h', '2026-07-09T10:00:00.500Z'],
    ['3d', '2026-07-06T12:00:00.500Z'],
    ['1w', '2026-07-02T12:00:00.500Z'],
    ['2mo', '2026-05-09T12:00:00.500Z'],
    ['0mo', '2026-07-09T12:00:00.500Z'],
    ['0m', '2026-07-09T12:00:00.500Z'],
    [' 2h ', '2026-07-09T10:00:00.500Z'],
  ])('given %j, then it is %s', (text, instant) => {
    expect(new Date(parseTime(text, '--since', NOW)).toISOString()).toBe(instant);
  });

  test.each([
    ['2026-07-09', [2026, 6, 9]],
    ['2024-02-29', [2024, 1, 29]],
    ['0050-01-02', [50, 0, 2]],
  ])('given the date %s, then it is its local midnight', (text, parts) => {
    const date = new Date(parseTime(text, '--since', NOW));

    expect([date.getFullYear(), date.getMonth(), date.getDate()]).toEqual(parts);
    expect([date.getHours(), date.getMinutes(), date.getSeconds(), date.getMilliseconds()]).toEqual([0, 0, 0, 0]);
  });

  test.each([
    '',
    'now',
    '2h30m',
    '-2h',
    '1.5h',
    '2 h',
    '5s',
    '2026-02-30',
    '2026-13-01',
    '2026-7-9',
    '2026-07-09T10:00',
  ])('given %j, then it is refused with the forms that there are', (text) => {
    expect(() => parseTime(text, '--since', NOW)).toThrow(InvalidArgumentError);
    expect(() => parseTime(text, '--since', NOW)).toThrow(`--since: ${JSON.stringify(text)} is no time`);
  });
});

describe('a day', () => {
  const NOON = new Date(2026, 6, 9, 12); // a Thursday

  test.each([
    ['today', [2026, 6, 9]],
    ['yesterday', [2026, 6, 8]],
    ['thursday', [2026, 6, 9]],
    ['Wednesday', [2026, 6, 8]],
    ['friday', [2026, 6, 3]],
    ['2026-02-28', [2026, 1, 28]],
  ] as const)('given %s, then it is from one local midnight to the next', (text, [year, month, day]) => {
    const span = { since: new Date(year, month, day).getTime(), until: new Date(year, month, day + 1).getTime() };

    expect(parseDay(text, '--on', NOON)).toEqual(span);
    expect(parseTime(text, '--since', NOON)).toBe(span.since);
  });

  test.each(['', 'mon', 'tomorrow', '2h', '2026-02-30', '2026-07-09T12:00:00Z'])(
    'given %j, then it is refused',
    (text) => {
      expect(() => parseDay(text, '--on', NOON)).toThrow(`--on: ${JSON.stringify(text)} is no day`);
    },
  );

  test('given months before a day that the month has not, then it is the last day of that month', () => {
    const before = new Date(parseTime('1mo', '--since', new Date(2026, 2, 31, 12)));

    expect([before.getMonth(), before.getDate(), before.getHours()]).toEqual([1, 28, 12]);
  });
});

describe('a count', () => {
  test.each([
    ['0', 0],
    ['12', 12],
    ['007', 7],
    [' 3 ', 3],
  ])('given %j, then it is %i', (text, count) => {
    expect(parseCount(text, '--limit')).toBe(count);
  });

  test.each(['', '-1', '1.0', '1e3', '0x10', 'ten', '9'.repeat(20)])('given %j, then it is refused', (text) => {
    expect(() => parseCount(text, '--limit')).toThrow(InvalidArgumentError);
  });

  test('given less than the least, then it is refused', () => {
    expect(parseCount('1', '--limit', 1)).toBe(1);
    expect(() => parseCount('0', '--limit', 1)).toThrow(InvalidArgumentError);
  });
});

describe('a text that must not be blank', () => {
  test('given space around it, then that goes', () => {
    expect(parseFilled('\u0085 a b\t', '--tag')).toBe('a b');
  });

  test.each(['', ' ', '\u3000\n'])('given %j, then it is refused', (text) => {
    expect(() => parseFilled(text, '--tag')).toThrow('--tag is blank');
  });
});
