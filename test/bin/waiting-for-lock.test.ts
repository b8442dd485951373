import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type ForeignHolder, startForeignHolder } from '../support/lock-actor.js';
import { aSession } from '../support/session-builder.js';
import { processesIn } from '../support/signalled-run.js';
import { laySession } from '../support/temp-store.js';

// The built program: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));

interface Waiting {
  readonly folder: string;
  readonly holder: ForeignHolder;
  readonly child: ChildProcess;
  /** The command with which it waits for the lock. */
  readonly helper: number;
  readonly ended: Promise<readonly [number | null, string]>;
  log(): string;
}

/** Starts an append to a session that somebody else holds, and waits until it waits. */
async function waitingAppend(...flags: readonly string[]): Promise<Waiting> {
  const folder = mkdtempSync(join(tmpdir(), 'zs-helper-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  laySession(folder, aSession('s').withMessages(2));
  const holder = await startForeignHolder(join(folder, 's', 'session.lock'));
  onTestFinished(() => holder.letGo());
  const child = spawn(process.execPath, [BIN, '--root', folder, 'append', 's', ...flags], { cwd: folder });
  child.stdin.end('{"type":"message","payload":{"content":"late"}}\n');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part) => {
      said += part;
    });
  }
  const ended = once(child, 'close').then(([code]) => [code as number | null, said] as const);
  const helper = await vi.waitUntil(() => helperOf(child), { timeout: 20_000 });
  const log = () => readFileSync(join(folder, 's', 'events.jsonl'), 'utf8');
  return { folder, holder, child, helper, ended, log };
}

function helperOf({ pid }: ChildProcess): number | undefined {
  try {
    const listed = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' });
    // The one that waits, not the one that tries once.
    const line = listed.split('\n').find((each) => / flock -x 3$/.test(each.replaceAll('/usr/bin/', ' ')));
    return line === undefined ? undefined : Number.parseInt(line, 10);
  } catch {
    return undefined;
  }
}

describe.runIf(platform() === 'linux')('finding 17: a program that waits for a session', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'given %s for its helper, then nothing is written before the lock is had',
    async (signal) => {
      const { holder, helper, ended, log } = await waitingAppend();

      process.kill(helper, signal);
      await sleep(500);

      expect(log()).not.toContain('late');
      await holder.letGo();
      expect(await ended).toEqual([0, '3 message\n']);
      expect(log()).toContain('late');
    },
  );

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
  ] as const)('given %s, then it ends, and no helper stays behind', async (signal, exit) => {
    const { child, folder, ended, holder, log } = await waitingAppend();

    child.kill(signal);

    expect(await ended).toEqual([exit, '']);
    expect(processesIn(folder).filter((pid) => Number(pid) !== holder.pid)).toEqual(processesOf(holder));
    expect(log()).not.toContain('late');
  });

  test('given a helper that is stopped, then the deadline holds', async () => {
    const { helper, ended } = await waitingAppend('--lock-timeout', '2000');

    process.kill(helper, 'SIGSTOP');
    const [code, said] = await ended;

    expect(code).toBe(4);
    expect(said).toMatch(/is held by process \d+ \((?:flock|cat)\)/);
  });
});

/** What the holder runs, which inherits its descriptor. */
function processesOf({ pid }: ForeignHolder): readonly string[] {
  return execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
