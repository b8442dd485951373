import { describe, expect, test } from 'vitest';
import { surviveDeaths } from './deaths.js';
import { SCENARIOS } from './scenarios.js';

const ONLY = process.env.CRASH_ONLY?.split(',');
const scenarios = SCENARIOS.filter(({ name }) => ONLY === undefined || ONLY.includes(name));

describe('a process killed after each call, another one that goes on, and then the power fails', () => {
  test.each(scenarios.map((scenario) => [scenario.numbers, scenario.name, scenario] as const))(
    '%s. %s: what the second was told lasts',
    async (_, name, scenario) => {
      const { deaths, states, violations } = await surviveDeaths(scenario);
      process.stdout.write(`${name.padEnd(26)} ${deaths} deaths, ${states} states\n`);

      expect(violations.slice(0, 5).join('\n\n')).toBe('');
      expect(deaths).toBeGreaterThan(3);
    },
  );
});
