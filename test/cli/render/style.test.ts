import { describe, expect, test } from 'vitest';
import { createStyle, wantsColor } from '../../../src/cli/render/style.js';

describe('whether to colour', () => {
  test.each([
    ['never', true, { FORCE_COLOR: '1' }, false],
    ['always', false, { NO_COLOR: '1', TERM: 'dumb' }, true],
    ['auto', true, {}, true],
    ['auto', false, {}, false],
    ['auto', true, { NO_COLOR: '1' }, false],
    ['auto', true, { NO_COLOR: '' }, true],
    ['auto', false, { FORCE_COLOR: '1' }, true],
    ['auto', false, { FORCE_COLOR: 'true', TERM: 'dumb' }, true],
    ['auto', false, { FORCE_COLOR: '' }, false],
    ['auto', true, { FORCE_COLOR: '0' }, false],
    ['auto', true, { FORCE_COLOR: 'false' }, false],
    ['auto', true, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    ['auto', true, { TERM: 'dumb' }, false],
  ] as const)('given --color %s, a terminal %s and %j, then %s', (mode, isTTY, env, wanted) => {
    expect(wantsColor({ mode, isTTY, env })).toBe(wanted);
  });
});

describe('a style', () => {
  test('given no colour, then every paint gives the text as it is', () => {
    const painted = Object.values(createStyle({ color: false })).map((paint) => paint('text'));

    expect(new Set(painted)).toEqual(new Set(['text']));
  });

  test('given colour, then no paint uses what cannot be read on one of the two backgrounds', () => {
    const painted = Object.values(createStyle({ color: true })).map((paint) => paint('text'));
    const codes = painted
      .join('')
      .split('\u001b[')
      .slice(1)
      .map((part) => Number.parseInt(part, 10));

    // Weights, red, green, magenta, cyan, and the codes that end them.
    expect(codes.length).toBeGreaterThan(0);
    for (const code of codes) expect([1, 2, 22, 31, 32, 35, 36, 39]).toContain(code);
  });

  test('given an error, then it is told apart from a warning', () => {
    const style = createStyle({ color: true });

    expect(style.error('x')).not.toBe(style.warning('x'));
    expect(style.error('x')).toBe('\u001b[1m\u001b[31mx\u001b[39m\u001b[22m');
  });
});
