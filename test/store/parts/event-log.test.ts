import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LogDamagedError } from '../../../src/errors.js';
import { UnexpectedKindError } from '../../../src/fs/file-system.js';
import { sessionPaths } from '../../../src/store/base/layout.js';
import { EventLog } from '../../../src/store/parts/event-log.js';
import { aLine } from '../../support/event-builder.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

function tempLog(session: SessionBuilder): { readonly log: EventLog; readonly temp: TempStore } {
  const temp = tempStore(session);
  return { log: new EventLog(temp.deps, temp.id, sessionPaths(temp.path())), temp };
}

const sequences = (log: EventLog): readonly number[] => [...log.events()].map(({ sequence }) => sequence);
const kinds = (log: EventLog): readonly string[] => [...log.scan()].map(({ kind }) => kind);

describe('reading a log', () => {
  test('given events with gaps, then they are given in the order of the file', () => {
    const { log } = tempLog(
      aSession().withEvent({ sequence: 1 }).withEvent({ sequence: 6 }).withEvent({ sequence: 7 }),
    );

    expect(sequences(log)).toEqual([1, 6, 7]);
  });

  test('given blank lines and CRLF, then they are passed over, and lines keep their numbers', () => {
    const { log } = tempLog(
      aSession().withTail(`\n \t\r\n${aLine({ sequence: 1 })}\r\n\r\n${aLine({ sequence: 2 })}\n`),
    );

    expect(sequences(log)).toEqual([1, 2]);
    expect([...log.scan()].map(({ line }) => line.number)).toEqual([3, 5]);
  });

  test.each(['\f', '\v', '\u0085', ' \u00a0\u2028 '])(
    'given a line of %j, then it is blank like any other',
    (blank) => {
      const { log } = tempLog(
        aSession()
          .withMessages(1)
          .withTail(`${blank}\n${aLine({ sequence: 2 })}\n${blank}`),
      );

      expect(kinds(log)).toEqual(['event', 'event']);
      expect(log.tail()).toMatchObject({ tornFrom: undefined, lacksNewline: true });
    },
  );

  test('finding 31: given members that differ in case only, then each line is told of once, with its number', () => {
    const { log, temp } = tempLog(
      aSession().withTail(
        `${aLine({ sequence: 1 })}\n${aLine({ sequence: 2 }).replace('{', '{"Payload":1,')}\n{"SESSIONID":"s","sequence":3}\n`,
      ),
    );

    expect([sequences(log), sequences(log)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(temp.warnings).toMatchObject([
      { code: 'AMBIGUOUS_MEMBER', sessionId: 's', message: expect.stringMatching(/:2: .*"Payload" beside "payload"/) },
      { code: 'AMBIGUOUS_MEMBER', message: expect.stringMatching(/:3: .*"SESSIONID" in place of "sessionId"/) },
    ]);
  });

  test('finding 31: given such a line that is read from the end, then its number is told, too', () => {
    const line = aLine({ sequence: 2 }).replace('{', '{"Payload":1,');
    const { log, temp } = tempLog(
      aSession()
        .withMessages(1)
        .withTail(`\n${line}\n${aLine({ sequence: 3 })}\n`),
    );

    expect([...log.scanBackwards(), ...log.scan()]).toHaveLength(6);
    expect(temp.warnings).toMatchObject([{ message: expect.stringContaining('events.jsonl:3: ') }]);
  });

  test('finding 31: given many such lines, then some are told of and that there are more', () => {
    const line = (sequence: number) => aLine({ sequence }).replace('{', '{"Type":"x",');
    const lines = Array.from({ length: 100 }, (_, at) => `${line(at + 1)}\n`).join('');
    const { log, temp } = tempLog(aSession().withTail(lines));

    expect(sequences(log)).toHaveLength(100);
    expect(temp.warnings.length).toBe(11);
    expect(temp.warnings.at(-1)?.message).toContain('more of the same');
  });

  test('given a torn tail, then it is left out', () => {
    const { log } = tempLog(aSession().withMessages(2).withTail('{"id":"s:3","sequ'));

    expect(sequences(log)).toEqual([1, 2]);
    expect(kinds(log)).toEqual(['event', 'event', 'torn']);
  });

  test('given a whole last line without its newline, then it is an event', () => {
    const { log } = tempLog(
      aSession()
        .withMessages(1)
        .withTail(aLine({ sequence: 2 })),
    );

    expect(sequences(log)).toEqual([1, 2]);
  });

  test.each([
    ['is cut short in the middle', '{"id":"s:2","sequ'],
    ['is null', 'null'],
    ['has no id', '{}'],
    ['is NUL bytes', '\0\0\0'],
    ['begins with a byte order mark', `\ufeff${aLine({ sequence: 2 })}`],
  ])('given a line that %s, then it is damage, named with its number, and the others can be read', (_, line) => {
    const { log } = tempLog(aSession().withMessages(1).withLine(line).withEvent({ sequence: 3 }));

    const damaged = failure(() => sequences(log));

    expect(damaged).toBeInstanceOf(LogDamagedError);
    expect(damaged).toMatchObject({ code: 'LOG_DAMAGED', line: 2, path: log.path, sessionId: 's' });
    expect(kinds(log)).toEqual(['event', 'damage', 'event']);
  });

  test('given a last line that is malformed and ends with a newline, then it is damage, not a torn tail', () => {
    const { log } = tempLog(aSession().withMessages(1).withLine('{"id":"s:2","sequ'));

    expect(kinds(log)).toEqual(['event', 'damage']);
  });

  test('given a last line without newline that is JSON but no event, then it is damage, not a torn tail', () => {
    const { log } = tempLog(aSession().withMessages(1).withTail('{}'));

    expect(kinds(log)).toEqual(['event', 'damage']);
  });

  test('given no file, then there are no events', () => {
    const { log } = tempLog(aSession().withoutLog());

    expect(sequences(log)).toEqual([]);
    expect(log.exists()).toBe(false);
    expect(log.tail()).toEqual({
      size: 0,
      last: undefined,
      lastStart: 0,
      lastEnd: 0,
      tornFrom: undefined,
      lacksNewline: false,
    });
  });

  test('given what is appended while it is read, then the reader stops where the file ended', () => {
    const { log, temp } = tempLog(aSession().withMessages(2));
    const reader = log.events();
    reader.next();

    writeFileSync(temp.path('events.jsonl'), `${aLine({ sequence: 3 })}\n`, { flag: 'a' });

    expect([...reader].map(({ sequence }) => sequence)).toEqual([2]);
  });

  test('given any log, then from the end it is the same lines the other way round', () => {
    const line = fc.constantFrom('', ' ', 'null', 'broken', '\r', aLine({ sequence: 1 }), aLine({ sequence: 2 }));
    const temp = tempStore(aSession());
    const log = new EventLog(temp.deps, 's', sessionPaths(temp.path()));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.boolean(), (lines, endsInNewline) => {
        writeFileSync(temp.path('events.jsonl'), lines.join('\n') + (endsInNewline ? '\n' : ''));

        const forwards = [...log.scan()].map(({ kind, line: at }) => [kind, at.start, at.end]);
        const backwards: unknown[] = [];
        for (const { kind, line: at } of log.scanBackwards()) backwards.push([kind, at.start, at.end]);

        expect(backwards.reverse()).toEqual(forwards);
      }),
      { numRuns: 80 },
    );
  });
});

