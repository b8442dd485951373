import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rawJsonText } from '../../src/model/json.js';
import {
  changeMetadata,
  encodeMetadata,
  integerText,
  isResumableKind,
  MalformedMetadataError,
  newMetadataDocument,
  parseMetadata,
} from '../../src/model/metadata.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (members: object | string) =>
  parseMetadata(bytes(typeof members === 'string' ? members : JSON.stringify(members)));
const encoded = (document: ReturnType<typeof parse>): string => rawJsonText(encodeMetadata(document));

const TIMES = { createdAt: '2026-07-09T10:00:00Z', updatedAt: '2026-07-09T11:00:00Z' };
const FULL = {
  sessionId: 's',
  sessionKind: 'fork',
  title: 't <&>',
  cwd: '/w',
  modelId: 'm',
  provider: 'p',
  tag: 'g',
  depth: 1,
  parentSessionId: 'a',
  rootSessionId: 'b',
  agentName: 'c',
  taskId: 'd',
  forkedFromEventId: 'a:1',
  forkedFromSequence: 1,
  spawnedFromEventId: 'a:2',
  spawnedFromSequence: 2,
  specId: '1',
  specFilePath: '2',
  specStatus: 'draft',
  specDraftModelId: '3',
  specDraftReasoning: '4',
  specUserComment: '5',
  specRejectReason: '6',
  specSourceSessionId: '7',
  specImplSessionId: '8',
  goal: {
    objective: 'o',
    status: 'active',
    statusReason: 'r',
    tokenBudget: 9,
    tokensUsed: 1,
    continuationCount: 2,
    continuationLimit: 3,
    ...TIMES,
  },
  ...TIMES,
  eventCount: 5,
  lastEventType: 'message',
};

/** Any JSON that can stand as the value of an unknown member, in any spelling. */
const anyValue = fc.oneof(
  fc.json(),
  fc.constantFrom('1.0', '9007199254740993', '1e400', '{ "b":1,\n "a":"\\u003c\\/" }', '{"x":1,"x":2}', '"\\ud800"'),
);
const unknownName = fc.string({ minLength: 1 }).filter((name) => !(name in FULL) && name.isWellFormed());

describe('metadata that are written', () => {
  test('given every member, then they stand in the order of the format, two spaces in, with a newline at the end', () => {
    const shuffled = Object.fromEntries(Object.entries(FULL).reverse());

    expect(encoded(parse(shuffled))).toBe(`${JSON.stringify(FULL, null, 2).replace('<&>', '\\u003c\\u0026\\u003e')}\n`);
  });

  test('given empty members, then they are left out, but for those that are always there', () => {
    const empty = { sessionId: '', title: '', depth: 0, tag: null, createdAt: '', updatedAt: '', eventCount: 0 };

    expect(JSON.parse(encoded(parse(empty)))).toEqual({ sessionId: '', createdAt: '', updatedAt: '', eventCount: 0 });
  });

  test('given unknown members of any spelling, then they survive byte for byte and in their order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(unknownName, anyValue), { selector: ([name]) => name }), (unknown) => {
        const members = unknown.map(([name, value]) => `${JSON.stringify(name)}:${value}`);
        const text = `{${['"sessionId":"s"', ...members].join(',')}}`;

        const document = parse(encoded(changeMetadata(parse(text), { title: 'new' })));

        expect(document.metadata.title).toBe('new');
        expect([...document.unknown].map(([name, value]) => [name, rawJsonText(value)])).toEqual(
          unknown.map(([name, value]) => [name, value.trim()]),
        );
      }),
    );
  });

  test('given unknown members in the goal, then they survive, too', () => {
    const document = changeMetadata(parse({ ...FULL, goal: { ...FULL.goal, mood: [1.5] } }), { title: 'new' });

    expect(JSON.parse(encoded(document)).goal).toEqual({ ...FULL.goal, mood: [1.5] });
  });

  test('given what was written, then it reads back and is written again as it was', () => {
    const once = encoded(parse(FULL));

    expect(encoded(parse(once))).toBe(once);
  });

  test.each([
    ['9007199254740991', '9007199254740991'],
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9007199254740993', '9007199254740993'],
  ])('finding 32: given the depth %s, then %s is written, which Zero can read', (depth, written) => {
    expect(encoded(parse(`{"sessionId":"s","depth":${depth}}`))).toContain(`"depth": ${written},`);
  });

  test('finding 32: given digits that a number cannot hold, then they stay with it, and go with a new number', () => {
    const document = parse('{"sessionId":"s","eventCount":9007199254740993,"goal":{"tokensUsed":9007199254740995}}');

    expect(integerText(document.metadata, 'eventCount')).toBe('9007199254740993');
    expect(encoded(changeMetadata(document, { title: 'T' }))).toMatch(/40995[\s\S]*"eventCount": 9007199254740993/);
    expect(changeMetadata(document, { eventCount: 7 }).metadata.exact).toBeUndefined();
  });

  test('given a count that is beyond all numbers, then the largest that Zero can read is written', () => {
    const document = changeMetadata(parse('{"sessionId":"s"}'), { eventCount: Number.POSITIVE_INFINITY });

    expect(encoded(document)).toContain('"eventCount": 9223372036854775807');
  });

  test('given a name that every object has, then it is an unknown member like any other', () => {
    const document = parse('{"sessionId":"s","__proto__":{"title":"x"},"constructor":1}');

    expect(document.metadata.title).toBeUndefined();
    expect([...document.unknown.keys()]).toEqual(['__proto__', 'constructor']);
    expect(encoded(document)).toContain('"__proto__": {"title":"x"}');
  });
});

