import { describe, expect, test } from 'vitest';
import { redactJsonBytes } from '../../src/redaction/redaction.js';

const encoder = new TextEncoder();

/** Bytes of a text, with `~` for a byte that is no UTF-8. */
const bytesOf = (text: string) => encoder.encode(text).map((byte) => (byte === 0x7e ? 0xff : byte));

describe('redactJsonBytes', () => {
  test('given nothing to hide, then it gives the same array', () => {
    const payload = bytesOf('{ "a": "é~", "n": 1.0e2, "max_tokens": 5 }\n');

    expect(redactJsonBytes(payload)).toBe(payload);
  });

  test('given bytes that are no UTF-8 beside a secret, then they stay', () => {
    const payload = bytesOf('{"a~":"~é password=hun~ter2 ~","password":"~日"}');

    expect(redactJsonBytes(payload)).toEqual(bytesOf('{"a~":"~é password=[REDACTED] ~","password":"[REDACTED]"}'));
  });

  test('given a secret, then the stored bytes are untouched', () => {
    const payload = bytesOf('{"password":"hunter2"}');
    const before = payload.slice();

    redactJsonBytes(payload);

    expect(payload).toEqual(before);
  });

  test('given a part of a larger array, then only that part is read', () => {
    const whole = bytesOf('xx{"password":"hunter2"}yy');

    expect(redactJsonBytes(whole.subarray(2, -2))).toEqual(bytesOf('{"password":"[REDACTED]"}'));
  });

  test('given bytes that are no JSON, then they are redacted as text', () => {
    expect(redactJsonBytes(bytesOf('~ password=hunter2 ~'))).toEqual(bytesOf('~ password=[REDACTED] ~'));
  });

  test('given a byte order mark or all 256 bytes, then they stay', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const marked = Uint8Array.of(0xef, 0xbb, 0xbf, ...bytesOf('password=hunter2'));

    expect(redactJsonBytes(all)).toBe(all);
    expect(redactJsonBytes(marked)).toEqual(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytesOf('password=[REDACTED]')));
  });
});
