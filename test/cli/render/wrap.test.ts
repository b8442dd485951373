import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayWidth } from '../../../src/cli/render/width.js';
import { wrapLine } from '../../../src/cli/render/wrap.js';

describe('wrapLine', () => {
  test.each([
    ['', 10, ['']],
    ['short', 10, ['short']],
    ['one two three', 7, ['one two', 'three']],
    ['one two', 3, ['one', 'two']],
    ['abcdefgh', 3, ['abc', 'def', 'gh']],
    ['a bcdefgh', 3, ['a', 'bcd', 'efg', 'h']],
    ['    indented text here', 14, ['    indented', 'text here']],
    ['日本語の文', 4, ['日本', '語の', '文']],
    ['two  spaces', 6, ['two ', 'spaces']],
  ])('given %j in %i columns, then %j', (line, width, lines) => {
    expect(wrapLine(line, width)).toEqual(lines);
  });

  test('given any words, then no line is wider than it may be, and no word is lost', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abc日e\u0301👩'), maxLength: 12 });
    void fc.assert(
      fc.property(fc.array(word), fc.integer({ min: 2, max: 30 }), (words, width) => {
        const line = words.join(' ');
        const lines = wrapLine(line, width);

        expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
      }),
    );
  });
});
