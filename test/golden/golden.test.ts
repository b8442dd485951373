import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inProcessLocks } from '../support/in-process-locks.js';
import { applyDifference, differenceNames, readDifference } from './differences.js';
import { type GoldenCase, parseCase, readCaseFile } from './golden-case.js';
import { runCase } from './run-case.js';

const here = dirname(fileURLToPath(import.meta.url));
const ownCases = join(here, 'cases');
// More folders of cases can be named in GOLDEN_CASES, as in PATH: `<folder>/<group>/<name>.json`.
const extraCases = (process.env.GOLDEN_CASES ?? '').split(delimiter).filter((folder) => folder !== '');

// Recorded under this mask (README.md, "Environment").
let umask: number;
beforeAll(() => {
  umask = process.umask(0o022);
});
afterAll(() => {
  process.umask(umask);
});

for (const cases of [ownCases, ...extraCases.map((folder) => resolve(folder))]) {
  const answers = join(dirname(cases), 'differences');
  describe(`recorded cases of ${cases === ownCases ? 'Zero v0.8.0' : cases}`, () => {
    test.each(caseNames(cases))('%s', async (name) => {
      const golden = readCase(cases, answers, name);

      const mismatches = await runCase(golden, { locks: inProcessLocks });

      expect(golden.name).toBe(name);
      expect(mismatches.join('\n')).toBe('');
    });
  });
}

describe('with the locks that the store takes by itself', () => {
  const names = ['append/batch', 'children/create', 'fork/blobs', 'rewind/twice', 'spec/ensure-implementation'];

  test.each(names)('%s', async (name) => {
    const mismatches = await runCase(readCase(ownCases, join(here, 'differences'), name));

    expect(mismatches.join('\n')).toBe('');
  });
});

describe('the two groups of cases', () => {
  const ours = differenceNames(join(here, 'differences'));
  const documented = rowsOfTheTable();

  test('given 170 cases, then 151 are answered as recorded and 19 in our own way', () => {
    const names = caseNames(ownCases);

    expect(names).toHaveLength(170);
    expect(names.filter((name) => !ours.includes(name))).toHaveLength(151);
    expect(ours).toHaveLength(19);
  });

  test('given our own answers, then they are to those cases that DIFFERENCES.md lists', () => {
    expect(ours).toEqual(documented);
  });
});

function readCase(cases: string, answers: string, name: string): GoldenCase {
  const recorded = readCaseFile(join(cases, `${name}.json`));
  const difference = readDifference(answers, name);
  return parseCase(difference === undefined ? recorded : applyDifference(recorded, difference));
}

function caseNames(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json'))
    .map((path) => path.slice(0, -'.json'.length))
    .sort();
}

function rowsOfTheTable(): readonly string[] {
  const text = readFileSync(join(here, 'DIFFERENCES.md'), 'utf8');
  return [...text.matchAll(/^\| ([a-z][\w.-]*\/[\w.-]+) \|/gm)].map((row) => row[1] as string).sort();
}
