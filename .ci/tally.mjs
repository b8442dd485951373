// Reads vitest's JSON reports and prints `N passed, N failed, N skipped` over all of them.
// Exits 1 when nothing ran, when a test was left out, or when a test file of the repository is in none of the reports.
import { readdirSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

// It takes hours: `npm run test:crash:long`.
const LEFT_TO_THE_LONG_RUN = ['test/crash/seeded-faults.long.test.ts'];

const reports = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
const sum = (name) => reports.reduce((total, report) => total + report[name], 0);
const passed = sum('numPassedTests');
const failed = sum('numFailedTests');
const skipped = sum('numTotalTests') - passed - failed;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);

const results = reports.flatMap(({ testResults }) => testResults);
const ran = new Set(results.map(({ name }) => relative('.', resolve(name))));
const missing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => !ran.has(name) && !LEFT_TO_THE_LONG_RUN.includes(name));
const complaints = [
  ...missing.map((name) => `${name} did not run`),
  ...results
    .filter(({ assertionResults }) => assertionResults.length === 0)
    .map(({ name }) => `${name} holds no test that ran`),
  ...(passed + failed === 0 ? ['no test ran'] : []),
  ...(skipped > 0 ? [`${skipped} tests were skipped`] : []),
];
for (const complaint of complaints) console.error(`CI: ${complaint}`);
process.exitCode = complaints.length > 0 ? 1 : 0;
