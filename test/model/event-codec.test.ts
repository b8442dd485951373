import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../src/errors.js';
import { joinBytes } from '../../src/model/bytes.js';
import type { StoredEvent } from '../../src/model/event.js';
import {
  encodeEventLine,
  encodeInput,
  MalformedLineError,
  parseEventLine,
  refOf,
  spliceEventLine,
} from '../../src/model/event-codec.js';
import { viewEvent } from '../../src/model/event-view.js';
import { eventName, sequenceText } from '../../src/model/ids.js';
import { type RawJson, rawJson, rawJsonText } from '../../src/model/json.js';
import { aLine } from '../support/event-builder.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const anEvent = (type: string, payload?: string): StoredEvent =>
  parseEventLine(bytes(aLine({ type, payload: payload ?? '{}' })));

/** JSON text with every kind of escape, spelling and layout, and strings that are not UTF-8. */
const anyJson: fc.Arbitrary<Uint8Array> = fc.letrec<{ value: Uint8Array; list: Uint8Array; object: Uint8Array }>(
  (tie) => {
    const space = fc.constantFrom('', '', ' ', '\t', '\r').map(bytes);
    const piece = fc.oneof(
      fc
        .constantFrom(
          '\\"',
          '\\\\',
          '\\/',
          '\\b',
          '\\n',
          '\\u0000',
          '\\ud800',
          '\\uDC00',
          '\\u2028',
          '<',
          '&',
          '\u2029',
        )
        .map(bytes),
      fc.string({ unit: 'grapheme', maxLength: 3 }).map((text) => bytes(JSON.stringify(text).slice(1, -1))),
      fc.uint8Array({ min: 0x80, max: 0xff, maxLength: 3 }),
    );
    const string = fc.array(piece, { maxLength: 4 }).map((pieces) => joinBytes([bytes('"'), ...pieces, bytes('"')]));
    const scalar = fc
      .constantFrom('1', '-0', '1.0', '1e400', '9007199254740993', 'true', 'false', 'null', '0.10')
      .map(bytes);
    const spaced = (token: string): fc.Arbitrary<Uint8Array> =>
      space.map((around) => joinBytes([around, bytes(token), around]));
    const member = fc.tuple(string, spaced(':'), tie('value')).map((parts) => joinBytes(parts));
    const sequence = (item: fc.Arbitrary<Uint8Array>, open: string, close: string): fc.Arbitrary<Uint8Array> =>
      fc
        .tuple(fc.array(item, { maxLength: 3 }), spaced(','), spaced(open), spaced(close))
        .map(([items, comma, before, after]) =>
          joinBytes([before, ...items.flatMap((value, at) => (at === 0 ? [value] : [comma, value])), after]),
        );
    return {
      value: fc.oneof({ maxDepth: 3 }, scalar, string, tie('list'), tie('object')),
      list: sequence(tie('value'), '[', ']'),
      object: sequence(member, '{', '}'),
    };
  },
).value;
/** A payload as it stands in a line: no space around it, which belongs to nobody. */
const anyPayload = anyJson.map((json) => bytesTrimmed(json));

