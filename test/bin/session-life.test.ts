import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

// The built program, as a script uses it: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('session-life.sh', import.meta.url));

describe('a script under set -euo pipefail, without a terminal', () => {
  test('given nothing but the program, then a session lives its whole life', { timeout: 120_000 }, () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-life-')));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const root = join(folder, 'store');

    const { status, stderr } = spawnSync('bash', ['-x', SCRIPT], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder, NODE: process.execPath, BIN, ZERO_SESSIONS_ROOT: root },
    });

    // Of a script that stops, the last lines say where.
    expect([status, status === 0 ? '' : stderr.split('\n').slice(-15).join('\n')]).toEqual([0, '']);
    const leftovers = readdirSync(root, { recursive: true, encoding: 'utf8' });
    expect(leftovers.filter((name) => /zs-(?:tmp|new)-|zs-locks\//.test(name))).toEqual([]);
  });
});
