import { appendFileSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { documentOf, errorOf } from '../../support/json-document.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

/** One event of each kind that has a form of its own. */
function aConversation() {
  return tempStore(
    aSession('talk')
      .withMetadata({ title: 'Fix the adder', cwd: '/work/app', modelId: 'demo-model', provider: 'demo' })
      .withEvent({ payload: '{"content":"add() subtracts.\\nFix it","role":"user"}' })
      .withEvent({
        type: 'tool_call',
        payload: '{"id":"c1","name":"read_file","arguments":"{\\"path\\":\\"src/add.ts\\",\\"lines\\":[1,9]}"}',
      })
      .withEvent({
        type: 'tool_result',
        payload: '{"toolCallId":"c1","name":"read_file","status":"ok","output":"1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n"}',
      })
      .withEvent({
        type: 'session_checkpoint',
        payload:
          `{"tool":"write_file","files":[{"path":"src/add.ts","blob":"${'a'.repeat(64)}","bytes":1536},` +
          '{"path":"new.ts","absent":true},{"path":"../out","skipped":true}]}',
      })
      .withEvent({ type: 'permission_decision', payload: '{"action":"allow","name":"write_file"}' })
      .withEvent({ type: 'tool_result', payload: '{"name":"write_file","status":"error","output":"disk full"}' })
      .withEvent({ type: 'provider_usage', payload: '{"promptTokens":1200,"completionTokens":80,"totalTokens":1280}' })
      .withEvent({ type: 'error', payload: '{"message":"interrupted"}' })
      .withEvent({
        type: 'session_compaction',
        payload: '{"summary":"It was fixed.","compactableCount":6,"preservedCount":2}',
      })
      .withEvent({
        type: 'session_rewind',
        payload:
          '{"targetSequence":3,"report":{"targetSequence":3,"filesRestored":2,"filesDeleted":1,"skipped":["../out"]}}',
      })
      .withEvent({
        type: 'session_child',
        payload: '{"childSessionId":"scout","agentName":"explorer","prompt":"Find the tests"}',
      })
      .withEvent({ type: 'from_the_future', payload: '{"speed":9007199254740993,"note":"two words"}' })
      .withEvent({ payload: '{"content":"Fixed.","role":"assistant"}' }),
  );
}

describe('show, as a conversation', () => {
  test('finding 23: given a tool under its other name, then a call and its result are shown as of that tool', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withEvent({ type: 'tool_call', payload: '{"toolCallId":"c1","toolName":"bash","arguments":"{}"}' })
        .withEvent({ type: 'tool_result', payload: '{"id":"c1","toolName":"bash","status":"ok","output":"done"}' }),
    );

    const { out } = await runCommandLine(['show', 'talk'], { root });

    expect(out).toMatch(/^ +1 {2}→ bash$/m);
    expect(out).toMatch(/^ +2 {2}← bash ok, 4 characters$/m);
  });

  test('given one event of each kind, then it reads as a person would tell it', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk'], { root });

    expect(run).toMatchObject({
      code: 0,
      err: '',
      out: [
        'Fix the adder',
        'id           talk',
        'kind         regular',
        'folder       /work/app',
        'model        demo-model (demo)',
        'created      2026-07-09T10:00:00Z',
        'updated      2026-07-09T11:00:00Z',
        'events       13',
        'tokens       1,280',
        'checkpoints  1',
        '',
        '  1  user  2026-07-09T11:00:00Z',
        '     add() subtracts.',
        '     Fix it',
        '',
        '  2  → read_file path=src/add.ts lines=[1,9]',
        '  3  ← read_file ok, 16 characters',
        '     │ 1',
        '     │ 2',
        '     │ 3',
        '     │ 4',
        '     │ 5',
        '     │ 6',
        '     │ … 2 more lines',
        '  4  checkpoint before write_file: 3 files',
        '     src/add.ts (1.5 KiB)',
        '     new.ts (not there yet)',
        '     ../out (not kept)',
        '  5  permission allow write_file',
        '  6  ← write_file error, 9 characters',
        '     │ disk full',
        '  7  1,200 tokens in, 80 tokens out',
        '  8  error: interrupted',
        '',
        '  9  ── a summary stands for 6 events; 2 events kept ───────────────────────────',
        '     │ It was fixed.',
        '',
        ' 10  ── rewound to event 3, 2 files restored, 1 file deleted, 1 file left ──────',
        '',
        ' 11  child session scout (explorer): Find the tests',
        ' 12  from_the_future speed=9007199254740992 note="two words"',
        '',
        ' 13  assistant  2026-07-09T11:00:00Z',
        '     Fixed.',
        '',
      ].join('\n'),
    });
  });

  test('given a terminal, then messages are wrapped, results are cut, and rules fit', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withEvent({ payload: '{"content":"one two three four five six seven eight","role":"user"}' })
        .withEvent({ type: 'tool_result', payload: `{"name":"run","status":"ok","output":"${'x'.repeat(90)}"}` })
        .withEvent({ type: 'session_rewind', payload: '{"targetSequence":1}' }),
    );

    const run = await runCommandLine(['show', 'talk'], { root, columns: 40, env: { NO_COLOR: '1' } });

    expect(run.out.split('\n\n').slice(1).join('\n\n')).toBe(
      [
        '  1  user  1 h ago',
        '     one two three four five six seven',
        '     eight',
        '',
        '  2  ← run ok, 90 characters',
        `     │ ${'x'.repeat(32)}…`,
        '',
        '  3  ── rewound to event 1 ─────────────',
        '',
      ].join('\n'),
    );
  });

  test('given --full, then a result is shown whole', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '--full'], { root });

    expect(run.out).toContain('     │ 7\n     │ 8\n  4  checkpoint');
  });

  test('given a long line in a pipe, then it is not cut', async () => {
    const long = 'x'.repeat(5000);
    const { root } = tempStore(
      aSession('talk').withEvent({ type: 'tool_result', payload: `{"name":"run","status":"ok","output":"${long}"}` }),
    );

    const run = await runCommandLine(['show', 'talk'], { root });

    expect(run.out).toContain(`│ ${long}\n`);
  });

  test('given text that a terminal would obey, then it is shown', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withEvent({ payload: '{"content":"a\\u001b[2Jb\\u202ec","role":"us\\u0007er"}' })
        .withEvent({ type: 'tool_call', payload: '{"name":"x\\u001b]0;t\\u0007","arguments":"\\u001b[31m"}' })
        .withEvent({ type: 'odd\\u001btype', payload: '{"k\\u001b":1}' }),
    );

    const plain = await runCommandLine(['show', 'talk'], { root });
    const table = await runCommandLine(['show', 'talk', '--events'], { root });

    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(plain.out + table.out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(plain.out).toContain('a\\u{1b}[2Jb\\u{202e}c');
  });

  test('given a secret that would be cut, then it is hidden before', async () => {
    const { root } = tempStore(
      aSession('talk').withEvent({
        type: 'tool_result',
        payload: `{"name":"env","status":"ok","output":"API_TOKEN=abcdefghijklmnopqrstuvwxyz0123456789"}`,
      }),
    );

    const run = await runCommandLine(['show', 'talk'], { root, columns: 30, env: { NO_COLOR: '1' } });

    expect(run.out).toContain('API_TOKEN=[REDACTED]');
    expect(run.out).not.toContain('abcdef');
  });

  test('given answers to questions, a missing role and an empty message, then each is shown', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withEvent({ payload: '{"role":"ask_user_answers","toolCallId":"c","answers":["yes",{"n":1}]}' })
        .withEvent({ payload: '{"content":"who?"}' })
        .withEvent({ payload: '{"content":"","role":"assistant"}' })
        .withEvent({ payload: '[1,2]', type: 'unknown' }),
    );

    const run = await runCommandLine(['show', 'talk'], { root });

    expect(run.out).toContain('  1  ask_user_answers  2026-07-09T11:00:00Z\n     yes\n     {"n":1}\n');
    expect(run.out).toContain('  2  somebody  2026-07-09T11:00:00Z\n     who?\n');
    expect(run.out).toContain('  3  assistant  2026-07-09T11:00:00Z\n     (nothing)\n');
    expect(run.out).toContain('  4  unknown [1,2]\n');
  });

  test('given a checkpoint with many files, then a few are shown and the rest counted', async () => {
    const files = Array.from({ length: 11 }, (_, at) => `{"path":"f${at}","absent":true}`).join(',');
    const { root } = tempStore(
      aSession('talk').withEvent({ type: 'session_checkpoint', payload: `{"tool":"t","files":[${files}]}` }),
    );

    const short = await runCommandLine(['show', 'talk'], { root });
    const full = await runCommandLine(['show', 'talk', '--full'], { root });

    expect(short.out).toContain('checkpoint before t: 11 files\n     f0 (not there yet)\n');
    expect(short.out).toContain('     f7 (not there yet)\n     … 3 more\n');
    expect(full.out).toContain('     f10 (not there yet)\n');
  });
});

