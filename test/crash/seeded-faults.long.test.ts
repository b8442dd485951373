import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SEEDED_FAULTS, type SeededFault } from './seeded-faults.js';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test/crash', 'test/support', 'package.json', 'tsconfig.json', 'vitest.crash.config.ts'];

describe('the suite, given a fault in the sources', () => {
  test('there are at least 23, and one for every step of RELIABILITY.md, 2.2', () => {
    const steps = SEEDED_FAULTS.map(({ step }) => step.split(':')[0]);

    expect(SEEDED_FAULTS.length).toBeGreaterThanOrEqual(23);
    expect([...new Set(steps)].sort()).toEqual(
      ['append', 'capture', 'create', 'createChild', 'ensureSpec', 'fork', 'rewind', 'spec', 'title'].sort(),
    );
  });

  test.concurrent.each(SEEDED_FAULTS.map((fault) => [fault.step, fault.name, fault] as const))(
    '13. %s (%s): is caught',
    async (_step, name, fault) => {
      const { code, output } = await runWith(fault);

      expect(code, `${name}: the suite passed`).toBe(1);
      expect(output).toContain(fault.breaks);
    },
  );
});

/** Runs the scenarios that concern a fault on a copy of the project that has it. */
async function runWith({
  edits,
  scenarios,
  suite,
}: SeededFault): Promise<{ readonly code: number | null; readonly output: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'zs-seeded-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, old, new: replacement } of edits) {
    const path = join(folder, 'src', file);
    const parts = readFileSync(path, 'utf8').split(old);
    if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times: ${old}`);
    writeFileSync(path, parts.join(replacement));
  }
  // Both files of the enumerator begin so; one of them has nothing to do.
  const tested = suite === undefined || suite === 'crashes' ? 'test/crash/enumerator' : `test/crash/${suite}.long`;
  const vitest = join(PROJECT, 'node_modules/vitest/vitest.mjs');
  const args = [vitest, 'run', '--root', folder, '--config', join(folder, 'vitest.crash.config.ts'), tested];
  const env = { ...process.env, CRASH_ONLY: scenarios.join(','), CRASH_RUN: 'seeded', NO_COLOR: '1' };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (piece) => {
      output += piece;
    });
    child.stderr.on('data', (piece) => {
      output += piece;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
