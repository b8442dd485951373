import { afterAll, describe, expect, test } from 'vitest';
import type { Persona } from './crash-states.js';
import { type Coverage, describeViolations, enumerateCrashes, missingCalls } from './enumerate.js';
import type { Scenario } from './scenarios.js';

const LONG = process.env.CRASH_RUN === 'long';
// A planted fault is caught by the first violation.
const VIOLATION_LIMIT = process.env.CRASH_RUN === 'seeded' ? 1 : 20;
const ONLY = process.env.CRASH_ONLY?.split(',');

/** The scenarios that were asked for. */
export function wanted(scenarios: readonly Scenario[]): readonly Scenario[] {
  return scenarios.filter(({ name }) => ONLY === undefined || ONLY.includes(name));
}

// By the letter of POSIX the recoveries of one rewind have a hundred thousand states in their middle, and to settle one
// has many more: a sample of them is looked at, spread over all, and a larger one in the long run.
const NESTED_LIMITS: Readonly<Record<Persona, readonly [short: number, long: number]>> = {
  kill: [3_000, 20_000],
  ordered: [3_000, 20_000],
  weakest: [300, 10_000],
};

function nestedLimit(persona: Persona): number {
  return process.env.CRASH_RUN === 'seeded' ? 300 : NESTED_LIMITS[persona][LONG ? 1 : 0];
}

/** Declares a test for each scenario, and prints how many states each call of it had. */
export function describeCrashes(scenarios: readonly Scenario[]): void {
  const covered: Coverage[] = [];
  afterAll(() => {
    process.stdout.write(`${coverageTable(covered)}\n`);
  });
  describe('a crash before, in and after every call, and in the recovery from it', () => {
    test.each(wanted(scenarios).map((scenario) => [scenario.numbers, scenario.name, scenario] as const))(
      '%s. %s, all personas: nothing acknowledged is lost, and nothing is half done',
      async (_, name, scenario) => {
        const { coverage, violations } = await enumerateCrashes(scenario, {
          nestedLimit,
          violationLimit: VIOLATION_LIMIT,
        });
        covered.push(...coverage);

        expect(describeViolations(violations)).toBe('');
        expect(coverage.map(({ persona }) => persona)).toEqual(['kill', 'ordered', 'weakest']);
        for (const each of coverage)
          expect([name, each.persona, missingCalls(scenario, each)]).toEqual([name, each.persona, []]);
      },
    );
  });
}

function coverageTable(coverage: readonly Coverage[]): string {
  const rows = coverage.map(({ scenario, persona, calls, states, nested, sampled }) => {
    const counts = new Map<string, number>();
    for (const { name, states } of calls) counts.set(name, (counts.get(name) ?? 0) + states);
    const byCall = [...counts].sort().map(([name, count]) => `${name} ${count}`);
    const inside = `${nested}${sampled ? ' sampled' : ''}`;
    return `${scenario.padEnd(31)} ${persona.padEnd(8)} ${String(calls.length).padStart(5)} ${String(states).padStart(7)} ${inside.padStart(15)}  ${byCall.join(', ')}`;
  });
  const sum = (of: (each: Coverage) => number): number => coverage.reduce((total, each) => total + of(each), 0);
  const head = `${'operation'.padEnd(31)} persona  calls  states     in recovery  states made for each call`;
  const total = `${sum(({ states }) => states)} states, ${sum(({ nested }) => nested)} more in recovery`;
  return ['', head, ...rows, total].join('\n');
}