describe('show --events', () => {
  test('given events, then each is a row', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '--events', '--to', '5'], { root });

    expect(run.out).toBe(
      [
        'SEQ  TIME                  TYPE                 WHAT',
        '  1  2026-07-09T11:00:00Z  message              user: add() subtracts.\\nFix it',
        '  2  2026-07-09T11:00:00Z  tool_call            read_file path=src/add.ts lines=[1,9]',
        '  3  2026-07-09T11:00:00Z  tool_result          read_file ok, 16 characters',
        '  4  2026-07-09T11:00:00Z  session_checkpoint   write_file: src/add.ts (1.5 KiB), new.ts (not there yet), ../out (not kept)',
        '  5  2026-07-09T11:00:00Z  permission_decision  allow write_file',
        '',
      ].join('\n'),
    );
  });

  test('given a terminal, then rows are cut to it', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '--events'], { root, columns: 60, env: { NO_COLOR: '1' } });

    const widths = run.out
      .trimEnd()
      .split('\n')
      .map((line) => line.length);
    expect(Math.max(...widths)).toBe(60);
    expect(run.out).toContain('\n  1  1 h ago      message              user: add() subtract…\n');
  });
});

describe('show, for scripts', () => {
  test('given --json, then payloads keep their bytes and the summary counts the log', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '--json'], { root });

    const document = await documentOf('show', run.out);
    expect(Object.keys(document)).toEqual(['schemaVersion', 'session', 'summary', 'events', 'damage']);
    expect(document.summary).toEqual({ events: 13, tokens: 1280, checkpoints: 1 });
    expect(document.events).toHaveLength(13);
    expect(document.damage).toEqual([]);
    expect(run.out).toContain('"payload": {"speed":9007199254740993,"note":"two words"}');
  });

  test('given a session without events, then the arrays are there and empty', async () => {
    const { root } = tempStore(aSession('talk'));

    const run = await runCommandLine(['show', 'talk', '--json'], { root });

    const { summary, events, damage } = await documentOf('show', run.out);
    expect({ summary, events, damage }).toEqual({
      summary: { events: 0, tokens: 0, checkpoints: 0 },
      events: [],
      damage: [],
    });
  });

  test('given secrets, then --json hides the strings and --no-redact does not', async () => {
    const { root } = tempStore(
      aSession('talk').withEvent({ payload: '{"content":"x","role":"user","password":"hunter2hunter2", "n": 1.0}' }),
    );

    const hidden = await runCommandLine(['show', 'talk', '--json'], { root });
    const shown = await runCommandLine(['show', 'talk', '--json', '--no-redact'], { root });

    expect(hidden.out).toContain('{"content":"x","role":"user","password":"[REDACTED]", "n": 1.0}');
    expect(shown.out).toContain('{"content":"x","role":"user","password":"hunter2hunter2", "n": 1.0}');
  });

  test('given --jsonl, then each event is one line', async () => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '--jsonl', '--type', 'message'], { root });

    const lines = run.out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([1, 13]);
    expect(Object.keys(JSON.parse(lines[0] ?? ''))).toEqual([
      'id',
      'sessionId',
      'sequence',
      'type',
      'createdAt',
      'payload',
    ]);
  });

  test('given a reader that leaves, then it ends with 0 and says nothing', async () => {
    const { root } = tempStore(aSession('talk').withMessages(5000));

    const run = await runCommandLine(['show', 'talk', '--jsonl'], { root, closeAfter: 100 });

    expect(run).toMatchObject({ code: 0, err: '' });
  });
});