describe('a line that is read', () => {
  test('given any payload, then its bytes are those in the line', () => {
    fc.assert(
      fc.property(anyPayload, (payload) => {
        const line = joinBytes([bytes('{"id":"s:1","sequence":1,"type":"t","payload":'), payload, bytes('}')]);

        expect(parseEventLine(line).payload).toEqual(payload);
      }),
    );
  });

  test('given any event of ours, then it is written as it was', () => {
    fc.assert(
      fc.property(
        anyPayload,
        fc.string().filter((type) => type.trim() !== '' && !type.includes('\u0085')),
        (payload, type) => {
          const event = { ...anEvent('message'), type, payload: payload as RawJson };

          expect(parseEventLine(encodeEventLine(event).subarray(0, -1))).toEqual({
            ...event,
            type: type.toWellFormed(),
          });
        },
      ),
    );
  });

  test('given no payload, then there is none', () => {
    const line = '{"id":"s:1","sessionId":"s","sequence":1,"type":"message","createdAt":"x"}';

    expect(parseEventLine(bytes(line)).payload).toBeUndefined();
    expect(rawJsonText(encodeEventLine(parseEventLine(bytes(line))))).toBe(`${line}\n`);
  });

  test('given unknown members, another order and space, then what is known is read', () => {
    const line = ' {"x":{"id":"no"},"type":"t" , "sequence" :7,"id":"s:7","payload":null} \r';

    expect(parseEventLine(bytes(line))).toMatchObject({
      id: 's:7',
      sequence: 7,
      type: 't',
      sessionId: '',
      createdAt: '',
    });
  });

  test.each([
    ['', true],
    ['{"id":"s:1","sequence":1,"ty', true],
    ['\0\0\0', true],
    ['\ufeff{"id":"s:1","sequence":1,"type":"t"}', true],
    ['{"id":"s:1","sequence":1,"type":"t"}{}', true],
    ['null', false],
    ['[]', false],
    ['"text"', false],
    ['{}', false],
    ['{"id":"s:1","type":"t"}', false],
    ['{"id":"s:1","sequence":null,"type":"t"}', false],
    ['\u200b{"id":"s:1","sequence":1,"type":"t"}', true],
    ['{"id":"s:1","sequence":9223372036854775808,"type":"t"}', false],
    ['{"id":"s:1","sessionId":"s","sequence":9223372036854775808,"type":"t","createdAt":""}', false],
    ['{"id":"s:0","sequence":0,"type":"t"}', false],
    ['{"id":"s:1","sequence":-1,"type":"t"}', false],
    ['{"id":"s:1","sequence":1.5,"type":"t"}', false],
    ['{"id":"s:1","sequence":1.0,"type":"t"}', false],
    ['{"id":"s:1","sequence":1e2,"type":"t"}', false],
    ['{"id":"s:1","sequence":"1","type":"t"}', false],
    ['{"id":1,"sequence":1,"type":"t"}', false],
    ['{"ID":"s:1","Sequence":1,"Type":"t"}', false],
  ])('given %j, then it is no event; a torn tail: %s', (line, torn) => {
    expect(() => parseEventLine(bytes(line))).toThrow(MalformedLineError);
    expect(tornOf(line)).toBe(torn);
  });
});

describe('finding 31: a line that Zero reads', () => {
  test.each([
    ['"type":""', ''],
    ['"type":"  "', '  '],
    ['"type":null', ''],
    ['"x":1', ''],
  ])('given %s, then it is an event of that type', (member, type) => {
    expect(parseEventLine(bytes(`{"id":"s:1","sequence":1,${member}}`))).toMatchObject({ sequence: 1, type });
  });

  test.each([
    ['"id":""', ''],
    ['"id":" "', ' '],
    ['"id":null', ''],
    ['"x":1', ''],
  ])('given %s, then it is an event that goes by its session and sequence', (member, id) => {
    const event = parseEventLine(bytes(`{"sessionId":"s","sequence":7,"type":"t",${member}}`));

    expect(event.id).toBe(id);
    expect(eventName(event, 's')).toBe('s:7');
  });

  test.each(['', '"type":"","payload":{}', '"type":"t","id":""'])(
    'given the usual layout with %s, then it reads as any other layout does',
    (members) => {
      const usual = `{"id":"","sessionId":"s","sequence":1,"type":"","createdAt":"x"${members === '' ? '' : ',"payload":{}'}}`;

      expect(parseEventLine(bytes(usual))).toEqual(parseEventLine(bytes(usual.replace('{', '{ '))));
    },
  );

  test.each(['\u00a0', '\u0085', '\v', '\f', '\u2003', '\u3000', ' \u1680\u2028\u202f\u205f\t', '\u2009\r'])(
    'given %j around it, then that is no part of it, and a copy has it no more',
    (space) => {
      const line = bytes(`${space}${aLine({ sequence: 3 })}${space}`);

      expect(parseEventLine(line)).toEqual(parseEventLine(bytes(aLine({ sequence: 3 }))));
      expect(spliceEventLine(line, { id: 's:3', sessionId: 's', sequence: 3, createdAt: 'x' })[0]).toBe(0x7b);
    },
  );

  test.each([
    ['{"id":"s:1","sequence":1,"payload":1,"Payload":2}', [{ name: 'Payload', read: 'payload', isTwice: true }]],
    ['{"ID":"x","sequence":1}', [{ name: 'ID', read: 'id', isTwice: false }]],
    ['{"id":"s:1","sequence":1,"SEQUENCE":2,"createdat":"x"}', [{ name: 'SEQUENCE' }, { name: 'createdat' }]],
    ['{"id":"s:1","sequence":1,"Extra":1,"extra":2}', []],
  ])('given %s, then it is told what Zero reads otherwise', (line, members) => {
    const told: unknown[] = [];

    parseEventLine(bytes(line), (member) => told.push(member));

    expect(told).toMatchObject(members);
  });

  test('given no id and a blank type, then a copy has an id in front and the type as it was', () => {
    const line = bytes('{"sessionId":"s","sequence":4,"type":" ","createdAt":"x"}');
    const copy = spliceEventLine(line, { id: 'f:1', sessionId: 'f', sequence: 1, createdAt: 'y' });

    expect(rawJsonText(copy)).toBe('{"id":"f:1","sessionId":"f","sequence":1,"type":" ","createdAt":"y"}\n');
  });
});

