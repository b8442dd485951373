import { defineConfig } from 'vitest/config';

// `npm run test:crash` runs what takes long: it enumerates every crash, lives random lives, tries forged stores; `npm run test:crash:long` (mode `long`) looks at more of them, kills a
// thousand processes, and tries the suite itself on faults planted in the sources.
export default defineConfig(({ mode }) => ({
  test: {
    include: ['test/**/*.long.test.ts'],
    exclude: mode === 'long' ? [] : ['test/crash/seeded-faults.long.test.ts'],
    env: { CRASH_RUN: mode === 'long' ? 'long' : (process.env.CRASH_RUN ?? 'short') },
    pool: 'forks',
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 1_800_000,
    hookTimeout: 60_000,
    allowOnly: false,
  },
}));