describe('the ranges of show', () => {
  test.each([
    [
      ['--from', '3', '--to', '5'],
      [3, 4, 5],
    ],
    [
      ['--to', 'talk:2'],
      [1, 2],
    ],
    [
      ['--from', '-2'],
      [11, 12, 13],
    ],
    [['--to', '-12'], [1]],
    [
      ['--to', 'last-checkpoint'],
      [1, 2, 3],
    ],
    [
      ['--tail', '2'],
      [12, 13],
    ],
    [['--tail', '0'], []],
    [
      ['--tail', '99', '--to', '2'],
      [1, 2],
    ],
    [['--tail', '1', '--type', 'message', '--to', '12'], [1]],
    [
      ['--type', 'message', '--type', 'error'],
      [1, 8, 13],
    ],
    [['--type', 'nothing'], []],
  ])('given %j, then it shows %j', async (flags, sequences) => {
    const { root } = aConversation();

    const run = await runCommandLine(['show', 'talk', '-q', ...flags], { root });

    expect(run).toMatchObject({ code: 0, out: sequences.map((sequence) => `${sequence}\n`).join(''), err: '' });
  });

  test.each([
    ['14', [13]],
    ['talk:99', [13]],
    ['other:1', []],
    ['-13', [1]],
  ])(
    'given --to %s, which is no event of this log, then it is not found, with the nearest',
    async (position, nearest) => {
      const { root } = aConversation();

      const run = await runCommandLine(['show', 'talk', '--json', `--to=${position}`], { root });

      expect(run.code).toBe(3);
      expect(errorOf(run.out)).toMatchObject({ code: 'EVENT_NOT_FOUND', nearest });
    },
  );

  test.each(['0', '-0', 'nonsense', ''])(
    'given --to %j, which names no event, then it is refused',
    async (position) => {
      const { root } = aConversation();

      const run = await runCommandLine(['show', 'talk', `--to=${position}`], { root });

      expect(run.code).toBe(2);
    },
  );

  test('given a gap, then the two events around it are the nearest', async () => {
    const { root } = tempStore(
      aSession('talk').withEvent({ sequence: 3 }).withEvent({ sequence: 8 }).withEvent({ sequence: 9 }),
    );

    const run = await runCommandLine(['show', 'talk', '--json', '--to', '5'], { root });

    expect(errorOf(run.out).nearest).toEqual([3, 8]);
  });

  test('given no checkpoint but one of ours, then last-checkpoint is not found', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withMessages(1)
        .withEvent({ type: 'session_checkpoint', payload: '{"tool":"zero-sessions/rewind-intent","files":[]}' }),
    );

    const run = await runCommandLine(['show', 'talk', '--to', 'last-checkpoint'], { root });

    expect(run.code).toBe(3);
  });

  test('given a tail that does not fit memory, then it is the same', async () => {
    const big = `{"content":"${'x'.repeat(6_000_000)}","role":"user"}`;
    const { root } = tempStore(
      aSession('talk')
        .withMessages(2)
        .withEvent({ payload: big })
        .withEvent({ payload: big })
        .withEvent({ payload: big }),
    );

    const run = await runCommandLine(['show', 'talk', '-q', '--tail', '4'], { root });

    expect(run.out).toBe('2\n3\n4\n5\n');
  });
});

