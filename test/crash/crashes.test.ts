import { describe, expect, test } from 'vitest';
import { describeViolations, enumerateCrashes } from './enumerate.js';
import { SCENARIOS } from './scenarios.js';

describe('a process killed between any two calls', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
    'in %s, then nothing is lost',
    async (_, scenario) => {
      const { coverage, violations } = await enumerateCrashes(scenario, {
        personas: ['kill'],
        nestedLimit: 12,
        stateLimit: 40,
        violationLimit: 3,
      });

      expect(describeViolations(violations)).toBe('');
      expect(coverage[0]?.states).toBeGreaterThan(10);
    },
  );
});