describe('the outline of a log', () => {
  test('given checkpoints, compactions, forks and a rewind, then their payloads are in it and no others', () => {
    const types = ['message', 'session_checkpoint', 'session_compaction', 'session_fork', 'session_rewind'];
    const session = types.reduce((built, type) => built.withEvent({ type, payload: `{"of":"${type}"}` }), aSession());
    const { log } = tempLog(session);

    const outline = log.outline(0);

    expect(outline.events.map(({ id, sequence, type }) => [id, sequence, type])).toEqual(
      types.map((type, at) => [`s:${at + 1}`, at + 1, type]),
    );
    expect(outline.events[0]).not.toHaveProperty('payload');
    expect(outline.checkpoints.map(({ sequence }) => sequence)).toEqual([2]);
    expect(outline.compactions.map(({ sequence }) => sequence)).toEqual([3]);
    expect(outline.forks.map(({ sequence }) => sequence)).toEqual([4]);
    expect(outline.rewound).toBe(true);
  });

  test.each([
    [0, 2],
    [2, 2],
    [9, 9],
  ])('given %i events counted and 2 in the log, then the highest sequence is %i', (counted, highest) => {
    const { log } = tempLog(aSession().withMessages(2));

    expect(log.outline(counted)).toMatchObject({ highest, rewound: false });
  });
});

