import { describe, expect, test } from 'vitest';
import { redactJson, redactJsonBytes, redactText } from '../../src/redaction/redaction.js';

// Each is the beginning of something that a scanner has to read on to tell.
const UNITS = [
  ...['?', 'a-', '-eyJ', '"a\\', '{"a":"{\\"a\\":', '{"a":[', '[', '\\', '\\u002d', '"', "'", '-', ' ', '\n', 'é'],
  ...['-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----\nAAAA\n', '-----END ', '://a:b'],
  ...[
    'https://',
    'https://a:',
    'postgres://a:b/',
    'curl -u ',
    'curl -u"a:',
    '--password ',
    '<password>',
    '<password>a',
  ],
  ...['xox', 'xoxb-%', 'sk-', 'ghp_', 'AKIA', 'SG.aaaaaaaaaaaaaaaa.', 'eyJaaaaaaaa.', 'hooks.slack.com/services/'],
  ...[
    'password=',
    'password="',
    `password="$\{`,
    'password=a(',
    `password=$\{`,
    'password=a,b',
    '"password":"\\',
    '"]:',
  ],
  ...['a=', 'a:', ' a b c=', '=', ':', '&', 'token=<a', 'password: str', 'password: str = ', 'token="$token="'],
  ...['Cookie: ', `Cookie: $\{a} `, 'x-a: ', 'Bearer ', 'Bearer a.', 'Basic aA1.', '[REDACTED]', 'password=[REDACTED]'],
];
const MEGABYTE = 1_000_000;

const filled = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length));

describe('redaction', () => {
  test.each(UNITS)('51. given twice as much of %j, then it reads about twice as much', (unit) => {
    const once = charactersRead(() => redactText(filled(unit, 10_000)));
    const twice = charactersRead(() => redactText(filled(unit, 20_000)));

    expect(once).toBeGreaterThanOrEqual(10_000);
    expect(twice / once).toBeLessThan(2.5);
  });

  test.each(['?', 'a-', '-eyJ', '"a\\', '-----BEGIN ', 'https://', 'xox', 'password=', '{"a":"{\\"a\\":', 'xoxb-%'])(
    '51. given a megabyte of %j, then text, JSON and bytes take less than a second each',
    (unit) => {
      const text = filled(unit, MEGABYTE);
      const json = JSON.stringify({ text });
      const bytes = new TextEncoder().encode(json);

      for (const redact of [() => redactText(text), () => redactJson(json), () => redactJsonBytes(bytes)]) {
        // The time of this process: what others do on the machine must not fail a test.
        const start = process.cpuUsage();
        redact();
        expect(process.cpuUsage(start).user / 1000).toBeLessThan(1000);
      }
    },
  );

  test('given JSON nested thousands of levels deep, then what it holds is found', () => {
    const nest = (inner: string) => `${'{"a":['.repeat(200_000)}${inner}${']}'.repeat(200_000)}`;

    expect(redactJson(nest('{"password":"a"}'))).toBe(nest('{"password":"[REDACTED]"}'));
  });
});

/** Counts the characters that string methods look at or copy while `work` runs: a clock that no other process moves. */
function charactersRead(work: () => void): number {
  const { charCodeAt, charAt, slice, indexOf } = String.prototype;
  let count = 0;
  Object.assign(String.prototype, {
    charCodeAt(this: string, at: number) {
      count += 1;
      return charCodeAt.call(this, at);
    },
    charAt(this: string, at: number) {
      count += 1;
      return charAt.call(this, at);
    },
    slice(this: string, from?: number, to?: number) {
      const part = slice.call(this, from, to);
      count += part.length;
      return part;
    },
    indexOf(this: string, search: string, from = 0) {
      const found = indexOf.call(this, search, from);
      count += (found < 0 ? this.length : found) - from;
      return found;
    },
  });
  try {
    work();
  } finally {
    Object.assign(String.prototype, { charCodeAt, charAt, slice, indexOf });
  }
  return count;
}
