import { describe, expect, test } from 'vitest';
import { surviveDeaths } from './deaths.js';
import { wanted } from './describe-crashes.js';
import { SCENARIOS } from './scenarios.js';

/** Deaths of one operation; a rewind has about a hundred calls. A planted fault is looked for in all of them. */
const LIMITS: Readonly<Record<string, number>> = { seeded: Number.POSITIVE_INFINITY, long: 24 };
const DEATHS = LIMITS[process.env.CRASH_RUN ?? ''] ?? 5;

// What a user had not synced may go at any moment, whoever dies.
const scenarios = SCENARIOS.filter(({ unsynced }) => unsynced === undefined);

describe('a process killed after each call, another one that goes on, and then the power fails', () => {
  test.each(wanted(scenarios).map((scenario) => [scenario.numbers, scenario.name, scenario] as const))(
    '%s. %s: what the second was told lasts',
    async (_, name, scenario) => {
      const { deaths, calls, states, violations } = await surviveDeaths(scenario, DEATHS);
      process.stdout.write(`${name.padEnd(31)} ${calls} calls, ${deaths} deaths, ${states} states\n`);

      expect(violations.slice(0, 5).join('\n\n')).toBe('');
      expect(deaths).toBeGreaterThanOrEqual(Math.min(calls - 1, DEATHS) / 2);
    },
  );
});