describe('the end of a log', () => {
  const length = Buffer.byteLength(`${aLine()}\n`);

  test.each<[string, SessionBuilder, object]>([
    ['whole lines', aSession().withMessages(2), { lacksNewline: false, tornFrom: undefined }],
    ['a blank last line', aSession().withMessages(2).withTail('\n\n'), { lacksNewline: false, tornFrom: undefined }],
    [
      'a whole line without newline',
      aSession()
        .withMessages(1)
        .withTail(aLine({ sequence: 2 })),
      { lacksNewline: true },
    ],
    ['space without newline', aSession().withMessages(2).withTail('  '), { lacksNewline: true, tornFrom: undefined }],
    ['a fragment', aSession().withMessages(2).withTail('{"id'), { lacksNewline: false, tornFrom: 2 * length }],
    ['NUL bytes', aSession().withMessages(2).withTail('\0\0'), { lacksNewline: false, tornFrom: 2 * length }],
    ['a fragment after blank lines', aSession().withMessages(2).withTail('\n\n{"id'), { tornFrom: 2 * length + 2 }],
  ])('given %s, then the last event is found', (_, session, expected) => {
    const { log } = tempLog(session);

    const tail = log.tail();

    expect(tail.last?.sequence).toBe(2);
    expect(tail.lastStart).toBe(length);
    expect(tail).toMatchObject(expected);
  });

  test('given a malformed last line with its newline, then nothing may be put behind it', () => {
    const { log } = tempLog(aSession().withMessages(1).withLine('broken').withTail('\n \n'));

    expect(() => log.tail()).toThrow(LogDamagedError);
  });

  test('given a malformed line before a sound last one, then the end is sound', () => {
    const { log } = tempLog(aSession().withLine('broken').withEvent({ sequence: 2 }));

    expect(log.tail().last?.sequence).toBe(2);
  });

  test('given a fragment and nothing else, then there is no last event', () => {
    const { log } = tempLog(aSession().withTail('{"id'));

    expect(log.tail()).toMatchObject({ last: undefined, tornFrom: 0, size: 4 });
  });
});

describe('sealing a log', () => {
  test('given a fragment, then it is moved to the keep area, private to the user', () => {
    const { log, temp } = tempLog(aSession().withMessages(2).withTail('{"id":"s:3"'));
    const whole = `${aLine({ sequence: 1 })}\n${aLine({ sequence: 2 })}\n`;

    const kept = log.seal(log.tail());

    expect(temp.text('events.jsonl')).toBe(whole);
    expect(readFileSync(kept as string, 'utf8')).toBe('{"id":"s:3"');
    expect([temp.mode('.zs'), temp.mode('.zs/torn')]).toEqual([0o700, 0o700]);
    expect(temp.mode('.zs/torn', readdirSync(temp.path('.zs/torn'))[0] as string)).toBe(0o600);
  });

  test('given a whole line without newline, then it gets its newline with what is appended, and nothing is kept', () => {
    const { log, temp } = tempLog(aSession().withTail(aLine()));

    expect(log.seal(log.tail())).toBeUndefined();
    log.append(Buffer.from(`${aLine({ sequence: 2 })}\n`));

    expect(temp.text('events.jsonl')).toBe(`${aLine()}\n${aLine({ sequence: 2 })}\n`);
    expect(temp.tree()).not.toContain('s/.zs');
  });

  test.each(['\0', '\0'.repeat(4096)])(
    'given a whole line and then zeros, then the event stays and they go',
    (zeros) => {
      const { log, temp } = tempLog(
        aSession()
          .withMessages(1)
          .withTail(`${aLine({ sequence: 2 })}${zeros}`),
      );

      expect(sequences(log)).toEqual([1, 2]);
      expect(log.seal(log.tail())).toBeUndefined();

      expect(temp.text('events.jsonl')).toBe(`${aLine({ sequence: 1 })}\n${aLine({ sequence: 2 })}`);
    },
  );

  test('given a sound end, then no byte changes', () => {
    const { log, temp } = tempLog(aSession().withMessages(2).withTail('\n'));
    const before = temp.text('events.jsonl');

    log.seal(log.tail());

    expect(temp.text('events.jsonl')).toBe(before);
  });
});

describe('something else in place of the log', () => {
  test.each<[string, (path: string) => void, string]>([
    ['a link to a log', (path) => symlinkSync(`${path}.real`, path), 'link'],
    ['a link to nothing', (path) => symlinkSync('/nowhere', path), 'link'],
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'other'],
    ['a folder', (path) => mkdirSync(path), 'directory'],
  ])('42. given %s, then every read and write refuses it at once', (_, put, found) => {
    const { log, temp } = tempLog(aSession().withoutLog());
    writeFileSync(`${log.path}.real`, `${aLine()}\n`);
    put(log.path);

    for (const use of [
      () => sequences(log),
      () => log.tail(),
      () => log.append(Buffer.from('x\n')),
      () => log.cut(0),
    ]) {
      const refused = failure(use);
      expect(refused).toBeInstanceOf(UnexpectedKindError);
      expect(refused).toMatchObject({ found, path: temp.path('events.jsonl') });
    }
    expect(readFileSync(`${log.path}.real`, 'utf8')).toBe(`${aLine()}\n`);
    rmSync(log.path, { recursive: true });
  });
});

function failure(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was refused');
}
