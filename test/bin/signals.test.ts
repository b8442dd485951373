import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { platform } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  callsOf,
  expectWholeOrNothing,
  leftovers,
  processesIn,
  SIGNALS,
  type SignalPlace,
  signalPlace,
  WRITING_COMMANDS,
} from '../support/signalled-run.js';

// The built program, with real signals: `npm test` builds it first. Every call of it: crash/signals.long.test.ts.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

function aPlace(): SignalPlace {
  const place = signalPlace();
  onTestFinished(() => rmSync(place.folder, { recursive: true, force: true }));
  return place;
}

describe.runIf(platform() === 'linux')('finding 16: a signal while a command writes', () => {
  test.each(Object.keys(WRITING_COMMANDS))(
    'given %s and a signal at its commit, then the write ends, its answer is printed, and nothing is left',
    async (name) => {
      const command = WRITING_COMMANDS[name] as (typeof WRITING_COMMANDS)[string];
      const { commit } = await callsOf(command);

      for (const signal of SIGNALS) expect(await expectWholeOrNothing(command, { nth: commit, signal })).toBe(true);
    },
  );

  test('given one before the lock is taken, also to its children, then nothing is written and the exit names it', async () => {
    const command = WRITING_COMMANDS.append as (typeof WRITING_COMMANDS)[string];
    const { calls } = await callsOf(command);
    const nth = calls.findIndex((call) => call.startsWith('spawn')) + 1;

    for (const signal of SIGNALS)
      expect(await expectWholeOrNothing(command, { nth, signal, toGroup: true })).toBe(false);
  });

  test('given a limit on the size of files, then the write fails with a word, and the log has its old bytes', () => {
    const { root, folder } = aPlace();
    const path = join(root, 's', 'events.jsonl');
    const before = readFileSync(path);
    const event = JSON.stringify({ type: 'message', payload: { content: 'x'.repeat(50_000) } });
    writeFileSync(join(folder, 'event'), event);
    const script = 'ulimit -f 40; "$0" "$1" --root "$2" append s < event 2>&1; echo "exit $?"';

    const said = execFileSync('bash', ['-c', script, process.execPath, BIN, root], { cwd: folder, encoding: 'utf8' });

    expect(said).toMatch(/EFBIG.*\nexit 1\n$/s);
    expect(readFileSync(path)).toEqual(before);
    expect(leftovers(root)).toEqual([]);
  });

  test.runIf(existsSync('/dev/full'))('given a full disk behind stdout, then the message says what was written', () => {
    const { root, folder } = aPlace();
    writeFileSync(join(folder, 'event'), WRITING_COMMANDS.append?.stdin ?? '');
    const script = '"$0" "$1" --root "$2" append s < event 2>&1 > /dev/full; echo "exit $?"';

    const said = execFileSync('bash', ['-c', script, process.execPath, BIN, root], { cwd: folder, encoding: 'utf8' });

    expect(said).toMatch(/^zero-sessions: It was written \(12\), but the answer was not: .*ENOSPC.*\nexit 1\n$/s);
    expect(readFileSync(join(root, 's', 'events.jsonl'), 'utf8')).toContain('"id":"s:12"');
  });
});

describe.runIf(platform() === 'linux')('finding 16: a signal while the demo makes its store', () => {
  test('given Ctrl-C, then nothing of it is left', async () => {
    const { folder } = aPlace();
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    const env = { PATH: process.env.PATH, HOME: folder, TMPDIR: temporary };
    const child = spawn(process.execPath, [BIN, 'demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    await vi.waitUntil(() => readdirSync(temporary).length > 0, { timeout: 20_000, interval: 5 });

    child.kill('SIGINT');
    const [code] = await once(child, 'close');

    expect(code).toBe(130);
    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe.runIf(platform() === 'linux')('finding 16, 42: a signal while a summarizer works', () => {
  test.each([
    ['SIGINT', 'sleep 300 & touch begun; sleep 300'],
    ['SIGTERM', 'touch begun; sleep 300 | cat'],
    ['SIGHUP', `trap '' TERM; touch begun; while true; do sleep 0.1; done`],
  ] as const)('given %s, then all that it started ends, and nothing is recorded', async (signal, summarizer) => {
    const { root, folder } = aPlace();
    const before = readFileSync(join(root, 's', 'events.jsonl'));
    const argv = ['--root', root, 'compact', 's', '--summarizer', summarizer];
    const child = spawn(process.execPath, [BIN, ...argv], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part) => {
        said += part;
      });
    }
    await vi.waitUntil(() => existsSync(join(folder, 'begun')), { timeout: 20_000 });

    child.kill(signal);
    child.kill(signal);
    const [code] = await once(child, 'close');

    expect([code, said]).toEqual([EXITS[signal], '']);
    expect(processesIn(folder)).toEqual([]);
    expect(readFileSync(join(root, 's', 'events.jsonl'))).toEqual(before);
    expect(leftovers(root)).toEqual([]);
  });
});
