import { realpathSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { documentOf } from '../../support/json-document.js';
import { PeerRegistry } from '../../support/peer-registry.js';
import { type CliSurroundings, runCommandLine } from '../../support/run-cli.js';
import type { TempWorkspace } from '../../support/temp-workspace.js';
import { logIdentity } from '../../support/unfinished-rewind.js';
import { workedSession } from '../../support/worked-session.js';

function run(temp: TempWorkspace, line: string, surroundings: CliSurroundings = {}) {
  const { root, clock } = temp;
  return runCommandLine(line.split(' '), { root, now: clock.now, cwd: '/', ...surroundings });
}

describe('rewind --dry-run', () => {
  test('given files, then each one has an action and a reason, and nothing is changed', async () => {
    const temp = await workedSession();
    const before = temp.everything();

    const { code, out, err } = await run(temp, 'rewind s --to 1 --dry-run');

    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(
      [
        'Would go back to event 1 of s, 7 events would be dropped',
        '',
        `Files in ${realpathSync(temp.workspace)}`,
        'ACTION   PATH     WHY',
        "restore  a.txt    the session's own write_file of event 2",
        "delete   new.txt  the session's own write_file of event 2",
        '',
        'Nothing was changed: this is a plan (1 to restore, 1 to delete).',
        '',
      ].join('\n'),
    );
    expect(temp.everything()).toEqual(before);
  });

  test('given a conflict, then what would be refused is said, and what would help', async () => {
    const temp = await workedSession();
    temp.put({ 'a.txt': 'mine\n' });

    const { code, out, err } = await run(temp, 'rewind s --to 1 --dry-run');

    expect([code, err]).toEqual([7, expect.stringContaining('--force')]);
    expect(out).toContain(
      'conflict  a.txt    edited outside the session at 2026-07-09T12:01:04Z, after write_file of event 2 ended by 2026-07-09T12:00:05Z\n',
    );
  });

  test('given --force, then what would be overwritten is marked', async () => {
    const temp = await workedSession();
    temp.put({ 'a.txt': 'mine\n' });

    const { code, out } = await run(temp, 'rewind s --to 1 --dry-run --force');

    expect(code).toBe(0);
    expect(out).toContain(
      'restore  a.txt    edited outside the session at 2026-07-09T12:01:04Z, after write_file of event 2 ended by 2026-07-09T12:00:05Z (forced)\n',
    );
  });

  test('given a narrow terminal, then no row is wider', async () => {
    const temp = await workedSession();
    const name = `${'long/'.repeat(20)}name.txt`;
    await temp.tool({ [name]: 'x' });

    const { out } = await run(temp, 'rewind s --to 1 --dry-run', { columns: 60, env: { NO_COLOR: '1' } });

    for (const line of out.split('\n').slice(2, 6)) expect(line.length).toBeLessThanOrEqual(60);
    expect(out).toContain('…');
  });
});

describe('rewind', () => {
  test('given a point, then log and files go back, and the way to undo it is the last line', async () => {
    const temp = await workedSession();

    const { code, out } = await run(temp, 'rewind s --to 1');

    expect(code).toBe(0);
    expect(out).toMatch(/^Went back to event 1 of s, 7 events dropped\n/);
    const undo = /^Undo it with: zero-sessions (rewind s --undo \w{26})$/m.exec(out)?.[1] ?? '';
    expect(temp.files().join()).not.toContain('new.txt');
    expect((await run(temp, undo)).code).toBe(0);
    expect(temp.sequences().slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(temp.files().join()).toContain('new.txt');
  });

  test.each([
    ['--events-only', [1], true],
    ['--files-only', [1, 2, 3, 4, 5, 6, 7, 8], false],
  ])('given %s, then the other part is left alone', async (flag, kept, hasNewFile) => {
    const temp = await workedSession();

    const { code } = await run(temp, `rewind s --to 1 ${flag} --json`);

    expect(code).toBe(0);
    expect(temp.sequences().filter((sequence) => sequence < 9)).toEqual(kept);
    expect(temp.files().join().includes('new.txt')).toBe(hasNewFile);
  });

  test('given --workspace, then the files there are changed', async () => {
    const temp = await workedSession();

    const { code, out } = await run(temp, `rewind s --to 1 --workspace ${temp.outside} --force --json`);

    expect(code).toBe(0);
    expect((await documentOf('rewind', out)).report).toMatchObject({ filesRestored: 1, filesDeleted: 1 });
    expect(temp.outsideFiles().join()).toContain('a.txt');
    expect(temp.files().join()).toContain('new.txt');
  });

  test('given the right --expect-head, then it goes on', async () => {
    const temp = await workedSession();

    expect((await run(temp, 'rewind s --to 1 --expect-head 8')).code).toBe(0);
  });

  test('finding 41: given a Zero that has the session open, then a warning names the process, but not under -q', async () => {
    const temp = await workedSession();
    const registry = new PeerRegistry();
    registry.add({ sessionId: 's', pid: process.pid, cwd: temp.workspace });

    const loud = await run(temp, 'rewind s --to 1', { env: registry.env });
    const quiet = await run(temp, 'rewind s --undo -q', { env: registry.env });

    const open = `Zero has session s open (process ${process.pid})`;
    expect(loud.err).toMatch(`warning: ${open}: close it first, it would not notice.`);
    expect(quiet.err).toBe('');
  });

  test('finding 41: given a session that was just changed and that nobody has open, then no warning is needed', async () => {
    const temp = await workedSession();
    await temp.say();

    expect((await run(temp, 'rewind s --to 1')).err).toBe('');
    expect((await run(temp, 'rewind s --undo')).err).toBe('');
  });

  test('given a file whose name would command the terminal, then it is shown, not obeyed', async () => {
    const temp = await workedSession();
    await temp.tool({ 'a\u001b[31m\nb': 'x' });

    const { out } = await run(temp, 'rewind s --to 8 --dry-run');
    const quiet = await run(temp, 'rewind s --to 8 --dry-run -q');

    expect(out).toContain('a\\u{1b}[31m\\nb');
    expect(quiet.out).toBe('a\\u{1b}[31m\\nb\n');
  });
});

describe('a secret in the name of a file', () => {
  test.each(['', '-q', '--json'])('given rewind %s, then it is hidden unless --no-redact', async (flag) => {
    const temp = await workedSession();
    await temp.tool({ 'password=hunter2hunter2': 'x' });
    const line = `rewind s --to 8 --dry-run ${flag}`.trim();

    expect((await run(temp, line)).out).not.toContain('hunter2');
    expect((await run(temp, `${line} --no-redact`)).out).toContain('hunter2');
  });
});

describe('rewind --history', () => {
  test('given a rewind, its undo and a restore, then the newest comes first, with what it undoes', async () => {
    const temp = await workedSession();
    await run(temp, 'rewind s --to 1');
    await run(temp, 'rewind s --undo');
    await run(temp, 'checkpoint restore s --to 1');

    const { rewinds } = await documentOf('rewind', (await run(temp, 'rewind s --history --json')).out);

    expect(rewinds).toHaveLength(3);
    expect(rewinds[0]).toMatchObject({ kind: 'restore', undoes: '', files: 2 });
    expect(rewinds[1]).toMatchObject({ kind: 'undo', undoes: rewinds[2].rewindId });
    expect(rewinds[2]).toMatchObject({ kind: 'rewind', targetSequence: 1, events: 8, head: 8, files: 2 });
  });

  test('given none, then a person is told', async () => {
    const temp = await workedSession();

    expect(await run(temp, 'rewind s --history')).toMatchObject({ out: '', err: 'Session s has nothing to undo.\n' });
  });
});

describe('rewind --abort and --continue', () => {
  test.each([
    ['--abort', 'settled', true],
    ['--continue', 'report', false],
  ])('given an intent that somebody wrote after and %s, then it is settled', async (flag, key, hasNewFile) => {
    const temp = await workedSession();
    const files = [{ path: 'new.txt', absent: true, to: { absent: true } }];
    const log = logIdentity(temp.path('events.jsonl'));
    const rewind = { id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', session: 's', target: 1, workspace: temp.workspace, log };
    const intent = { tool: 'zero-sessions/rewind-intent', files, rewind };
    appendLine(temp, 9, 'session_checkpoint', intent);
    appendLine(temp, 10, 'message', { role: 'user', content: 'meanwhile' });
    expect((await run(temp, 'rewind s --to 1 --json')).code).toBe(7);

    const { code, out } = await run(temp, `rewind s ${flag} --json`);

    expect(code).toBe(0);
    expect(Object.keys(await documentOf('rewind', out))).toContain(key);
    expect(temp.log()).not.toContain('rewind-intent');
    expect(temp.files().join().includes('new.txt')).toBe(hasNewFile);
  });
});

/** Adds a line as another program would. */
function appendLine(temp: TempWorkspace, sequence: number, type: string, payload: unknown): void {
  const event = { id: `s:${sequence}`, sessionId: 's', sequence, type, createdAt: '2026-07-09T12:10:00Z', payload };
  writeFileSync(temp.path('events.jsonl'), `${JSON.stringify(event)}\n`, { flag: 'a' });
}
