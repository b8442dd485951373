import { describe, expect, test } from 'vitest';
import { displayWidth, padToWidth, truncateToWidth } from '../../../src/cli/render/width.js';

describe('the width of a text', () => {
  test.each([
    ['', 0],
    ['plain', 5],
    ['Grüße', 5],
    ['会话', 4],
    ['カナ', 4],
    ['ｶﾅ', 2], // halfwidth
    ['ＡＢ', 4], // fullwidth
    ['한국어', 6],
    ['\u1112\u1161\u11ab', 2], // 한 in conjoining parts
    ['e\u0301', 1],
    ['か\u3099', 2], // a kana and its voicing mark
    ['สวัสดี', 4],
    ['א\u05b0ב', 2],
    ['👍', 2],
    ['👍🏽', 2],
    ['👨‍👩‍👧', 2],
    ['👩🏽‍🚀', 2],
    ['🏳️‍🌈', 2],
    ['🇩🇪🇫🇷', 4],
    ['🇩', 1],
    ['1️⃣', 2],
    ['❤️', 2],
    ['❤', 1],
    ['⌚', 2],
    ['a🏽', 3], // a tone with nothing to colour is a swatch of its own
    ['a\u200bb', 2],
    ['→ … ─ ·', 7],
    ['葛\u{e0100}', 2],
    ['𠮷', 2],
    ['a\u0007b\u009b', 2],
    ['a\ud800', 1],
  ])('given %j, then it takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('cutting to a width', () => {
  test.each([
    ['plain', 5, 'plain'],
    ['plain', 4, 'pla…'],
    ['plain', 1, '…'],
    ['plain', 0, ''],
    ['Fix the login', 9, 'Fix the…'], // no space before the mark
    ['会话标题', 8, '会话标题'],
    ['会话标题', 7, '会话标…'],
    ['会话标题', 6, '会话…'], // half a character is none
    ['ab👍🏽cd', 5, 'ab👍🏽…'],
    ['ab👍🏽cd', 4, 'ab…'],
    ['👨‍👩‍👧👨‍👩‍👧', 3, '👨‍👩‍👧…'],
    ['🇩🇪🇫🇷', 3, '🇩🇪…'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['\u1112\u1161\u11ab\u1112\u1161\u11ab', 3, '\u1112\u1161\u11ab…'],
  ])('given %j and %i columns, then it is %j', (text, width, cut) => {
    expect(truncateToWidth(text, width)).toBe(cut);
  });

  test('given another mark, then there is room for it', () => {
    expect(truncateToWidth('a long title', 7, '...')).toBe('a lo...');
  });

  test('given any width, then the result fits it and has no half of a pair', () => {
    const text = 'a👨‍👩‍👧会e\u0301🇩🇪👍🏽한 1️⃣z';
    for (let width = 0; width <= displayWidth(text) + 1; width += 1) {
      const cut = truncateToWidth(text, width);

      expect(displayWidth(cut)).toBeLessThanOrEqual(width);
      expect(cut.isWellFormed()).toBe(true);
    }
  });
});

describe('padding to a width', () => {
  test('given a narrower text, then spaces follow it, or go before it on the right', () => {
    expect(padToWidth('会', 4)).toBe('会  ');
    expect(padToWidth('12', 4, 'right')).toBe('  12');
  });

  test('given a wider text, then it stays', () => {
    expect(padToWidth('plain', 3)).toBe('plain');
  });
});
