import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';

/** Where an event stands: what a fork gives its copy. */
interface Place {
  readonly session: string;
  readonly sequence: number;
  readonly at: string;
}

const usual = (payload: string, type = 'message') => {
  return ({ session, sequence, at }: Place): Buffer =>
    Buffer.from(
      `{"id":"${session}:${sequence}","sessionId":"${session}","sequence":${sequence},"type":"${type}","createdAt":"${at}","payload":${payload}}`,
      'latin1',
    );
};

/** Lines that a JSON library does not give back as they were; latin1, so that any byte can stand in them. */
const LINES: Readonly<Record<string, (place: Place) => Buffer>> = {
  'big integers': usual('{"n":12345678901234567890,"m":-9007199254740993,"role":"user","content":"x"}'),
  'spellings of numbers': usual('{"a":1.0,"b":-0,"c":1E400,"d":1e-7,"e":0.10,"f":100000000000000000000000}'),
  'names that stand twice': usual('{"a":1,"a":2,"role":"user","role":"assistant","content":"x","content":"y"}'),
  'names like numbers': usual('{"10":"a","9":"b","b":1,"1":"c"}'),
  __proto__: usual('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"content":"x"}'),
  'invalid UTF-8': usual('{"role":"user","content":"\xff\xfe\xc3(\xed\xa0\x80 \xf8"}'),
  'lone surrogates': usual('{"role":"user","content":"\\ud800 \\udc00\\ud800"}'),
  'escapes that nobody needs': usual('{"content":"\\u0061\\/\\u00e9\\u003C\\u2028","role":"\\u0075ser"}'),
  'space in the payload': usual('{ "content" :  "x" ,\t"role":"user" }'),
  'NUL and controls as escapes': usual('{"content":"\\u0000\\u001b[2J\\b\\f","role":"user"}'),
  'a payload that is a number': usual('1.0'),
  'a payload that is a text': usual('"\\ud834\\udd1e"', 'later'),
  'a tool call': usual('{"id":"c","name":"t","arguments":"{\\"n\\":1.0,\\"n\\":12345678901234567890}"}', 'tool_call'),
  'unknown members, in another order': ({ session, sequence, at }) =>
    Buffer.from(
      `{"sequence":${sequence},"traceId":"\xff","id":"${session}:${sequence}","__proto__":1.0,"type":"later","sessionId":"${session}","createdAt":"${at}","payload":{"n":1.0},"z":1E2}`,
      'latin1',
    ),
};
const THEN = '2026-07-09T11:00:00Z';
const COUNT = Object.keys(LINES).length;

/** Gives the lines of all kinds, with LF and CRLF by turns. */
function logOf(session: string, at: string): Buffer {
  const lines = Object.values(LINES).map((line, index) => line({ session, sequence: index + 1, at }));
  return Buffer.concat(lines.map((line, index) => Buffer.concat([line, Buffer.from(index % 3 === 2 ? '\r\n' : '\n')])));
}

async function oddSession(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  writeFileSync(temp.path('events.jsonl'), logOf('s', THEN));
  await temp.say();
  temp.put({ a: 'a0' });
  await temp.tool({ a: 'a1' });
  return temp;
}

const WRITERS: Readonly<Record<string, (store: SessionStore, temp: TempWorkspace) => Promise<unknown>>> = {
  'a title': (store) => store.updateTitle('s', 'new'),
  'an append': (store) => store.appendEvents('s', [aMessage(), aMessage()]),
  'a capture': (store, temp) => store.captureToolCheckpoint('s', temp.workspace, 't', ['a']),
  'a rewind': (store) => store.rewind('s', { target: COUNT + 1 }),
  'a rewind and its undo': async (store) => {
    await store.rewind('s', { target: COUNT + 1 });
    await store.undoRewind('s');
  },
  'a restore': (store, temp) => store.restoreToSequence('s', temp.workspace, COUNT + 1),
  'a cut': (store) => store.truncateEvents('s', COUNT),
  'a compaction and its undo': async (store) => {
    await store.recordCompaction('s', { plan: await store.planCompaction('s'), summary: 'short' });
    await store.undoCompaction('s');
  },
  'a goal and a spec': async (store) => {
    await store.createGoal('s', 'all of it');
    await store.recordSpec('s', { specId: 'x', specStatus: 'draft' });
  },
  'a child': (store) => store.createChild('s', { sessionId: 'c' }),
};

describe('lines that JSON tools would change', () => {
  test.each(Object.entries(WRITERS))(
    '46. given %s, then every kept line is what it was, byte for byte',
    async (_, write) => {
      const temp = await oddSession();
      const odd = logOf('s', THEN);
      expect(temp.bytes('events.jsonl').subarray(0, odd.length)).toEqual(odd);

      await write(temp.store, temp);

      expect(temp.bytes('events.jsonl').subarray(0, odd.length)).toEqual(odd);
      expect({}).not.toHaveProperty('polluted');
    },
  );

  test('46. given a fork, then only id, sessionId, sequence and the time of each line are others', async () => {
    const temp = await oddSession();
    const { createdAt } = await temp.store.fork('s', { sessionId: 'fork', at: COUNT });

    const copied = readFileSync(join(temp.root, 'fork', 'events.jsonl'));
    const expected = Object.values(LINES).map((line, index) =>
      line({ session: 'fork', sequence: index + 1, at: createdAt }),
    );

    const lines = copied.toString('latin1').split('\n').slice(0, COUNT);
    expect(lines).toEqual(expected.map((line) => line.toString('latin1')));
  });

  test('46. given a fork of a fork after a rewind, then still only those', async () => {
    const temp = await oddSession();
    await temp.store.rewind('s', { target: COUNT + 1 });
    await temp.store.fork('s', { sessionId: 'f' });
    temp.clock.pass(5000);
    const { createdAt } = await temp.store.fork('f', { sessionId: 'g', at: COUNT });

    const lines = readFileSync(join(temp.root, 'g', 'events.jsonl'), 'latin1')
      .split('\n')
      .slice(0, COUNT);

    expect(lines).toEqual(
      Object.values(LINES).map((line, index) =>
        line({ session: 'g', sequence: index + 1, at: createdAt }).toString('latin1'),
      ),
    );
  });

  test('46. given metadata with such members, then a new title leaves them as they are spelt', async () => {
    const temp = await oddSession();
    const odd = '"n": 12345678901234567890, "x": 1.0, "__proto__": {"polluted": -0}, "t": "\\ud800\\u0061", "u": 1E400';
    writeFileSync(temp.path('metadata.json'), temp.text('metadata.json').replace('\n}', `,\n  ${odd}\n}`));

    await temp.store.updateTitle('s', 'new');
    await temp.store.appendEvent('s', aMessage());

    const text = temp.text('metadata.json');
    for (const member of odd.split(', ')) expect(text).toContain(member);
    expect(JSON.parse(text)).toMatchObject({ title: 'new' });
  });
});
