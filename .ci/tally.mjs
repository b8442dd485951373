// Reads vitest's JSON report and prints `N passed, N failed, N skipped`.
// Exits 1 when nothing ran, when a test was left out, or when a test file of the repository is not in the report.
import { readdirSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const passed = report.numPassedTests;
const failed = report.numFailedTests;
const skipped = report.numTotalTests - passed - failed;
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);

const ran = new Set(report.testResults.map(({ name }) => relative('.', resolve(name))));
const missing = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
  .map((name) => `test/${name}`)
  .filter((name) => !ran.has(name));
const complaints = [
  ...missing.map((name) => `${name} did not run`),
  ...report.testResults
    .filter(({ assertionResults }) => assertionResults.length === 0)
    .map(({ name }) => `${name} holds no test that ran`),
  ...(passed + failed === 0 ? ['no test ran'] : []),
  ...(skipped > 0 ? [`${skipped} tests were skipped`] : []),
];
for (const complaint of complaints) console.error(`CI: ${complaint}`);
process.exitCode = complaints.length > 0 ? 1 : 0;
