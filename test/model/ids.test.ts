import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidIdError } from '../../src/errors.js';
import {
  eventIdOf,
  parseBlobHash,
  parseNewSessionId,
  parseSessionId,
  sessionIdOfFolder,
  trimSpace,
  validSessionId,
} from '../../src/model/ids.js';

/** The characters with the Unicode property White_Space, all 25 of them. */
const WHITE_SPACE = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ...Array.from({ length: 11 }, (_, at) => 0x2000 + at),
].map((code) => String.fromCharCode(code));
const FIRST = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const anId = fc
  .tuple(fc.constantFrom(...FIRST), fc.array(fc.constantFrom(...FIRST, '-', '_'), { maxLength: 127 }))
  .map(([first, rest]) => first + rest.join(''));
const space = fc.array(fc.constantFrom(...WHITE_SPACE), { maxLength: 4 }).map((characters) => characters.join(''));

describe('trimSpace', () => {
  test.each(WHITE_SPACE.map((character) => [`U+${character.charCodeAt(0).toString(16)}`, character]))(
    'given %s at both ends, then it is taken off',
    (_, character) => {
      expect(trimSpace(`${character}a${character}b${character}`)).toBe(`a${character}b`);
    },
  );

  test.each(['\ufeff', '\u200b', '\u2060', '\u180e', '\0'])('given %j at an end, then it stays', (character) => {
    expect(trimSpace(`${character}a${character}`)).toBe(`${character}a${character}`);
  });

  test('given nothing but space, then nothing is left', () => {
    expect(trimSpace(WHITE_SPACE.join(''))).toBe('');
  });
});

describe('a session id', () => {
  test('given any well-formed one in any space, then it is the trimmed one', () => {
    fc.assert(
      fc.property(space, anId, space, (before, id, after) => {
        expect(parseSessionId(before + id + after)).toBe(id);
        expect(validSessionId(before + id + after)).toBe(true);
      }),
    );
  });

  test('given any text at all, then it is valid exactly when it can be parsed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string(), anId), (text) => {
        let parsed: string | undefined;
        try {
          parsed = parseSessionId(text);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidIdError);
        }

        expect(validSessionId(text)).toBe(parsed !== undefined);
        if (parsed !== undefined) expect(sessionIdOfFolder(parsed)).toBe(parsed);
      }),
    );
  });

  test.each([
    ...['', ' ', '.', '..', 'a/b', 'a\\b', '-a', '_a', 'a b', 'a\nb', 'a\0', '\0', 'é', 'а', 'a.b', '.zs', '.zs-new-x'],
    ...['a:1', 'a*', '~', '$HOME', '../x', '/etc', 'a/', 'C:', '\ufeffa', 'a\u200b', 'ａ', 'a'.repeat(129)],
  ])('given %j, then it is refused', (text) => {
    expect(() => parseSessionId(text)).toThrow(InvalidIdError);
  });

  test.each(['a'.repeat(128), '0', 'A-_'])('given %j, then it is taken', (text) => {
    expect(parseSessionId(text)).toBe(text);
  });
});

describe('the id of a session that is to be made', () => {
  test.each(['CON', 'nul', 'Aux', 'PRN', 'com1', 'COM9', 'lpt1', 'LPT9', ' con '])(
    'given the device name %j, then it is refused though its form is valid',
    (text) => {
      expect(validSessionId(text)).toBe(true);
      expect(() => parseNewSessionId(text)).toThrow(InvalidIdError);
    },
  );

  test.each(['CON1', 'COM0', 'COM10', 'LPT', 'console', 'xNUL'])('given %j, then it is taken', (text) => {
    expect(parseNewSessionId(text)).toBe(text);
  });
});

describe('the name of a folder', () => {
  test.each([' a', 'a ', '.zs-locks', 'a.b', ''])('given %j, then it is no id: names are not trimmed', (name) => {
    expect(sessionIdOfFolder(name)).toBeUndefined();
  });
});

describe('a blob hash', () => {
  const hash = '0123456789abcdef'.repeat(4);

  test('given 64 lower-case hex digits, then it is one', () => {
    expect(parseBlobHash(hash)).toBe(hash);
  });

  test.each([hash.slice(1), `${hash}0`, hash.toUpperCase(), `../../${hash}`, `${hash}\n`, ''])(
    'given %j, then it is none',
    (text) => {
      expect(parseBlobHash(text)).toBeUndefined();
    },
  );
});

describe('the id of an event', () => {
  test('given a session and a sequence, then both are in it', () => {
    expect(eventIdOf('s', 12)).toBe('s:12');
  });
});
