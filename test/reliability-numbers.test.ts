import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

/** How many acceptance tests docs/RELIABILITY.md, 5 has, and how many faults docs/FAULTS.md. */
const NUMBERS = 58;
const FAULTS = 44;
/** What a row may say in the place of a test. */
const WHY_NOT = /^(?:comes with|not run: )/;

interface Row {
  readonly number: number;
  readonly claim: string;
  readonly where: string;
}

/** Gives the rows of the last table before the next heading. */
function rowsOf(document: string, heading: string): readonly Row[] {
  const section = document.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  return [...section.matchAll(/^\| (\d+) \| (.*?) \| (.*) \|$/gm)].map(([, number, claim = '', where = '']) => ({
    number: Number(number),
    claim,
    where,
  }));
}

/** Gives the files of this project that a text links to. */
function linksIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(\.\.\/([^)#]+)\)/g)].map(([, path = '']) => path);
}

/** Gives the numbers that the names of a file's tests begin with. */
function numbersIn(path: string): ReadonlySet<number> {
  const source = read(path);
  const named = [...source.matchAll(/(?:\btest(?:\.\w+)*\(|\)\()\s*['"`](\d+(?:, \d+)*)\. /g)];
  const lists = named.map(([, numbers = '']) => numbers);
  // The crash suite goes through operations, each with the numbers that it belongs to.
  if (/\/(?:scenarios|describe-crashes)\.js'/.test(source)) lists.push(...scenarioNumbers());
  return new Set(lists.flatMap((list) => list.split(', ').map(Number)));
}

function scenarioNumbers(): readonly string[] {
  const files = readdirSync(join(PROJECT, 'test/crash')).filter((name) => /^scenarios.*\.ts$/.test(name));
  const lists = files.flatMap((name) => [...read(`test/crash/${name}`).matchAll(/^ {4}numbers: '([\d, ]+)',$/gm)]);
  return lists.map(([, numbers = '']) => numbers);
}

describe('the table of acceptance tests in docs/RELIABILITY.md, 5', () => {
  const rows = rowsOf(read('docs/RELIABILITY.md'), '5. Acceptance tests');

  test('has each number once, in order', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: NUMBERS }, (_, at) => at + 1));
  });

  test.each(rows.map(({ number, claim, where }) => [`${number}: ${claim}`, number, where] as const))(
    'row %s',
    (_, number, where) => {
      const links = linksIn(where);
      expect(links.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
      if (WHY_NOT.test(where)) return;

      const tests = links.filter((path) => path.endsWith('.test.ts'));

      expect(tests.length, 'says where it is tested, or why it is not').toBeGreaterThan(0);
      expect(tests.filter((path) => !numbersIn(path).has(number))).toEqual([]);
    },
  );
});

describe('the list of faults in docs/FAULTS.md', () => {
  const document = read('docs/FAULTS.md');
  const sections = [...document.matchAll(/^## (\d+)\. (.+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(
    ([, number, title = '', text = '']) => ({
      number: Number(number),
      title,
      tests: /^Test: ([\s\S]*?)\n$/m.exec(text)?.[1] ?? '',
    }),
  );
  const told = new Map(
    [...document.matchAll(/^\| (\d+) \| \[(.+)\]\(.+\) \| .+ \| (.+) \|$/gm)].map(([, number, title, tested]) => [
      Number(number),
      { title, tested },
    ]),
  );

  test('has each number once, in order, in the table and as a section of the same title', () => {
    const numbers = Array.from({ length: FAULTS }, (_, at) => at + 1);

    expect([...told.keys()]).toEqual(numbers);
    expect(sections.map(({ number }) => number)).toEqual(numbers);
    expect(sections.map(({ title }) => title)).toEqual([...told.values()].map(({ title }) => title));
  });

  test.each(sections.map(({ number, title, tests }) => [`${number}, ${title}`, number, tests] as const))(
    'fault %s: its tests are there, and the table says so',
    (_, number, tests) => {
      const hasOpenEnd = /comes with|not yet/.test(tests);

      expect(linksIn(tests).filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
      expect(linksIn(tests).length).toBeGreaterThan(0);
      expect(told.get(number)?.tested).toBe(hasOpenEnd ? 'in part' : 'yes');
      for (const [, path = '', named = ''] of tests.matchAll(/\]\(\.\.\/([^)]+)\) \(([^)]+)\)/g))
        for (const title of named.split('; ')) expect([path, read(path).includes(title)]).toEqual([path, true]);
    },
  );
});
