import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../src/errors.js';
import {
  compactJson,
  compareCodePoints,
  encodeJson,
  encodeRecord,
  encodeString,
  isJson,
  isRecord,
  parseRawJson,
  rawItems,
  rawJson,
  rawJsonText,
  rawMembers,
  rawMemberValues,
} from '../../src/model/json.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: unknown): string => rawJsonText(encodeJson(value));

describe('encodeString', () => {
  test.each([
    ['<&>', '"\\u003c\\u0026\\u003e"'],
    ['\u2028\u2029', '"\\u2028\\u2029"'],
    ['"\\/', '"\\"\\\\/"'],
    ['\b\f\n\r\t', '"\\b\\f\\n\\r\\t"'],
    ['\0\u001f\u007f', '"\\u0000\\u001f\u007f"'],
    ['é𝄞', '"é𝄞"'],
    ['a\ud800b', '"a\ufffdb"'],
  ])('given %j, then it is spelt as Zero does', (value, spelt) => {
    expect(encodeString(value)).toBe(spelt);
  });

  test('given any text, then a parser reads it back, lone surrogates as U+FFFD', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(JSON.parse(encodeString(value))).toBe(value.toWellFormed());
      }),
    );
  });
});

describe('encodeJson', () => {
  test('given an object, then its names stand in byte order', () => {
    expect(text({ '\u{10000}': 1, '\uffff': 2, b: 3, B: 4, '10': 5, '9': 6, a: { d: 1, c: 2 } })).toBe(
      '{"10":5,"9":6,"B":4,"a":{"c":2,"d":1},"b":3,"\uffff":2,"\u{10000}":1}',
    );
  });

  test('given a record, then its names stand in the order given', () => {
    expect(rawJsonText(encodeRecord({ b: 1, a: { d: 1, c: 2 } }))).toBe('{"b":1,"a":{"d":1,"c":2}}');
  });

  test.each([
    [1e21, '1e+21'],
    [1e-7, '1e-7'],
    [0.1, '0.1'],
    [-0, '-0'],
    [123456789012345680000, '123456789012345680000'],
    [9007199254740993n, '9007199254740993'],
  ])('given the number %s, then it is spelt shortest', (value, spelt) => {
    expect(text(value)).toBe(spelt);
  });

  test('given a member that is undefined, then it is left out', () => {
    expect(text({ a: undefined, b: null })).toBe('{"b":null}');
  });

  test('given raw JSON inside, then it keeps its spelling', () => {
    expect(text({ a: rawJson('{"z":1.0, "a":9007199254740993}') })).toBe('{"a":{"z":1.0,"a":9007199254740993}}');
  });

  test('given a date, then it is what it is in JSON', () => {
    expect(text({ at: new Date('2026-07-09T12:00:00Z') })).toBe('{"at":"2026-07-09T12:00:00.000Z"}');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, () => 1, Symbol('x'), undefined])(
    'given %s, then it is refused',
    (value) => {
      expect(() => encodeJson([value])).toThrow(InvalidArgumentError);
    },
  );

  test('given more than 1,000 levels, then it is refused, and 1,000 are not', () => {
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < depth; level += 1) value = [value];
      return value;
    };

    expect(text(nested(1000))).toHaveLength(2001);
    expect(() => encodeJson(nested(1001))).toThrow(InvalidArgumentError);
    expect(() => encodeJson(nested(100_000))).toThrow(InvalidArgumentError);
  });

  test('given any JSON value, then a parser reads it back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(parseRawJson(encodeJson(value))).toEqual(value);
      }),
    );
  });
});

describe('compactJson', () => {
  const compact = (json: string): string => rawJsonText(compactJson(bytes(json)));

  test.each([
    [' { "b" : 1 , "a" : [ 1.0 , 1E400 ,\n-0 ] }\t', '{"b":1,"a":[1.0,1E400,-0]}'],
    ['{"a":" < > & \u2028\u2029 "}', '{"a":" \\u003c \\u003e \\u0026 \\u2028\\u2029 "}'],
    ['"\\u003c\\/\\ud800\\"\\\\"', '"\\u003c\\/\\ud800\\"\\\\"'],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
    ['"\u2027\u202a"', '"\u2027\u202a"'],
  ])('given %j, then it is %j', (json, expected) => {
    expect(compact(json)).toBe(expected);
  });

  test('given invalid UTF-8 in a string, then its bytes stay', () => {
    const json = new Uint8Array([0x22, 0xff, 0xe2, 0x80, 0x22]);

    expect(compactJson(json)).toEqual(json);
  });

  test.each(['', ' ', '{', '{"a"}', '1 2', '{}{}', 'nul', "{'a':1}", '[1,]', '\ufeff{}', '"a\nb"'])(
    'given %j, then it is refused',
    (json) => {
      expect(() => compact(json)).toThrow(InvalidArgumentError);
    },
  );

  test('given more than 1,000 levels, then it is refused, and 1,000 are not', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

    expect(compact(nested(1000))).toHaveLength(2000);
    expect(() => compact(nested(1001))).toThrow(InvalidArgumentError);
  });

  test('given any JSON with any space, then its value stays and no space is left between tokens', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\t', '\n', '\r\n'), (value, indent) => {
        const spaced = JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);

        expect(parseRawJson(compactJson(bytes(spaced)))).toEqual(JSON.parse(spaced));
        expect(compactJson(compactJson(bytes(spaced)))).toEqual(compactJson(bytes(JSON.stringify(value))));
      }),
    );
  });
});

