import { renameSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { LockProvider } from '../../../src/index.js';
import { appendEventsAsForeigner } from '../../crash/foreign-writer.mjs';
import { inProcessLocks } from '../../support/in-process-locks.js';
import { documentOf, errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { workedSession } from '../../support/worked-session.js';

function run(temp: TempWorkspace, line: string) {
  const { root, clock } = temp;
  return runCommandLine(line.split(' '), { root, now: clock.now, cwd: '/' });
}

/** Events 1 message, 2 and 3 calls, 4 and 5 their results, 6 message. */
async function twoCalls(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  await temp.say();
  const call = (id: string, name: string) => ({ type: 'tool_call', payload: { id, name, arguments: '{}' } });
  const result = (toolCallId: string) => ({ type: 'tool_result', payload: { toolCallId, status: 'ok', output: '' } });
  await temp.store.appendEvents('s', [call('c1', 'bash'), call('c2', 'read_file'), result('c1'), result('c2')]);
  await temp.say();
  return temp;
}

describe('finding 15: a position that counts from the end', () => {
  test.each(['rewind', 'fork', 'restore'] as const)(
    'given events that came while a %s waited for the lock, then they count, too',
    async (work) => {
      let isWaiting = false;
      const locks: LockProvider = {
        withLock: (id, folder, inside) => {
          const message = { type: 'message', payload: { content: 'meanwhile', role: 'user' } };
          if (isWaiting) appendEventsAsForeigner(temp.root, 's', [message, message], { isAlone: true });
          isWaiting = false;
          return inProcessLocks.withLock(id, folder, inside);
        },
      };
      const temp = await tempWorkspace({ locks });
      for (let count = 0; count < 5; count += 1) await temp.say();
      isWaiting = true;

      const target = { kind: 'before-last', after: 2 } as const;
      if (work === 'fork') expect((await temp.store.fork('s', { at: target })).forkedFromSequence).toBe(5);
      const part = work === 'restore' ? 'files' : 'all';
      if (work !== 'fork') expect((await temp.store.rewind('s', { target, part })).plan.target).toBe(5);
    },
  );

  test.each([
    ['rewind s --to -2 --expect-head 7', 7],
    ['rewind s --to -2 --expect-head 8', 0],
    ['rewind s --to -20', 3],
    ['rewind s --to 6', 0],
    ['rewind s --to x', 2],
    ['fork s --at -20', 3],
    ['checkpoint restore s --to -20', 3],
    ['checkpoint restore s --to last-checkpoint', 0],
  ])('given %s, then it exits with %i', async (line, expected) => {
    expect((await run(await workedSession(), line)).code).toBe(expected);
  });

  test('given fork, then it ends where the position is under the lock', async () => {
    const temp = await workedSession();
    const { session } = JSON.parse((await run(temp, 'fork s --at -2 --json')).out);
    expect(session.forkedFromSequence).toBe(6);
  });
});

describe('finding 24: a target inside a turn', () => {
  test('given a call whose result goes, then plan and note name it, and the nearest whole positions', async () => {
    const temp = await twoCalls();

    const { out, err } = await run(temp, 'rewind s --to 4 --dry-run --json');

    const { plan } = await documentOf('rewind', out);
    expect(plan.openCalls).toEqual([{ sequence: 3, id: 'c2', name: 'read_file' }]);
    expect(err).toBe(
      'Event 4 is inside a turn: read_file (event 3) has no result there. Nothing is parted at event 1 (--whole-turns goes there) and at event 5.\n',
    );
  });

  test.each([
    ['2', 1, [2]],
    ['3', 1, [2, 3]],
    ['5', 5, []],
    ['-3', 1, [2, 3]],
  ])('given --to %s, then --whole-turns goes to %i', async (to, whole, open) => {
    const temp = await twoCalls();
    const { plan: asked } = JSON.parse((await run(temp, `rewind s --to ${to} --dry-run --json`)).out);
    expect(asked.openCalls.map(({ sequence }: { sequence: number }) => sequence)).toEqual(open);

    const { plan } = JSON.parse((await run(temp, `rewind s --to ${to} --whole-turns --json`)).out);
    expect([plan.target, plan.openCalls]).toEqual([whole, []]);
  });

  test('given a fork inside a turn, then it is made, with the note; --whole-turns ends it earlier', async () => {
    const temp = await twoCalls();

    const asked = await run(temp, 'fork s --at 3');
    const whole = JSON.parse((await run(temp, 'fork s --at 3 --whole-turns --json')).out);

    expect(asked.err).toContain('bash (event 2) and read_file (event 3) have no result there.');
    expect(whole.session.forkedFromSequence).toBe(1);
  });

  test('given ids that come again in every turn, then a whole turn is whole', async () => {
    const temp = await twoCalls();
    await temp.store.appendEvents('s', [
      { type: 'tool_call', payload: { id: 'c1', name: 'bash', arguments: '{}' } },
      { type: 'tool_result', payload: { toolCallId: 'c1', status: 'ok', output: '' } },
    ]);

    expect((await temp.store.previewRewind('s', { target: 5 })).openCalls).toEqual([]);
    expect((await temp.store.previewRewind('s', { target: 7 })).openCalls).toMatchObject([{ sequence: 7 }]);
  });
});

describe('finding 27: what stays', () => {
  async function uncheckedWork(): Promise<TempWorkspace> {
    const temp = await tempWorkspace();
    temp.put({ a: 'v0' });
    await temp.say();
    await temp.tool({ a: 'v1' }); // 2 to 4
    await temp.store.appendEvents('s', [
      { type: 'tool_call', payload: { id: 'x', name: 'bash', arguments: '{"command":"make"}' } },
      { type: 'tool_result', payload: { toolCallId: 'x', name: 'bash', status: 'ok', output: '' } },
      { type: 'tool_call', payload: { id: 'y', name: 'gen', arguments: '{}' } },
      {
        type: 'tool_result',
        payload: { toolCallId: 'y', name: 'gen', status: 'ok', changedFiles: ['gen.ts', temp.at('a')] },
      },
    ]);
    await temp.store.createChild('s', { sessionId: 'child' }); // 9
    await temp.store.captureToolCheckpoint('child', temp.workspace, 'write_file', ['by-child']);
    temp.put({ 'by-child': 'x' });
    return temp;
  }

  test('given results, shell calls and sub-agents, then the plan lists them and is complete', async () => {
    const temp = await uncheckedWork();

    const { code, out } = await run(temp, 'rewind s --to 1 --dry-run --json');

    const { plan } = await documentOf('rewind', out);
    expect([code, plan.complete]).toEqual([0, true]);
    expect(plan.uncovered).toEqual([
      { kind: 'shell', sequence: 5 },
      { kind: 'file', sequence: 8, path: 'gen.ts' },
      { kind: 'child', sequence: 9, sessionId: 'child' },
    ]);
  });

  test('given text, then it has one line of each kind', async () => {
    const { out } = await run(await uncheckedWork(), 'rewind s --to 1');

    expect(out.split('\n').filter((line) => line.startsWith('uncovered'))).toEqual([
      'uncovered  gen.ts: changed, but in no checkpoint; it stays as it is',
      'uncovered  1 shell command (event 5) may have changed more files',
      'uncovered  1 sub-agent changed files that stay as they are: child',
    ]);
  });

  test.each(['', ' --dry-run', ' --allow-partial'])(
    'given --strict%s, then it is refused, and all is as it was',
    async (more) => {
      const temp = await uncheckedWork();
      const before = temp.everything();

      const { code } = await run(temp, `rewind s --to 1 --strict${more}`);

      expect([code, temp.everything()]).toEqual([6, before]);
    },
  );

  test('given that nothing else was changed, then --strict does it', async () => {
    expect((await run(await workedSession(), 'rewind s --to 1 --strict')).code).toBe(0);
  });

  test('given a sub-agent whose files are as they were, then it is not among them', async () => {
    const temp = await uncheckedWork();
    temp.put({ 'by-child': null });

    const { uncovered } = await temp.store.previewRewind('s', { target: 1 });
    expect(uncovered.map(({ kind }) => kind)).toEqual(['shell', 'file']);
  });

  test.each(['--events-only', '--files-only'])(
    'given %s, then what stays is said where files were to go back',
    async (flag) => {
      const { plan } = JSON.parse((await run(await uncheckedWork(), `rewind s --to 1 ${flag} --dry-run --json`)).out);
      expect(plan.uncovered).toHaveLength(flag === '--events-only' ? 0 : 3);
    },
  );
});

describe('finding 35: a refusal', () => {
  const TABLE = /^ACTION +PATH +WHY$/m;

  test('given a conflict, then the same table as that of --dry-run is on stderr', async () => {
    const temp = await workedSession();
    temp.put({ 'a.txt': 'mine\n' });

    const planned = await run(temp, 'rewind s --to 1 --dry-run');
    const refused = await run(temp, 'rewind s --to 1');
    const quiet = await run(temp, 'rewind s --to 1 -q');

    const table = planned.out.slice(planned.out.indexOf('Files in'), planned.out.indexOf('\nNothing was changed'));
    expect([refused.code, refused.out]).toEqual([7, '']);
    expect(refused.err).toContain(table);
    expect(refused.err.trimEnd().split('\n').at(-1)).toMatch(/^ {2}Nothing was changed/);
    expect(quiet.err).not.toMatch(TABLE);
  });

  test.each([
    ['rewind s --to 1', 'err'],
    ['rewind s --to 1 --dry-run', 'out'],
    ['rewind s --to 1 --files-only', 'err'],
    ['checkpoint restore s --to 1 --dry-run', 'out'],
    ['checkpoint restore s --to 1', 'err'],
  ] as const)('given %s and no workspace, then %s names each file that would go back', async (line, stream) => {
    const temp = await workedSession();
    renameSync(temp.workspace, `${temp.workspace}-away`);

    const text = await run(temp, line);
    const json = await run(temp, `${line} --json`);

    expect([text.code, json.code]).toEqual([6, 6]);
    expect(text[stream]).toMatch(TABLE);
    expect(text[stream]).toMatch(/^impossible +a.txt +its workspace is not there$/m);
    expect(text.err).toContain('is not there');
    expect(errorOf(json.out)).toMatchObject({
      code: 'WORKSPACE_REFUSED',
      plan: { complete: false, files: [{ path: 'a.txt', action: 'impossible' }, { path: 'new.txt' }] },
    });
  });

  test('given a log that moved on, then the plan is shown as it would be now', async () => {
    const { code, err } = await run(await workedSession(), 'rewind s --to 1 --expect-head 7');
    expect([code, err]).toEqual([7, expect.stringMatching(TABLE)]);
  });
});
