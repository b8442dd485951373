import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('append', () => {
  test('given payloads with large integers, odd order and escapes, then their bytes are stored', async () => {
    const { root, text } = tempStore(aSession());
    const payload = '{"z":9007199254740993,"a":1.0,"a":"\\u00e9","n":1e2,"deep":[[{}]]}';

    const run = await runCommandLine(['append', 's'], { root, stdin: `{"payload":${payload},"type":"message"}` });

    expect(run).toMatchObject({ code: 0, out: '1 message\n', err: '' });
    expect(text('events.jsonl')).toContain(`"payload":${payload}}\n`);
  });

  test('given several lines, blank ones and CRLF, then they are one batch', async () => {
    const { root, store } = tempStore(aSession());

    const run = await runCommandLine(['append', 's', '-q'], {
      root,
      stdin: '{"type":"a"}\r\n\n   \n{"type":"b","payload":null}\r\n{"type":"c","payload":0}',
    });

    expect(run.out).toBe('1\n2\n3\n');
    expect((await store.readEvents('s')).map(({ type, payload }) => [type, payload === undefined])).toEqual([
      ['a', true],
      ['b', true],
      ['c', false],
    ]);
  });

  test('given what show --jsonl prints of another session, then it can be appended', async () => {
    const { root, store } = tempStore([aSession('from').withMessages(3), aSession('to')]);
    const { out } = await runCommandLine(['show', 'from', '--jsonl'], { root });

    const run = await runCommandLine(['append', 'to', '-q'], { root, stdin: out });

    expect([run.code, run.out]).toEqual([0, '1\n2\n3\n']);
    expect((await store.readEvents('to')).map(({ id }) => id)).toEqual(['to:1', 'to:2', 'to:3']);
  });

  test('given nothing, then nothing happens, and a person is told', async () => {
    const { root, tree } = tempStore(aSession());
    const before = tree();

    const run = await runCommandLine(['append', 's', '--json'], { root });

    expect([run.code, JSON.parse(run.out), run.err]).toEqual([
      0,
      { schemaVersion: 1, events: [], appended: true },
      'Nothing was appended: stdin has no events.\n',
    ]);
    expect(tree()).toEqual(before);
  });

  test('given a type that holds control characters, then they are shown, not obeyed', async () => {
    const { root } = tempStore(aSession());

    const run = await runCommandLine(['append', 's'], { root, stdin: '{"type":"a\\u001b[2J\\nb"}' });

    expect(run.out).toBe('1 a\\u{1b}[2J\\nb\n');
  });
});

describe('append --unless-exists', () => {
  test.each([
    ['error', false],
    ['message', true],
    ['message:/role=user', true],
    ['message:/role=system', false],
    ['message:/content=event 1', true],
    ['message:/content', undefined],
  ])('given %s, then whether it was there is %s', async (condition, wasThere) => {
    const { root, store } = tempStore(aSession().withMessages(2));
    const stdin = '{"type":"x"}\n{"type":"y"}\n';

    const run = await runCommandLine(['append', 's', '--unless-exists', condition, '--json'], { root, stdin });

    const isRefused = wasThere === undefined;
    expect(run.code).toBe(isRefused ? 2 : 0);
    if (!isRefused) expect(JSON.parse(run.out)).toMatchObject({ appended: !wasThere });
    expect(await store.readEvents('s')).toHaveLength(wasThere === false ? 4 : 2);
  });

  test('given that it was there, then a person is told and -q says nothing', async () => {
    const { root } = tempStore(aSession().withMessages(1));
    const argv = ['append', 's', '--unless-exists', 'message'];

    const loud = await runCommandLine(argv, { root, stdin: '{"type":"x"}' });
    const quiet = await runCommandLine([...argv, '-q'], { root, stdin: '{"type":"x"}' });

    expect(loud).toMatchObject({ code: 0, out: '', err: 'Nothing was appended: there is an event message.\n' });
    expect(quiet).toMatchObject({ code: 0, out: '', err: '' });
  });
});