describe('finding 32: a sequence that a number cannot hold', () => {
  test.each(['9007199254740993', '9223372036854775807'])('given %s, then it is there as written', (sequence) => {
    const usual = parseEventLine(bytes(aLine({ sequence: sequence as unknown as number })));
    const unusual = parseEventLine(bytes(`{"sequence": ${sequence}}`));

    expect([usual, refOf(usual), unusual].map(sequenceText)).toEqual([sequence, sequence, sequence]);
  });

  test('given one that fits, then there is no second form of it', () => {
    expect(parseEventLine(bytes('{"sequence":9007199254740991}'))).not.toHaveProperty('exactSequence');
  });
});

describe('a line that is copied', () => {
  const changes = { id: 'f:9', sessionId: 'f', sequence: 9, createdAt: '2026-07-09T12:00:00Z' };

  test('given any payload and unknown members around it, then all but the envelope keeps its bytes', () => {
    fc.assert(
      fc.property(anyPayload, anyPayload, (payload, unknown) => {
        const line = (id: string, session: string, sequence: number, time: string): Uint8Array =>
          joinBytes([
            bytes(`{"v": `),
            unknown,
            bytes(
              ` ,"id":"${id}" ,"sessionId":"${session}","sequence": ${sequence},"type":"t","createdAt":"${time}","payload":`,
            ),
            payload,
            bytes(',"z":1}'),
          ]);

        const copy = spliceEventLine(line('s:1', 's', 1, 'then'), changes);

        expect(copy).toEqual(joinBytes([line('f:9', 'f', 9, changes.createdAt), bytes('\n')]));
      }),
    );
  });

  test('given another payload, then that stands where the old one stood', () => {
    const copy = spliceEventLine(bytes(aLine({ payload: '{"a":1}' })), { ...changes, payload: rawJson('{"b":2}') });

    expect(rawJsonText(copy)).toContain('"payload":{"b":2}}\n');
    expect(rawJsonText(copy)).not.toContain('"a"');
  });

  test('given a line without time and session, then the copy has them', () => {
    const copy = spliceEventLine(bytes('{"id":"s:1","sequence":1,"type":"t"}\r'), changes);

    expect(parseEventLine(copy.subarray(0, -1))).toMatchObject(changes);
  });

  test('given members of the same names inside the payload, then those stay', () => {
    const payload = '{"id":"x","sequence":5,"sessionId":"y","createdAt":"z"}';

    expect(rawJsonText(spliceEventLine(bytes(aLine({ payload })), changes))).toContain(`"payload":${payload}}`);
  });
});

describe('an event that is to be appended', () => {
  const payloadOf = (payload: unknown): string | undefined => {
    const encoded = encodeInput({ type: 'message', payload }).payload;
    return encoded === undefined ? undefined : rawJsonText(encoded);
  };

  test.each(['', ' ', '\u0085\u2003'])('given the type %j, then it is refused', (type) => {
    expect(() => encodeInput({ type })).toThrow(InvalidArgumentError);
  });

  test('given a type in space, then it is kept as it is', () => {
    expect(encodeInput({ type: ' message ' }).type).toBe(' message ');
  });

  test.each([undefined, null, rawJson(''), { toJSON: () => null }])(
    'given the payload %j, then there is none',
    (payload) => {
      expect(payloadOf(payload)).toBeUndefined();
    },
  );

  test.each([
    [0, '0'],
    [false, 'false'],
    ['', '""'],
    [[], '[]'],
    [{}, '{}'],
    [rawJson(' {"b":1.0, "a":"<"} '), '{"b":1.0,"a":"\\u003c"}'],
  ])('given the payload %j, then it is %s', (payload, expected) => {
    expect(payloadOf(payload)).toBe(expected);
  });

  test('given raw text that is no JSON, then it is refused', () => {
    expect(() => payloadOf(rawJson('{'))).toThrow(InvalidArgumentError);
  });
});