describe('show --replay', () => {
  test('given a compaction, then it stands for the events that it names', async () => {
    const { root } = tempStore(
      aSession('talk')
        .withMessages(3)
        .withEvent({
          type: 'session_compaction',
          payload:
            '{"summary":"s","preserveLast":1,"compactableCount":2,"preservedCount":1,"compactedThroughSequence":2,' +
            '"compactableEvents":[{"id":"talk:1","sequence":1,"type":"message"},{"id":"talk:2","sequence":2,"type":"message"}]}',
        }),
    );

    const whole = await runCommandLine(['show', 'talk', '-q', '--replay'], { root });
    const tail = await runCommandLine(['show', 'talk', '-q', '--replay', '--tail', '1'], { root });

    expect(whole).toMatchObject({ code: 0, out: '4\n3\n' });
    expect(tail.out).toBe('3\n');
  });
});

describe('finding 31: show of events that lack a type or an id', () => {
  const odd = () =>
    tempStore(aSession().withLine('{"sequence":7}').withLine('{"id":" ","sequence":8,"type":" ","payload":{"a":1}}'));

  test('given text, then they have their lines', async () => {
    const run = await runCommandLine(['show', 's', '--events'], { root: odd().root });

    expect(run).toMatchObject({ code: 0, err: '' });
    expect(run.out).toMatch(/7 +unknown +\(no type\)\n +8 +unknown +\(no type\) +a=1\n/);
  });

  test('given JSON, then they have the ids that they go by', async () => {
    const run = await runCommandLine(['show', 's', '--jsonl'], { root: odd().root });

    expect(
      run.out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { id: 's:7', type: '' },
      { id: 's:8', type: ' ' },
    ]);
  });
});

