import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aSession } from '../support/session-builder.js';
import { laySession } from '../support/temp-store.js';

// The built program and library, where nothing is mounted on /proc: `npm test` builds them first.
const BIN = fileURLToPath(new URL('../../bin/zero-sessions.js', import.meta.url));
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const WITHOUT_PROC = ['-rm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$0" "$@"'];

const canTakeProcAway = spawnSync('unshare', [...WITHOUT_PROC, 'true']).status === 0;

function aPlace(): { readonly root: string; readonly workspace: string; log(): string } {
  const folder = mkdtempSync(join(tmpdir(), 'zs-proc-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [root, workspace] = [join(folder, 'store'), join(folder, 'work')];
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'a\n');
  const checkpoint = JSON.stringify({ tool: 'write_file', files: [{ path: 'a.txt', absent: true }] });
  const session = aSession('s').withMessages(2).withEvent({ type: 'session_checkpoint', payload: checkpoint });
  laySession(root, session.withMetadata({ cwd: workspace }));
  return { root, workspace, log: () => readFileSync(join(root, 's', 'events.jsonl'), 'utf8') };
}

function withoutProc(argv: readonly string[], input = ''): readonly [number | null, string] {
  const { status, stdout, stderr } = spawnSync('unshare', [...WITHOUT_PROC, process.execPath, ...argv], {
    input,
    encoding: 'utf8',
  });
  return [status, stdout + stderr];
}

describe.runIf(canTakeProcAway)('finding 19: without /proc', () => {
  test('given an append, a fork and a rename, then they are done', () => {
    const { root, log } = aPlace();
    const run = (line: string, input = '') => withoutProc([BIN, '--root', root, ...line.split(' ')], input);

    expect(run('append s -q', '{"type":"message","payload":{"content":"x"}}\n')).toEqual([0, '4\n']);
    expect(run('fork s --id f -q')).toEqual([0, 'f\n']);
    expect(run('rename s other -q')).toEqual([0, 's\n']);
    expect(log()).toContain('"content":"x"');
    expect(execFileSync('ls', ['-A', join(root, '.zs-locks')], { encoding: 'utf8' })).toBe('');
  });

  test.each(['checkpoint capture s a.txt', 'checkpoint diff s', 'rewind s --to 2', 'checkpoint restore s --to 2'])(
    'given %s, which looks at files, then it is refused by the name of /proc and nothing is recorded',
    (line) => {
      const { root, workspace, log } = aPlace();
      const before = log();

      const [code, said] = withoutProc([BIN, '--root', root, ...line.split(' ')]);

      expect(said).toContain('/proc is not there');
      expect(code).toBe(1);
      expect(log()).toBe(before);
      expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('a\n');
    },
  );

  test('given a snapshot for a checkpoint, then a file that is there is not said to be absent', () => {
    const { root, workspace } = aPlace();
    const script = `
      import { openStore } from ${JSON.stringify(LIBRARY)};
      const store = openStore({ root: process.argv[1] });
      const taken = await store.snapshotForCheckpoint('s', process.argv[2], 'write_file', ['a.txt']).catch((error) => error);
      console.log(taken.code ?? JSON.stringify(taken));`;

    expect(withoutProc(['--input-type=module', '-e', script, root, workspace])).toEqual([0, 'PROC_MISSING\n']);
  });
});
