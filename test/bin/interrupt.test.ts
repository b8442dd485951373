import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { aSession } from '../support/session-builder.js';
import { laySession } from '../support/temp-store.js';

// The built program, with real signals: `npm test` builds it first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));

interface Place {
  readonly folder: string;
  readonly root: string;
}

function aPlace(): Place {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-int-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'store');
  mkdirSync(join(folder, 'work'));
  laySession(
    root,
    aSession('s')
      .withMessages(9)
      .withMetadata({ cwd: join(folder, 'work') }),
  );
  return { folder, root };
}

function start({ folder, root }: Place, argv: readonly string[], path = process.env.PATH ?? ''): ChildProcess {
  return spawn(process.execPath, [BIN, '--root', root, ...argv], {
    cwd: folder,
    env: { PATH: path, HOME: join(folder, 'home') },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function ended(
  child: ChildProcess,
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const texts = { out: '', err: '' };
  child.stdout?.on('data', (part) => {
    texts.out += part;
  });
  child.stderr?.on('data', (part) => {
    texts.err += part;
  });
  const [code] = await once(child, 'close');
  return { code, ...texts };
}

/** Names what is left of locks and temporary files. */
function leftovers(root: string): readonly string[] {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.zs-(?:tmp|new)-|^\.zs-locks\//.test(name));
}

describe('Ctrl-C', () => {
  test('given a session that somebody else holds, then waiting for it ends with 130', async () => {
    const place = aPlace();
    const holder = spawn('flock', ['-x', join(place.root, 's', 'session.lock'), 'sh', '-c', 'echo held; read line']);
    onTestFinished(() => void holder.stdin.end());
    await once(holder.stdout, 'data');
    const child = start(place, ['rename', 's', 'other', '--lock-timeout', '60000']);
    await vi.waitUntil(() => isWaitingForLock(child), { timeout: 20_000 });

    child.kill('SIGINT');

    expect(await ended(child)).toEqual({ code: 130, out: '', err: '' });
    expect(leftovers(place.root)).toEqual([]);
    expect(readFileSync(join(place.root, 's', 'metadata.json'), 'utf8')).not.toContain('other');
  });

  test('given append that waits for stdin, then it ends with 130 and nothing is appended', async () => {
    const place = aPlace();
    const before = readFileSync(join(place.root, 's', 'events.jsonl'));
    const child = start(place, ['append', 's']);
    child.stdin?.write('{"type":"message"}\n');
    await new Promise((resolve) => setTimeout(resolve, 800));

    child.kill('SIGINT');

    expect(await ended(child)).toEqual({ code: 130, out: '', err: '' });
    expect(readFileSync(join(place.root, 's', 'events.jsonl'))).toEqual(before);
    expect(leftovers(place.root)).toEqual([]);
  });

  test('given a summarizer that is at work, then it ends with 130 and nothing is recorded', async () => {
    const place = aPlace();
    const before = readFileSync(join(place.root, 's', 'events.jsonl'));
    const child = start(place, ['compact', 's', '--summarizer', 'touch begun; sleep 2; echo late']);
    await vi.waitUntil(() => existsSync(join(place.folder, 'begun')), { timeout: 20_000 });

    child.kill('SIGINT');
    const [code] = await once(child, 'exit');

    expect(code).toBe(130);
    expect(readFileSync(join(place.root, 's', 'events.jsonl'))).toEqual(before);
    expect(leftovers(place.root)).toEqual([]);
  });
});

describe('resume --exec', () => {
  test('given zero on PATH, then it is started in the folder of the session, with its own arguments and exit code', async () => {
    const place = aPlace();
    const bin = join(place.folder, 'bin');
    program(bin, 'zero', 'echo "in $PWD: $0 $*"; cat; exit 7');
    const child = start(
      { ...place, folder: join(place.folder, 'work') },
      ['resume', 's', '--exec', '--prompt', 'go on', '-q'],
      `${bin}:/usr/bin:/bin`,
    );
    child.stdin?.end('from stdin\n');

    expect(await ended(child)).toMatchObject({
      code: 7,
      out: `in ${place.folder}/work: ${bin}/zero exec --resume s --prompt go on\nfrom stdin\n`,
      err: '',
    });
  });

  test('given a zero in the workspace, first on PATH, then it is never the one', async () => {
    const place = aPlace();
    const bin = join(place.folder, 'bin');
    program(join(place.folder, 'work'), 'zero', 'echo evil');
    program(bin, 'zero', 'echo good');
    const argv = ['resume', 's', '--exec', '--prompt', 'go on', '-q'];
    const path = `${join(place.folder, 'work')}:.:${bin}:/usr/bin:/bin`;

    const { out } = await ended(start({ ...place, folder: '/' }, argv, path));

    expect(out).toBe('good\n');
  });

  test('given arguments that a shell would expand, then they arrive as they are', async () => {
    const place = aPlace();
    const exec = `printf '%s|' $HOME '$(id)' "a b" * ; {}`;

    const { code, out } = await ended(start(place, ['resume', 's', '--exec', exec, '-q']));

    expect([code, out]).toEqual([0, '$HOME|$(id)|a b|*|;|s|']);
  });

  test('given Ctrl-C, more than once, then the program that was started decides', async () => {
    const place = aPlace();
    const script = `trap 'echo caught' INT; echo ready; while ! test -e done; do sleep 0.1; done; exit 5`;
    program(place.folder, 'patient', script);
    const child = start(place, ['resume', 's', '--exec', join(place.folder, 'patient'), '-q']);
    await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data');

    for (let times = 0; times < 3; times += 1) {
      child.kill('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    writeFileSync(join(place.folder, 'work', 'done'), '');

    expect((await ended(child)).code).toBe(5);
  });
});

function program(folder: string, name: string, script: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** Tells whether a process has started the command that waits for the lock. */
function isWaitingForLock({ pid }: ChildProcess): boolean {
  try {
    return execFileSync('ps', ['-o', 'args=', '--ppid', String(pid)], { encoding: 'utf8' }).includes('flock');
  } catch {
    return false;
  }
}
