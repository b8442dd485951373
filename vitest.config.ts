import { defineConfig } from 'vitest/config';

// Long runs have a command of their own; `npm test` stays short enough to run before each commit.
const LONG_TESTS = 'test/**/*.long.test.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [LONG_TESTS, 'test/samples/**', 'test/golden/cases/**'],
    pool: 'forks', // tests that change directory, umask or environment keep it to themselves
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Focused tests would leave the rest unrun, and nobody would notice.
    allowOnly: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 90, statements: 90 },
    },
  },
});