describe('metadata that are read', () => {
  test('given members that are null or left out, then they are empty', () => {
    expect(parse('{"sessionId":"s","title":null}').metadata).toEqual({
      sessionId: 's',
      createdAt: '',
      updatedAt: '',
      eventCount: 0,
    });
  });

  test('given another case of a name, then it is another name', () => {
    expect([...parse('{"sessionId":"s","Title":"x"}').unknown.keys()]).toEqual(['Title']);
  });

  test.each([
    ...['', ' ', '{', 'null', '[]', '"s"', '\0\0', '\ufeff{}', '{}{}'],
    ...[
      '{"sessionId":1}',
      '{"title":[]}',
      '{"eventCount":"1"}',
      '{"eventCount":3.0}',
      '{"depth":1e2}',
      '{"depth":9223372036854775808}',
      '{"depth":true}',
    ],
    ...['{"goal":[]}', '{"goal":"x"}', '{"goal":{"objective":1}}', '{"goal":{"tokenBudget":"9"}}', '{"createdAt":1}'],
  ])('given %j, then they are malformed', (text) => {
    expect(() => parse(text)).toThrow(MalformedMetadataError);
  });
});

describe('changed metadata', () => {
  test.each([undefined, ''])('given %j for a text, then the member is taken out', (title) => {
    expect(changeMetadata(parse(FULL), { title }).metadata).not.toHaveProperty('title');
  });

  test('given 0 for a number, then the member is taken out, but never the count of events', () => {
    const { metadata } = changeMetadata(parse(FULL), { depth: 0, eventCount: 0 });

    expect(metadata).not.toHaveProperty('depth');
    expect(metadata.eventCount).toBe(0);
  });

  test('given a document that was never on disk, then nothing is unknown in it', () => {
    const { metadata, unknown } = newMetadataDocument({ ...TIMES, sessionId: 's', eventCount: 0, title: '' });

    expect(metadata).toEqual({ sessionId: 's', ...TIMES, eventCount: 0 });
    expect(unknown.size).toBe(0);
  });
});

describe('a kind of session', () => {
  test('given none or a fork, then it can be resumed on its own, and no other can', () => {
    const kinds = [undefined, '', 'fork', 'child', 'side', 'spec-draft', 'spec-impl', 'from-tomorrow'];

    expect(kinds.map(isResumableKind)).toEqual([true, true, true, false, false, false, false, false]);
  });
});
