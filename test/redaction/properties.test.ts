import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactJson, redactJsonBytes, redactText } from '../../src/redaction/redaction.js';

// Texts made of what the scanners look for: characters alone would hardly ever meet them.
const RANDOM = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0zC';
const PIECES = (
  'password token secret apiKey max_tokens API key Authorization Cookie x-api-key --password -u curl Bearer Basic ' +
  'string process.env.A $A <a> [REDACTED] *** user https:// postgres:// a:b@c hunter2 12345678 a b.c é 日 _ - ' +
  `= : := => == ? & , ; . ( ) [ ] { } ' " \` \\ \\" \\n \\\\" \\u002d / @ # % | < > </ ! {"a": "b"} ["x"]`
)
  .split(' ')
  .concat([
    '${' + 'A}',
    ' ',
    ' ',
    '\n',
    '\t',
    RANDOM,
    `${'gh'}p_${RANDOM}12`,
    `sk${'-'}${RANDOM}`,
    `sk${'-'}ant${'-'}${RANDOM}`,
  ])
  .concat([`${'ey'}J${RANDOM}.${'ey'}J${RANDOM}.${RANDOM}`, '-----', `${'-----'}BEGIN PRIVATE KEY-----`, '-----END '])
  .concat([`${'AK'}IAQ7ZK2MX9PB4TW8RV`, `hooks.slack${'.com'}/services/`, `xo${'xb'}-1234567890-a`]);
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 24 }).map((pieces) => pieces.join(''));
const { value: jsonValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('password', 'token', 'name', 'value', 'type')), tie('value'), {
      maxKeys: 4,
    }),
    tie('value').map((value) => JSON.stringify(value)),
  ),
}));
const json = fc.tuple(jsonValue, fc.constantFrom(undefined, 1, '\t')).map(([value, indent]) => {
  return JSON.stringify(value, undefined, indent);
});
const RUNS = { numRuns: 3000 };

describe('redactText', () => {
  test('given what it hid already, then it changes nothing', () => {
    fc.assert(
      fc.property(text, (sample) => {
        const once = redactText(sample);
        expect(redactText(once)).toBe(once);
      }),
      RUNS,
    );
  });

  test('given any text, then what it shows around the secrets is the text in its order', () => {
    fc.assert(
      fc.property(text, (sample) => {
        fc.pre(!/^\s*[[{]/.test(sample)); // in JSON a number can become a string
        let from = 0;
        for (const kept of redactText(sample).split('[REDACTED]')) {
          const at = sample.indexOf(kept, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + kept.length;
        }
      }),
      RUNS,
    );
  });
});

describe('redactJson', () => {
  test('given valid JSON, then only strings and numbers change, and it stays valid', () => {
    fc.assert(
      fc.property(json, (sample) => {
        const shown = redactJson(sample);
        expect(() => JSON.parse(shown)).not.toThrow();
        expect(withoutScalars(shown)).toBe(withoutScalars(sample));
      }),
      RUNS,
    );
  });

  test('given what it hid already, then it changes nothing', () => {
    fc.assert(
      fc.property(json, (sample) => {
        const once = redactJson(sample);
        expect(redactJson(once)).toBe(once);
      }),
      RUNS,
    );
  });

  test('given the same JSON as bytes, then the bytes are those of its text', () => {
    const encoder = new TextEncoder();
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    fc.assert(
      fc.property(json, (sample) => {
        expect(decoder.decode(redactJsonBytes(encoder.encode(sample)))).toBe(redactJson(sample));
      }),
      RUNS,
    );
  });
});

/** What is left of a JSON text: its brackets, commas and spaces. */
function withoutScalars(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, '""');
}
