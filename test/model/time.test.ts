import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatInstant, laterOf, parseInstant } from '../../src/model/time.js';

describe('parseInstant', () => {
  test.each([
    ['2026-07-09T12:00:00Z', '2026-07-09T12:00:00Z'],
    ['2026-07-09T15:00:00+05:00', '2026-07-09T10:00:00Z'],
    ['2026-07-09T00:30:00-01:30', '2026-07-09T02:00:00Z'],
    ['2024-02-29T23:59:59Z', '2024-02-29T23:59:59Z'],
    ['2026-07-09T12:00:00.5Z', '2026-07-09T12:00:00.500Z'],
    ['2026-07-09t12:00:00z', '2026-07-09T12:00:00Z'],
  ])('given %s, then it is the instant %s', (text, instant) => {
    expect(parseInstant(text)).toBe(Date.parse(instant));
  });

  test('given the first year, then it is not taken for one of the last century', () => {
    expect(parseInstant('0001-01-01T00:00:00Z')).toBe(Date.parse('0001-01-01T00:00:00Z'));
  });

  test('given nanoseconds, then they count', () => {
    const [earlier, later] = [parseInstant('2026-07-09T12:00:00.0001Z'), parseInstant('2026-07-09T12:00:00.0002Z')];

    expect(earlier).toBeLessThan(later as number);
  });

  test.each([
    ...['', 'yesterday', '2026-07-09', '2026-07-09T12:00Z', '2026-07-09T12:00:00', '2026-7-9T12:00:00Z'],
    ...['2026-13-01T00:00:00Z', '2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-04-31T00:00:00Z'],
    ...['2026-00-01T00:00:00Z', '2026-07-00T00:00:00Z', '2026-07-09T24:00:00Z', '2026-07-09T23:60:00Z'],
    ...['2026-07-09T23:00:61Z', ' 2026-07-09T12:00:00Z', '2026-07-09T12:00:00+0500', '2026-07-09T12:00:00.Z'],
  ])('given %j, then it is none', (text) => {
    expect(parseInstant(text)).toBeUndefined();
  });
});

describe('formatInstant', () => {
  test('given a fraction, then it is cut and not rounded', () => {
    expect(formatInstant(new Date('2026-07-09T12:00:00.999Z'))).toBe('2026-07-09T12:00:00Z');
  });

  test('given any time, then it reads back as its whole second', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
        (time) => {
          expect(parseInstant(formatInstant(time))).toBe(Math.floor(time.getTime() / 1000) * 1000);
        },
      ),
    );
  });
});

describe('laterOf', () => {
  test('given offsets, then instants are compared and not texts', () => {
    const [early, late] = ['2026-07-09T15:00:00+05:00', '2026-07-09T13:00:00Z'];

    expect(laterOf(early, late)).toBe(late);
    expect(laterOf(late, early)).toBe(late);
  });

  test('given one that is malformed, then the other one is later', () => {
    expect(laterOf('zzz', '2026-07-09T12:00:00Z')).toBe('2026-07-09T12:00:00Z');
    expect(laterOf('2026-07-09T12:00:00Z', 'zzz')).toBe('2026-07-09T12:00:00Z');
  });
});
