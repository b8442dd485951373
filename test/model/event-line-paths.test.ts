import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEventLine } from '../../src/model/event-codec.js';
import { rawJsonText } from '../../src/model/json.js';

const head = '{"id":"s:1","sessionId":"s","sequence":1,"type":"message","createdAt":"2026-07-09T12:00:00Z"';

describe('a line of the usual layout', () => {
  test('given any payload, then it reads as the same line in another order of members does', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '  \t'), (payload, space) => {
        const usual = parseEventLine(bytes(`${head},"payload":${space}${payload}${space}}`));
        const other = parseEventLine(bytes(`{"payload":${space}${payload}${space},${head.slice(1)}}`));

        expect(usual).toEqual(other);
        expect(rawJsonText(usual.payload as Uint8Array)).toBe(payload.trim());
      }),
    );
  });

  test.each([
    ['a member behind the payload', `${head},"payload":{"a":1},"traceId":"x"}`, '{"a":1}'],
    ['a second payload', `${head},"payload":1,"payload":2}`, '2'],
    ['a second sequence', `${head},"payload":1,"sequence":7}`, '1'],
    ['braces in a text', `${head},"payload":"}"}`, '"}"'],
  ])('given %s, then the payload is what JSON says', (_what, line, payload) => {
    expect(rawJsonText(parseEventLine(bytes(line)).payload as Uint8Array)).toBe(payload);
  });

  test('given a second sequence, then the last counts', () => {
    expect(parseEventLine(bytes(`${head},"payload":1,"sequence":7}`)).sequence).toBe(7);
  });

  test.each([`${head},"payload":}`, `${head},"payload":{}`, `${head},"payload":{}}}`, `${head},"payload":1 2}`])(
    'given %s, then it is malformed',
    (line) => {
      expect(() => parseEventLine(bytes(line))).toThrow();
    },
  );

  test('given bytes of Node and plain bytes, then both read alike', () => {
    const line = `${head},"payload":{"text":"h\u00e9llo \u2028 \\u00e9"}}`;

    expect(parseEventLine(Buffer.from(line))).toEqual(parseEventLine(bytes(line)));
  });
});

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
