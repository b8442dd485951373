import { describe, expect, test } from 'vitest';
import { safeLines, safeText } from '../../../src/cli/render/safe-text.js';

describe('one line of text', () => {
  test.each([
    ['a CSI sequence', '\u001b[31mred', '\\u{1b}[31mred'],
    ['OSC 52, the clipboard', '\u001b]52;c;aGk=\u0007', '\\u{1b}]52;c;aGk=\\u{7}'],
    ['OSC 8, a link', '\u001b]8;;http://x\u001b\\y', '\\u{1b}]8;;http://x\\u{1b}\\y'],
    ['a one-byte CSI', '\u009b2J', '\\u{9b}2J'],
    ['TAB, LF and CR', 'a\tb\nc\rd', 'a\\tb\\nc\\rd'],
    ['BS, BEL, NUL and DEL', '\b\u0007\0\u007f', '\\u{8}\\u{7}\\u{0}\\u{7f}'],
    ['a right-to-left override', 'exe\u202egpj', 'exe\\u{202e}gpj'],
    ['an isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
    ['bidi marks', '\u200e\u200f\u061c', '\\u{200e}\\u{200f}\\u{61c}'],
    ['zero-width characters', 'a\u200bb\u2060c\ufeffd', 'a\\u{200b}b\\u{2060}c\\u{feff}d'],
    ['line and paragraph separators', '\u2028\u2029', '\\u{2028}\\u{2029}'],
    ['interlinear annotation', '\ufff9a\ufffb', '\\u{fff9}a\\u{fffb}'],
    ['tags', 'a\u{e0041}\u{e007f}', 'a\\u{e0041}\\u{e007f}'],
    ['unpaired surrogates', 'a\ud83db\udc4d', 'a\\u{d83d}b\\u{dc4d}'],
    ['invisible fillers', 'a\u3164b\u115f\u00ad', 'a\\u{3164}b\\u{115f}\\u{ad}'],
  ])('given %s, then it is shown, not obeyed', (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test.each([
    'plain ASCII, C:\\new\\table',
    'Grüße, 会话 한국어 שלום สวัสดี',
    'family 👨‍👩‍👧, heart ❤️, keycap 1️⃣, pilot 👩🏽‍✈️, flag 🏳️‍🌈 🇩🇪',
    'می‌خواهم', // Persian needs its non-joiner
    'ශ්‍රී', // and Sinhala its joiner
    '葛\u{e0100}',
  ])('given writing that terminals draw (%s), then it comes back as it is', (text) => {
    expect(safeText(text)).toBe(text);
  });

  test.each([
    ['a joiner between letters', 'a\u200db', 'a\\u{200d}b'],
    ['a joiner at the end of an emoji', '👨\u200d', '👨\\u{200d}'],
    ['a selector after a letter', 'a\ufe0f', 'a\\u{fe0f}'],
    ['a run of selectors', '👍\ufe0f\ufe0e', '👍\ufe0f\\u{fe0e}'],
    ['a selector that begins the text', '\u{e0100}', '\\u{e0100}'],
  ])('given %s, then it is shown', (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test('given text that is safe already, then nothing changes the second time', () => {
    const once = safeText('\u001b[31m\u202e\t👨‍👩‍👧\ud800');

    expect(safeText(once)).toBe(once);
  });
});

describe('text of many lines', () => {
  test('given LF and CRLF, then each ends a line and a lone CR is shown', () => {
    expect(safeLines('a\nb\r\nc\rd\u001b')).toEqual(['a', 'b', 'c\\rd\\u{1b}']);
  });

  test('given a newline at the end, then no empty line follows; given an empty text, then there are no lines', () => {
    expect(safeLines('a\n\nb\n')).toEqual(['a', '', 'b']);
    expect(safeLines('')).toEqual([]);
  });

  test('given tabs, then they reach to the next of every eighth column, as the text before them is wide', () => {
    expect(safeLines('\ta\tb\n会\tc\n12345678\td')).toEqual([
      '        a       b',
      '会      c',
      `12345678${' '.repeat(8)}d`,
    ]);
  });

  test('given a long line of tabs and escapes, then each is drawn, in one pass over the line', () => {
    const [line] = safeLines('\t\u001b'.repeat(200_000));

    expect(line).toBe(`        \\u{1b}${'  \\u{1b}'.repeat(199_999)}`);
  });
});
