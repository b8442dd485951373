// Puts each mutant into a copy of the tree and demands that a test fails. Takes minutes: `npm run test:mutants`.
// With the numbers of some mutants (from 1) as arguments it tries only those.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MUTANTS } from './mutants.mjs';

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const COPIED = ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
const GOLDEN = 'test/golden/golden.test.ts';
const WORKERS = 2;
/** A mutant that makes a loop endless is caught, too, but only after this long. */
const TIMEOUT_MS = 180_000;

const say = (text) => process.stdout.write(`${text}\n`);

async function copyTree() {
  const folder = await mkdtemp(join(tmpdir(), 'zs-mutants-'));
  for (const name of COPIED) await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs tests in a copy; gives how many passed and failed, or nothing when they never ended. */
async function runTests(folder, args) {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  const options = ['run', '--bail', '1', '--maxWorkers', '1', '--reporter', 'json', '--outputFile', report, ...args];
  const child = spawn(process.execPath, [vitest, ...options], { cwd: folder, stdio: 'ignore', detached: true });
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), TIMEOUT_MS);
  await new Promise((ended) => {
    child.on('exit', ended);
  });
  clearTimeout(timer);
  try {
    const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(await readFile(report, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests, failedFiles: numFailedTestSuites };
  } catch {
    return undefined;
  }
}

/** The runs that look at a mutant: its test files, and the recorded cases that it names. */
function runsFor({ tests = [], cases }) {
  const runs = [];
  if (tests.length > 0) runs.push([...tests]);
  if (cases !== undefined) runs.push([GOLDEN, '-t', `recorded cases of Zero v0.8.0 ${cases}`]);
  return runs;
}

/** What is not green to begin with would catch everything. */
async function requireGreen(folder, mutants) {
  const runs = new Map(mutants.flatMap(runsFor).map((run) => [run.join(' '), run]));
  for (const [name, run] of runs) {
    const result = await runTests(folder, run);
    if (result === undefined || result.failed > 0 || result.failedFiles > 0 || result.passed === 0) {
      throw new Error(`without any mutant this is not green: ${name} (${JSON.stringify(result)})`);
    }
  }
}

async function isCaught(folder, mutant) {
  const path = join(folder, mutant.file);
  const sound = await readFile(path, 'utf8');
  if (sound.split(mutant.from).length !== 2) throw new Error(`${mutant.file} does not have once: ${mutant.from}`);
  await writeFile(
    path,
    sound.replace(mutant.from, () => mutant.to),
  );
  try {
    for (const run of runsFor(mutant)) {
      const result = await runTests(folder, run);
      if (result === undefined || result.failed > 0 || result.failedFiles > 0) return true;
    }
    return false;
  } finally {
    await writeFile(path, sound);
  }
}

async function main() {
  const wanted = process.argv.slice(2).map(Number);
  const numbered = MUTANTS.map((mutant, at) => ({ ...mutant, number: at + 1 }));
  const mutants = wanted.length === 0 ? numbered : numbered.filter(({ number }) => wanted.includes(number));
  const folders = await Promise.all(Array.from({ length: WORKERS }, copyTree));
  try {
    await requireGreen(folders[0], mutants);
    const waiting = [...mutants];
    const survivors = [];
    await Promise.all(
      folders.map(async (folder) => {
        for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
          const caught = await isCaught(folder, mutant);
          if (!caught) survivors.push(mutant);
          say(`${caught ? 'caught  ' : 'SURVIVED'} ${mutant.number} ${mutant.file}: ${mutant.to}`);
        }
      }),
    );
    say(`caught ${mutants.length - survivors.length}/${mutants.length}`);
    process.exitCode = survivors.length === 0 ? 0 : 1;
  } finally {
    // A run that was cut short may still be writing there.
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 20 })));
  }
}

await main();
