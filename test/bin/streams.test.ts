import { execFile, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aSession } from '../support/session-builder.js';
import { laySession } from '../support/temp-store.js';

// The built program, as a shell runs it: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const MESSAGES = 20_000;

let root = '';

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'zs-bin-'));
  laySession(root, aSession('long').withMessages(MESSAGES));
  laySession(root, aSession('bad').withMessages(MESSAGES).withLine('not json'));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the program in a pipe', () => {
  test('given a reader that waits, then all of it arrives, also when the exit code is not 0', async () => {
    const good = await slowly(['show', 'long', '--json']);
    const bad = await slowly(['show', 'bad', '--json']);

    expect([good.code, JSON.parse(good.out).events.length]).toEqual([0, MESSAGES]);
    expect([bad.code, JSON.parse(bad.out).events.length]).toEqual([5, MESSAGES]);
    expect(good.out.length).toBeGreaterThan(3_000_000);
  });

  test.each([
    ['show long'],
    ['show long --json'],
    ['show long --jsonl'],
    ['show long -q'],
    ['show long --raw'],
    ['list --json'],
    ['tree'],
  ])('given %s | head -1, then it ends with 0 and no message', async (line) => {
    const script = `set -o pipefail; "$0" "$1" ${line} --root "$2" | head -1; echo "exit \${PIPESTATUS[0]}"`;

    const { out, err } = await output('bash', ['-c', script, process.execPath, BIN, root]);

    expect(out).toMatch(/\nexit 0\n$/);
    expect(err).toBe('');
  });

  test('given a closed stdout, then nothing comes of it, as with any program of node', async () => {
    const script = '"$0" "$1" list -q --root "$2" >&-';

    const { code, err } = await output('bash', ['-c', script, process.execPath, BIN, root]);

    expect([code, err]).toEqual([0, '']);
  });

  test('given a full disk, then it fails and says so', async () => {
    if (!existsSync('/dev/full')) return;
    const script = '"$0" "$1" list --json --root "$2" > /dev/full';

    const { code, err } = await output('bash', ['-c', script, process.execPath, BIN, root]);

    expect(code).toBe(1);
    expect(err).toContain('ENOSPC');
  });
});

describe('Ctrl-C', () => {
  test('given a reader that does not read, then it exits 130 at once and leaves nothing', async () => {
    const before = readdirSync(root);
    const child = start(['show', 'long', '--json']);
    await Promise.race([once(child.stdout ?? child, 'readable'), once(child, 'exit')]);
    await setTimeout(200);

    child.kill('SIGINT');
    const [code] = await once(child, 'exit');

    expect(code).toBe(130);
    expect(readdirSync(root)).toEqual(before);
  });
});

function start(argv: readonly string[], options: SpawnOptions = {}) {
  return spawn(process.execPath, [BIN, '--root', root, ...argv], { stdio: ['ignore', 'pipe', 'pipe'], ...options });
}

/** Runs it and reads only after a second: longer than it takes to be done. */
async function slowly(argv: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  const child = start(argv);
  const { stdout } = child;
  if (stdout === null) throw new Error('There is no pipe');
  child.stderr?.resume();
  const exit = once(child, 'exit');
  await setTimeout(1000);
  const chunks: Buffer[] = [];
  for await (const chunk of stdout) chunks.push(chunk as Buffer);
  const [code] = await exit;
  return { code: code as number, out: Buffer.concat(chunks).toString() };
}

function output(
  file: string,
  argv: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    execFile(file, argv, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
}