describe('show of what is damaged', () => {
  function damaged() {
    return tempStore(aSession('talk').withMessages(2).withLine('not json').withEvent({ sequence: 4 }));
  }

  test('given a bad line, then all good events are shown, the damage stands after them, and the exit code is 5', async () => {
    const { root } = damaged();

    const run = await runCommandLine(['show', 'talk', '--json'], { root });

    const { events, damage } = await documentOf('show', run.out);
    expect(run.code).toBe(5);
    expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 4]);
    expect(damage).toEqual([{ line: 3, code: 'LOG_DAMAGED', message: 'line 3 is not JSON' }]);
    expect(run.err).toBe('warning: Session talk: line 3 is not JSON\n');
  });

  test.each([
    ['text', []],
    ['-q', ['-q']],
    ['--jsonl', ['--jsonl']],
    ['--events', ['--events']],
  ])('given %s, then the exit code and the warning are the same', async (_form, flags) => {
    const { root } = damaged();

    const run = await runCommandLine(['show', 'talk', ...flags], { root });

    expect(run).toMatchObject({ code: 5, err: 'warning: Session talk: line 3 is not JSON\n' });
  });

  test('given text, then the damage is shown where it stands', async () => {
    const { root } = damaged();

    const run = await runCommandLine(['show', 'talk'], { root });

    expect(run.out).toContain('     event 2\n\n     damaged: line 3 is not JSON\n\n  4  user');
  });

  test('given a range that ends before it, then there is no damage', async () => {
    const { root } = damaged();

    const run = await runCommandLine(['show', 'talk', '-q', '--to', '2'], { root });

    expect(run).toMatchObject({ code: 0, out: '1\n2\n', err: '' });
  });

  test.each([
    ['1', 0, '4\n'],
    ['2', 5, '2\n4\n'],
    ['9', 5, '1\n2\n4\n'],
  ])('given --tail %s, then damage among what is shown counts', async (tail, code, out) => {
    const { root } = damaged();

    const run = await runCommandLine(['show', 'talk', '-q', '--tail', tail], { root });

    expect(run).toMatchObject({ code, out });
  });

  test('given a torn tail, then it is no damage, and a note says so', async () => {
    const { root } = tempStore(aSession('talk').withMessages(1).withTail('{"id":"talk:2","se'));

    const run = await runCommandLine(['show', 'talk', '--jsonl'], { root });
    const quiet = await runCommandLine(['show', 'talk', '-q'], { root });

    expect(run).toMatchObject({
      code: 0,
      err: 'The log ends in an append that was cut short; it is left out.\n',
    });
    expect(quiet).toMatchObject({ code: 0, out: '1\n', err: '' });
  });

  test('given metadata that cannot be read, then the log is shown all the same', async () => {
    const { root } = tempStore(aSession('talk').withMessages(1).withMetadataText('{'));

    const run = await runCommandLine(['show', 'id:talk', '--json'], { root });

    const { session, events, damage } = await documentOf('show', run.out);
    expect(run.code).toBe(5);
    expect(session.sessionId).toBe('talk');
    expect(events).toHaveLength(1);
    expect(damage).toEqual([{ line: null, code: 'METADATA_DAMAGED', message: expect.stringContaining('is not JSON') }]);
  });

  test('given a log that is gone though events are counted, then that is said', async () => {
    const { root, path } = tempStore(aSession('talk').withMessages(2));
    rmSync(path('events.jsonl'));

    const run = await runCommandLine(['show', 'talk', '--json'], { root });

    const { damage } = await documentOf('show', run.out);
    expect(run.code).toBe(5);
    expect(damage).toMatchObject([{ line: null, code: 'LOG_MISSING' }]);
  });

  test('given a link in place of the log, then it is refused', async () => {
    const { root, path } = tempStore(aSession('talk').withMessages(1));
    rmSync(path('events.jsonl'));
    symlinkSync('/etc/passwd', path('events.jsonl'));

    const run = await runCommandLine(['show', 'talk', '--json'], { root });

    expect(run.code).toBe(5);
    expect(errorOf(run.out).code).toBe('PATH_REFUSED');
  });
});

