import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

const FINDINGS = 48;
/** What a row may say in the place of a test. */
const NOT_YET = /^comes with the work on (?:speed|screens|disk space)$/;

const rows = [...read('docs/FINDINGS.md').matchAll(/^\| (\d+) \| (.*?) \| (.*) \|$/gm)].map(
  ([, number, claim = '', where = '']) => ({ number: Number(number), claim, where }),
);

/** Gives the numbers that the names of a file's tests carry. */
function numbersIn(path: string): ReadonlySet<number> {
  const named = [...read(path).matchAll(/findings? ((?:\d+, )*\d+): /g)];
  return new Set(named.flatMap(([, numbers = '']) => numbers.split(', ').map(Number)));
}

describe('the table of findings in docs/FINDINGS.md', () => {
  test('has each number once, in order', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: FINDINGS }, (_, at) => at + 1));
  });

  test.each(rows.map(({ number, claim, where }) => [`${number}: ${claim}`, number, where] as const))(
    'row %s',
    (_, number, where) => {
      if (NOT_YET.test(where)) return;
      const tests = [...where.matchAll(/\]\(\.\.\/([^)#]+\.test\.ts)\)/g)].map(([, path = '']) => path);

      expect(tests.length, 'says where it is tested, or what it comes with').toBeGreaterThan(0);
      expect(tests.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
      expect(tests.filter((path) => !numbersIn(path).has(number))).toEqual([]);
    },
  );
});
