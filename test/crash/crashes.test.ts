import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeViolations, enumerateCrashes } from './enumerate.js';
import { SCENARIOS } from './scenarios.js';
import { SEEDED_FAULTS } from './seeded-faults.js';

describe('a process killed between any two calls', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'in %s, then nothing is lost',
    async (_, scenario) => {
      const { coverage, violations } = await enumerateCrashes(scenario, {
        personas: ['kill'],
        nestedLimit: () => 12,
        stateLimit: 40,
        violationLimit: 3,
      });

      expect(describeViolations(violations)).toBe('');
      expect(coverage[0]?.states).toBeGreaterThan(10);
    },
  );
});

// They are run by `npm run test:crash:long`; here only that a change of the sources has not left them behind.
describe('the faults that are planted to try the suite', () => {
  test.each(SEEDED_FAULTS.map(({ name, edits }) => [name, edits] as const))('%s: has its place', (_, edits) => {
    for (const { file, old } of edits) {
      const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');

      expect([old, source.split(old).length - 1]).toEqual([old, 1]);
    }
  });
});
