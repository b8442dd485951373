import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStyle } from '../../../src/cli/render/style.js';
import { type Column, draw, drawWithCliTable, layOut, renderTable } from '../../../src/cli/render/table.js';
import { displayWidth } from '../../../src/cli/render/width.js';

const style = createStyle({ color: false });
const COLUMNS: readonly Column[] = [
  { header: 'ID' },
  { header: 'TITLE', shrink: 1, minWidth: 10 },
  { header: 'MODEL', hide: 2 },
  { header: 'EVENTS', align: 'right', hide: 1 },
  { header: 'UPDATED' },
];
const ROWS = [
  ['zs_01', 'Fix the login page and its tests', 'sonnet', '1204', '5 min ago'],
  ['zs_02', '修复登录页面的错误', '', '3', '2 wk ago'],
];

describe('a table for a pipe', () => {
  test('given rows, then columns line up, nothing is cut and no line ends in a space', () => {
    expect(renderTable(COLUMNS, ROWS, { width: undefined, style })).toBe(
      [
        'ID     TITLE                             MODEL   EVENTS  UPDATED',
        'zs_01  Fix the login page and its tests  sonnet    1204  5 min ago',
        'zs_02  修复登录页面的错误                             3  2 wk ago',
        '',
      ].join('\n'),
    );
  });

  test('given no rows, then there is the header', () => {
    expect(renderTable([{ header: 'ID' }, { header: 'TITLE' }], [], { width: undefined, style })).toBe('ID  TITLE\n');
  });

  test('given empty cells at the end and rows that are short, then no line ends in a space', () => {
    const columns = [{ header: 'A' }, { header: 'LONG HEADER' }, { header: 'C' }];

    expect(renderTable(columns, [['1', '', ''], ['2']], { width: undefined, style })).toBe('A  LONG HEADER  C\n1\n2\n');
  });
});

describe('a table for a terminal', () => {
  test('given room for all, then it is as wide as it needs', () => {
    expect(renderTable(COLUMNS, ROWS, { width: 200, style })).toBe(
      renderTable(COLUMNS, ROWS, { width: undefined, style }),
    );
  });

  test('given less room, then the elastic column is cut', () => {
    expect(renderTable(COLUMNS, ROWS, { width: 50, style })).toBe(
      [
        'ID     TITLE             MODEL   EVENTS  UPDATED',
        'zs_01  Fix the login p…  sonnet    1204  5 min ago',
        `zs_02  修复登录页面的…${' '.repeat(16)}3  2 wk ago`,
        '',
      ].join('\n'),
    );
  });

  test('given too little for the least widths, then columns are hidden in the order they name', () => {
    const [wider] = renderTable(COLUMNS, ROWS, { width: 40, style }).split('\n');
    const [narrower] = renderTable(COLUMNS, ROWS, { width: 30, style }).split('\n');

    expect(wider?.split(/ +/)).toEqual(['ID', 'TITLE', 'EVENTS', 'UPDATED']);
    expect(narrower?.split(/ +/)).toEqual(['ID', 'TITLE', 'UPDATED']);
  });

  test('given hardly any room, then even a rigid column is cut rather than wrapped', () => {
    const lines = renderTable(COLUMNS, ROWS, { width: 16, style }).trimEnd().split('\n');

    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(16);
  });

  test('given paint, then it goes around the text that is left, not around the spaces', () => {
    const paint = createStyle({ color: true }).id;
    const columns = [{ header: 'A', shrink: 1 }, { header: 'B' }];

    const table = renderTable(
      columns,
      [
        [{ text: 'painted', paint }, 'b'],
        [
          { text: 'p', paint },
          { text: '', paint },
        ],
      ],
      {
        width: 8,
        style,
      },
    );

    expect(table).toBe('A      B\n\u001b[36mpain…\u001b[39m  b\n\u001b[36mp\u001b[39m\n');
  });
});

describe('a cell from a session', () => {
  test('given control characters, then they are shown and counted as shown', () => {
    const table = renderTable([{ header: 'TITLE' }, { header: 'B' }], [['a\u001b[2J\nb', 'c']], {
      width: undefined,
      style,
    });

    expect(table).toBe('TITLE          B\na\\u{1b}[2J\\nb  c\n');
  });
});

describe('the two ways to draw', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 20 }).map((own) => own.replaceAll(/[^\x20-\x7e]/g, '')),
    fc.constantFrom('', '修复登录', '한국어', 'カナ', 'Grüße → …', 'a  b'),
  );

  test('given any rows and widths, then cli-table3 and our own give the same lines', () => {
    const shape = fc.record({
      columns: fc.array(
        fc.record({
          header: text,
          align: fc.constantFrom('left' as const, 'right' as const),
          shrink: fc.integer({ min: 0, max: 2 }),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      rows: fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 6 }),
      width: fc.option(fc.integer({ min: 15, max: 60 }), { nil: undefined }),
      color: fc.boolean(),
    });
    fc.assert(
      fc.property(shape, ({ columns, rows, width, color }) => {
        const own = createStyle({ color });
        const painted = rows.map((row) => row.map((cell, at) => (at === 0 ? { text: cell, paint: own.id } : cell)));
        const layout = layOut(columns, painted, width);
        const ends = (lines: string[]) =>
          lines
            .map((line) => line.trimEnd())
            .join('\n')
            .trimEnd();

        expect(ends(drawWithCliTable(layout, own))).toBe(ends(draw(layout, own)));
      }),
      { numRuns: 200 },
    );
  });

  test('given what cli-table3 would measure otherwise, then a small table is as right as a large one', () => {
    const rows = [
      ['สวัสดี', 'x'],
      ['\u1112\u1161\u11ab', 'y'],
      ['❤️', 'z'],
    ];

    expect(renderTable([{ header: 'A' }, { header: 'B' }], rows, { width: 80, style })).toBe(
      'A     B\nสวัสดี  x\n\u1112\u1161\u11ab    y\n❤️    z\n',
    );
  });

  test('given 10,000 rows on a terminal, then each is a line', () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => [
      `zs_${at}`,
      `title ${at}`,
      'sonnet',
      String(at),
      'just now',
    ]);

    expect(renderTable(COLUMNS, rows, { width: 80, style }).split('\n')).toHaveLength(10_002);
  });
});
