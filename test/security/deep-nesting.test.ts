import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rawJson } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { type CliRun, runCommandLine } from '../support/run-cli.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

// Zero reads 10,000 levels, of which the event is one.
const DEEPEST = 9999;
const lists = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

/** One of each type that somebody looks into, with a member that goes as deep as it may. */
const PAYLOADS: readonly (readonly [type: string, payload: string])[] = [
  ['message', `{"role":"user","content":"text","x":${lists(DEEPEST - 1)}}`],
  ['message', `{"role":"user","content":${lists(DEEPEST - 1)}}`],
  ['message', lists(DEEPEST)],
  ['tool_call', `{"id":"c","name":"t","arguments":${JSON.stringify(lists(DEEPEST))}}`],
  ['tool_result', `{"toolCallId":"c","name":"t","status":"ok","output":${JSON.stringify(objects(DEEPEST))}}`],
  ['permission', objects(DEEPEST)],
  ['provider_usage', `{"promptTokens":1,"x":${objects(DEEPEST - 1)}}`],
  ['session_child', objects(DEEPEST)],
  ['specialist_start', objects(DEEPEST)],
  ['later', objects(DEEPEST)],
];
const COUNT = PAYLOADS.length;

async function deepSession(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  const lines = PAYLOADS.map(
    ([type, payload], at) =>
      `{"id":"s:${at + 1}","sessionId":"s","sequence":${at + 1},"type":"${type}","createdAt":"2026-07-09T11:00:00Z","payload":${payload}}\n`,
  );
  writeFileSync(temp.path('events.jsonl'), lines.join(''));
  await temp.say();
  return temp;
}

async function run(temp: TempWorkspace, ...argv: readonly string[]): Promise<CliRun> {
  const result = await runCommandLine(argv, { root: temp.root, cwd: temp.workspace });
  expect([argv, result.err]).toEqual([argv, expect.not.stringContaining('should not have happened')]);
  return result;
}

describe('payloads of 9,999 levels', () => {
  test.each([
    'list --all',
    'list --all --json',
    'show s',
    'show s --full',
    'show s --events',
    'show s --json',
    'show s --jsonl',
    'show s --no-redact',
    'show s --no-redact --json',
    'show s --raw',
    'tree s',
    'checkpoint list s --json',
    'resume s',
    'resume s --prompt go',
    'compact s --preserve-last 1 --summary short',
    'fork s',
    'rewind s --to 3 --force',
    'rewind s --to 3 --dry-run --json',
  ])('47. %s', async (words) => {
    const temp = await deepSession();

    const { code, out } = await run(temp, ...words.split(' '));

    expect([code, out === '']).toEqual([0, false]);
  });

  test('47. shown as text, a value of so many levels gives way to a few words', async () => {
    const temp = await deepSession();

    for (const argv of [
      ['show', 's', '--to', '3'],
      ['show', 's', '--to', '3', '--full'],
      ['show', 's', '--events', '--to', '3'],
    ]) {
      const { out } = await run(temp, ...argv);

      expect(out).toContain('(nested too deep to show)');
      expect(out).not.toContain('[[[[');
    }
  });

  test('47. read, appended to, rewound, undone and forked, they keep their bytes', async () => {
    const temp = await deepSession();
    const log = temp.log();

    expect(await temp.store.readEvents('s')).toHaveLength(COUNT + 1);
    expect(await temp.store.readRehydratedEvents('s')).toHaveLength(COUNT + 1);
    await temp.store.appendEvent('s', aMessage());
    await temp.store.rewind('s', { target: 3 });
    expect(temp.log().startsWith(log.slice(0, log.indexOf('{"id":"s:4"')))).toBe(true);
    await temp.store.undoRewind('s');
    expect(temp.log().startsWith(log)).toBe(true);
    await temp.store.fork('s', { sessionId: 'f' });
    const copied = await temp.store.readEvents('f');

    expect(copied.slice(0, 3).map(({ payload }) => Buffer.from(payload ?? []).toString())).toEqual(
      PAYLOADS.slice(0, 3).map(([, payload]) => payload),
    );
    await temp.store.planCompaction('s', { preserveLast: 1 });
    expect((await temp.store.execContext('s')).count).toBeGreaterThan(COUNT);
  });

  test('47. in what is decoded, they are no bug either', async () => {
    for (const type of ['session_checkpoint', 'session_rewind', 'session_compaction', 'session_fork']) {
      for (const payload of [objects(DEEPEST), `{"files":${lists(DEEPEST - 1)},"tool":"t"}`]) {
        const temp = await deepSession();
        const line = `{"id":"s:40","sessionId":"s","sequence":40,"type":"${type}","createdAt":"2026-07-09T11:00:00Z","payload":${payload}}\n`;
        writeFileSync(temp.path('events.jsonl'), temp.log() + line);

        for (const argv of [
          ['show', 's'],
          ['checkpoint', 'list', 's'],
          ['rewind', 's', '--to', '3', '--dry-run'],
          ['fork', 's'],
          ['resume', 's'],
          ['rename', 's', 'new'],
        ])
          expect([type, argv, [0, 5, 6]]).toEqual([
            type,
            argv,
            expect.arrayContaining([(await run(temp, ...argv)).code]),
          ]);
      }
    }
  });
});

describe('writing what is deeper than 1,000 levels', () => {
  const nested = (levels: number): unknown => JSON.parse(lists(levels));

  test.each<[string, unknown]>([
    ['lists', nested(1001)],
    ['objects', JSON.parse(objects(1001))],
    ['far too many lists', nested(5000)],
    ['raw JSON', rawJson(lists(1001))],
    ['raw JSON of far too many', rawJson(lists(1_000_000))],
    ['raw JSON in lists, together', [[rawJson(lists(999))]]],
  ])('47. %s: refused, and nothing is written', async (_, payload) => {
    const temp = await tempWorkspace();
    await temp.say();
    const before = temp.everything();

    for (const write of [
      () => temp.store.appendEvent('s', { type: 'message', payload }),
      () => temp.store.appendEvents('s', [aMessage(), { type: 'message', payload }]),
      () => temp.store.appendEventUnlessAny('s', { type: 'message', payload }, () => false),
    ])
      await expect(write()).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('1000 levels'),
      });

    expect(temp.everything()).toEqual(before);
  });

  test('47. an object that holds itself is refused as well, and 1,000 levels are not', async () => {
    const temp = await tempWorkspace();
    const circular: Record<string, unknown> = {};
    circular.self = circular;

    await expect(temp.store.appendEvent('s', { type: 'message', payload: circular })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    await temp.store.appendEvent('s', { type: 'message', payload: nested(1000) });

    expect(temp.log()).toContain(lists(1000));
  });

  test('47. to the command append: refused as what was asked for wrongly', async () => {
    const temp = await tempWorkspace();
    const before = temp.everything();

    for (const levels of [1001, 200_000]) {
      const stdin = `{"type":"message","payload":${lists(levels)}}\n`;
      const { code, err } = await runCommandLine(['append', 's'], { root: temp.root, stdin });
      expect([code, err]).toEqual([2, expect.stringContaining('levels')]);
    }

    expect(temp.everything()).toEqual(before);
  });
});