describe('rawMembers', () => {
  test('given an object of any layout, then each value has the bytes that it had', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, 2, '\t'),
        (object, indent) => {
          const json = bytes(` ${JSON.stringify(object, null, indent)}\n`);

          const members = rawMembers(json) ?? [];

          expect(members.map(({ name, start, end }) => [name, parseRawJson(json.subarray(start, end))])).toEqual(
            Object.entries(JSON.parse(JSON.stringify(object)) as object),
          );
        },
      ),
    );
  });

  test('given a name that stands twice, then both are given, and the last value counts', () => {
    const json = bytes('{"a":1,"\\u0061":2}');

    expect(rawMembers(json)?.map(({ name }) => name)).toEqual(['a', 'a']);
    expect(rawJsonText(rawMemberValues(json)?.get('a') ?? rawJson(''))).toBe('2');
  });

  test('given 10,000 levels, then they are passed over', () => {
    const deep = `${'{"a":['.repeat(5000)}1${']}'.repeat(5000)}`;

    const values = rawMemberValues(bytes(`{"deep":${deep},"next":"]}"}`));

    expect(values?.get('deep')).toHaveLength(deep.length);
    expect(rawJsonText(values?.get('next') ?? rawJson(''))).toBe('"]}"');
  });

  test('given braces and quotes in strings, then they end nothing', () => {
    const json = bytes('{"a":"}\\"]","b":["\\\\"],"c":{}}');

    expect([...(rawMemberValues(json) ?? [])].map(([name, value]) => [name, rawJsonText(value)])).toEqual([
      ['a', '"}\\"]"'],
      ['b', '["\\\\"]'],
      ['c', '{}'],
    ]);
  });

  test('given the name __proto__, then it is a name like any other', () => {
    expect(rawMemberValues(bytes('{"__proto__":1}'))?.get('__proto__')).toEqual(rawJson('1'));
  });

  test.each(['[]', '1', '"{}"', 'null'])('given %s, then there are none', (json) => {
    expect(rawMembers(bytes(json))).toBeUndefined();
  });

  test('given an empty object, then the list is empty', () => {
    expect(rawMembers(bytes(' { } '))).toEqual([]);
  });
});

describe('rawItems', () => {
  test('given a list of any layout, then each item has the bytes that it had', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2), (list, indent) => {
        const items = rawItems(bytes(JSON.stringify(list, null, indent)));

        expect(items?.map(parseRawJson)).toEqual(JSON.parse(JSON.stringify(list)));
      }),
    );
  });

  test('given anything else, then there are none', () => {
    expect(rawItems(bytes('{"a":[]}'))).toBeUndefined();
  });
});

describe('isJson', () => {
  test('given any bytes, then a plain parser agrees, whatever stands in strings', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((json) => json.slice(1)),
        ),
        (json) => {
          let parsed = true;
          try {
            JSON.parse(json);
          } catch {
            parsed = false;
          }

          expect(isJson(bytes(json))).toBe(parsed);
        },
      ),
    );
  });

  test('given 10,000 levels, then it is', () => {
    expect(isJson(bytes('['.repeat(10_000) + ']'.repeat(10_000)))).toBe(true);
  });

  test('given space that JSON does not have, then it is not', () => {
    expect(isJson(new Uint8Array([0xa0, 0x31]))).toBe(false);
  });
});

describe('compareCodePoints', () => {
  test('given any two texts, then they are in the order of their UTF-8 bytes', () => {
    const wellFormed = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(wellFormed, wellFormed, (a, b) => {
        expect(Math.sign(compareCodePoints(a, b))).toBe(compareBytes(bytes(a), bytes(b)));
      }),
    );
  });

  test('given a text that begins with the other, then the shorter one is first', () => {
    expect(compareCodePoints('a', 'ab')).toBeLessThan(0);
    expect(compareCodePoints('a', 'a')).toBe(0);
  });
});

describe('isRecord', () => {
  test('given an object, then it is; a list and null are not', () => {
    expect([{}, [], null, 'a'].map(isRecord)).toEqual([true, false, false, false]);
  });
});

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index]);
  const difference = at < 0 ? a.length - b.length : (a[at] ?? -1) - (b[at] ?? -1);
  return Math.sign(difference);
}
