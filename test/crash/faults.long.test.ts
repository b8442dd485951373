import { afterAll, describe, expect, test } from 'vitest';
import { DurabilityUnknownError, type ZeroSessionsError } from '../../src/errors.js';
import { describeViolations } from './enumerate.js';
import { callsOf, failEveryCall, runWithFault } from './faults.js';
import { record } from './recorded.js';
import { SCENARIOS, type Scenario } from './scenarios.js';

const ONLY = process.env.CRASH_ONLY?.split(',');
const scenarios = SCENARIOS.filter(({ name }) => ONLY === undefined || ONLY.includes(name));
const counts: string[] = [];

afterAll(() => {
  process.stdout.write(
    `\nfaults, one at each call: cases, of them successes, of these with something left out and told\n${counts.join('\n')}\n`,
  );
});

describe('a call that fails', () => {
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '19, 21. every call of %s × EIO, ENOSPC half written, ENOSPC from here on, EACCES, EMFILE: no success without effect',
    async (name, scenario) => {
      const { cases, succeeded, told, violations } = await failEveryCall(scenario, await record(scenario));
      counts.push(
        `${name.padEnd(26)} ${String(cases).padStart(5)} ${String(succeeded).padStart(5)} ${String(told).padStart(5)}`,
      );

      expect(describeViolations(violations)).toBe('');
      expect(cases).toBeGreaterThan(20);
    },
  );

  test('20. fsync of the log gives EIO: not acknowledged, not tried again, durability unknown', async () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'batch of 3') as Scenario;
    const recorded = await record(scenario);
    const calls = await callsOf(scenario, recorded);
    // Of what was there before, and of what is appended.
    const syncs = calls.flatMap(({ name, path }, at) =>
      name === 'fsync' && path.endsWith('events.jsonl') ? [at] : [],
    );

    expect(syncs).toHaveLength(2);
    for (const nth of syncs) {
      const { error, callsAfter } = await runWithFault(scenario, recorded, 'EIO once', nth);

      expect(error).toBeInstanceOf(DurabilityUnknownError);
      expect((error as ZeroSessionsError).code).toBe('DURABILITY_UNKNOWN');
      expect(callsAfter.filter(({ name }) => name === 'fsync')).toHaveLength(1);
    }
  });

  test('23. the metadata cannot be replaced after the log was synced: success, a warning, right after the next command', async () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'append') as Scenario;
    const recorded = await record(scenario);
    const calls = await callsOf(scenario, recorded);
    const nth = calls.findIndex(({ name, path }) => name === 'rename' && path.endsWith('metadata.json'));
    const { succeeded, world } = await runWithFault(scenario, recorded, 'EIO once', nth);

    expect(succeeded).toBe(true);
    expect(world.warnings.map(({ code }) => code)).toContain('METADATA_NOT_WRITTEN');
    expect((await world.store.get('s'))?.eventCount).toBe(2);

    await world.store.updateTitleIfCurrent('s', 'no such title', 'never');

    expect((await world.store.get('s'))?.eventCount).toBe(3);
    expect((await world.store.readEvents('s')).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });
});