describe('show --raw', () => {
  test('given any bytes, then they are as they are stored', async () => {
    const { root, path, bytes } = tempStore(
      aSession('talk').withEvent({ payload: '{"password":"hunter2hunter2"}' }).withLine('').withMessages(1),
    );
    appendFileSync(path('events.jsonl'), '{"torn \u00ff');

    const run = await runCommandLine(['show', 'talk', '--raw'], { root });

    expect(Buffer.from(run.outBytes).equals(Buffer.from(bytes('events.jsonl')))).toBe(true);
    expect(readFileSync(path('events.jsonl')).length).toBe(run.outBytes.length);
  });

  test('given a range, then the lines of those events', async () => {
    const { root, text } = tempStore(aSession('talk').withMessages(3));

    const run = await runCommandLine(['show', 'talk', '--raw', '--tail', '1', '--json'], { root });

    expect(run.out).toBe(`${text('events.jsonl').split('\n')[2]}\n`);
  });

  test('given flags that would change the form, then it is refused', async () => {
    const { root } = tempStore(aSession('talk'));

    const run = await runCommandLine(['show', 'talk', '--raw', '--events'], { root });

    expect(run.code).toBe(2);
  });
});

describe('show --follow', () => {
  test('given that it comes later, then it exits 2 and says so', async () => {
    const { root } = tempStore(aSession('talk'));

    const run = await runCommandLine(['show', 'talk', '--follow', '--json'], { root });

    expect(run.code).toBe(2);
    expect(errorOf(run.out).code).toBe('NOT_YET');
  });
});
