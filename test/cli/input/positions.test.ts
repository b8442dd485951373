import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

// Each row of the table "Positions" (CLI.md), through the arguments of the commands that take one.

const FILES = '[{"path":"a","absent":true}]';

/** Sequences 1, 2, 3 (a checkpoint), 5 (a checkpoint of our own), 8; another session has an event 2 of its own. */
function aStore(): TempStore {
  const checkpoint = (tool: string) => `{"tool":"${tool}","files":${FILES}}`;
  return tempStore([
    aSession('log')
      .withMessages(2)
      .withEvent({ sequence: 3, type: 'session_checkpoint', payload: checkpoint('edit') })
      .withEvent({ sequence: 5, type: 'session_checkpoint', payload: checkpoint('zero-sessions/rewind-intent') })
      .withEvent({ sequence: 8 })
      .withMetadata({ eventCount: 8 }),
    aSession('other').withMessages(3),
    aSession('12').withMessages(13),
  ]);
}

describe('a position', () => {
  test.each([
    ['8', 8],
    ['3', 3],
    ['0', 0],
    ['log:2', 2],
    ['log:8', 8],
    ['-1', 5],
    ['-2', 3],
    ['-4', 1],
    ['last-checkpoint', 2],
  ])('given %s, then rewind keeps event %i, and fork copies it', async (position, sequence) => {
    const { root } = aStore();

    const rewind = await runCommandLine(['rewind', 'log', '--to', position, '--events-only', '--dry-run', '--json'], {
      root,
    });
    const fork = await runCommandLine(['fork', 'log', '--at', position, '--json'], { root });

    expect([rewind.code, JSON.parse(rewind.out).plan.target]).toEqual([0, sequence]);
    expect([fork.code, JSON.parse(fork.out).session.forkedFromSequence ?? 0]).toEqual([0, sequence]);
  });

  test.each([
    ['4', [3, 5]],
    ['6', [5, 8]],
    ['9', [8]],
    ['-5', expect.anything()],
    ['other:2', expect.anything()],
    ['log:4', expect.anything()],
  ])('given %s, which is no event of the log, then it exits 3 with the nearest', async (position, nearest) => {
    const { root, text } = aStore();
    const before = text('events.jsonl');

    for (const line of [
      ['rewind', 'log', '--to', position],
      ['fork', 'log', '--at', position],
      ['checkpoint', 'show', 'log', position],
      ['checkpoint', 'diff', 'log', position],
      ['checkpoint', 'restore', 'log', '--to', position],
    ]) {
      const run = await runCommandLine([...line, '--json'], { root });

      expect([line[0], run.code, errorOf(run.out).nearest]).toEqual([line[0], 3, nearest]);
    }
    expect(text('events.jsonl')).toBe(before);
  });

  test.each(['003', 'latest', '1.5', '+1', '-', '--2', '2x', ' '])(
    'given %j, which is no position, then it exits 2',
    async (position) => {
      const { root } = aStore();

      const run = await runCommandLine(['rewind', 'log', `--to=${position}`, '--json'], { root });

      expect(run.code).toBe(2);
    },
  );

  test('given a bare -2 as an operand, then it is a position, not a flag', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['checkpoint', 'show', 'log', '-2', '--json'], { root });

    expect([run.code, JSON.parse(run.out).checkpoint.sequence]).toEqual([0, 3]);
  });

  test('given a session whose id is a number, then the first operand is the session and the second the position', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['checkpoint', 'show', '12', '12', '--json'], { root });

    expect(run).toMatchObject({ code: 0, err: 'Session 12 has no checkpoints.\n' });
  });

  test('given --exclude-target, then the event goes as well', async () => {
    const { root } = aStore();
    const argv = ['rewind', 'log', '--to', '5', '--exclude-target', '--events-only', '--dry-run', '--json'];

    const { plan } = JSON.parse((await runCommandLine(argv, { root })).out);

    expect([plan.target, plan.keepTarget, plan.dropped.map(sequenceOf)]).toEqual([3, false, [5, 8]]);
  });

  test('given no checkpoint, then last-checkpoint is not found', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['rewind', 'other', '--to', 'last-checkpoint'], { root });

    expect(run.code).toBe(3);
  });

  test('given 0 where an event is needed, then it is no position', async () => {
    const { root } = aStore();

    const run = await runCommandLine(['show', 'log', '--from', '0'], { root });

    expect(run.code).toBe(2);
  });
});

function sequenceOf(ref: { readonly sequence: number }): number {
  return ref.sequence;
}