describe('what we understand of an event', () => {
  test('given a text that is thousands of lists deep instead, then it says so and does not fail', () => {
    const deep = '['.repeat(9990) + ']'.repeat(9990);

    expect(viewEvent(anEvent('message', `{"role":"user","content":${deep}}`))).toMatchObject({
      role: 'user',
      content: '(nested too deep to show)',
    });
  });

  test.each([
    ['message', '{"role":"user","content":"hi"}', { type: 'message', role: 'user', content: 'hi', answers: [] }],
    ['message', '{"role":"ask_user_answers","answers":["a",{"b":1}]}', { type: 'message', answers: ['a', '{"b":1}'] }],
    ['message', '{"content":{"parts":[1]}}', { type: 'message', content: '{"parts":[1]}' }],
    [
      'tool_call',
      '{"id":"c","name":"n","arguments":"{}"}',
      { type: 'tool_call', callId: 'c', name: 'n', arguments: '{}' },
    ],
    [
      'tool_result',
      '{"toolCallId":"c","status":"ok","truncated":true,"changedFiles":["a"]}',
      { callId: 'c', truncated: true, changedFiles: ['a'] },
    ],
    [
      'permission',
      '{"permission":"write","toolName":"t"}',
      { type: 'permission', name: 'permission', action: 'write', tool: 't' },
    ],
    [
      'permission_decision',
      '{"action":"allow","name":"t"}',
      { name: 'permission_decision', action: 'allow', tool: 't' },
    ],
    [
      'provider_usage',
      '{"promptTokens":1,"completionTokens":2,"totalTokens":3}',
      { type: 'usage', prompt: 1, completion: 2, total: 3 },
    ],
    ['error', '{"message":"no"}', { type: 'error', message: 'no' }],
    ['session_checkpoint', '{"tool":"t","files":[]}', { type: 'checkpoint', tool: 't', files: [] }],
    ['session_checkpoint', '{"files":1}', { type: 'other', name: 'session_checkpoint' }],
    [
      'session_rewind',
      '{"targetSequence":3,"report":{"filesRestored":1,"filesDeleted":2,"skipped":["a"]},"rewindId":"R","undoes":"U"}',
      { target: 3, restored: 1, deleted: 2, skipped: ['a'], rewindId: 'R', undoes: 'U' },
    ],
    [
      'session_compaction',
      '{"summary":"S","compactableCount":1,"preservedCount":2}',
      { type: 'compaction', summary: 'S', compacted: 1, preserved: 2 },
    ],
    [
      'session_fork',
      '{"parentSessionId":"p","forkedFromSequence":4,"copiedEventCount":3}',
      { type: 'fork', parent: 'p', sequence: 4, copied: 3 },
    ],
    [
      'session_child',
      '{"parentSessionId":"p","childSessionId":"c","agentName":"a","prompt":"x"}',
      { type: 'child', parent: 'p', child: 'c', agent: 'a', prompt: 'x' },
    ],
    ['from_tomorrow', '{"a":1}', { type: 'other', name: 'from_tomorrow' }],
  ])('given %s with %s, then it is %j', (type, payload, view) => {
    expect(viewEvent(anEvent(type, payload))).toMatchObject(view);
  });

  test('given any type with any payload, then it never fails', () => {
    const types = ['message', 'tool_call', 'tool_result', 'permission', 'session_checkpoint', 'session_rewind', 'x'];
    fc.assert(
      fc.property(fc.constantFrom(...types), fc.option(anyPayload, { nil: undefined }), (type, payload) => {
        expect(viewEvent({ ...anEvent(type), payload: payload as RawJson | undefined })).toHaveProperty('type');
      }),
    );
  });
});

describe('the reference to an event', () => {
  test('given an event, then all but its payload and session is in it', () => {
    expect(refOf(anEvent('message'))).toEqual({
      id: 's:1',
      sequence: 1,
      type: 'message',
      createdAt: '2026-07-09T11:00:00Z',
    });
  });
});

function tornOf(line: string): boolean | undefined {
  try {
    parseEventLine(bytes(line));
    return undefined;
  } catch (error) {
    return error instanceof MalformedLineError ? error.torn : undefined;
  }
}

function bytesTrimmed(json: Uint8Array): Uint8Array {
  const isSpace = (byte: number): boolean => [0x20, 0x09, 0x0d, 0x0a].includes(byte);
  const start = json.findIndex((byte) => !isSpace(byte));
  return json.slice(start, json.findLastIndex((byte) => !isSpace(byte)) + 1);
}
