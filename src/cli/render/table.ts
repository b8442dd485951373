import { createRequire } from 'node:module';
import type Table from 'cli-table3';
import { safeText } from './safe-text.js';
import type { Paint, Style } from './style.js';
import { type Alignment, displayWidth, truncateToWidth } from './width.js';

/** One column of a table. On a terminal `shrink`, `minWidth` and `hide` say how it gives way; piped they do nothing. */
export interface Column {
  readonly header: string;
  readonly align?: Alignment;
  /** Its cells may be cut. Columns of the highest number are cut first; without a number, only as a last resort. */
  readonly shrink?: number;
  /** Columns that cutting leaves, and that it must have before others are hidden. Defaults to the header's width. */
  readonly minWidth?: number;
  /** It may be left out when even the least widths are too much, the highest number first; without one, never. */
  readonly hide?: number;
}

/** One cell: its text, and how to paint the text once it is cut. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

/** Where a table is shown. */
interface TableOptions {
  /** Columns of the terminal; undefined when piped, and then nothing is cut or hidden. */
  readonly width: number | undefined;
  readonly style: Style;
}

const GAP = '  ';
// cli-table3 looks at all rows above for each cell: 100 rows take it 30 ms, 10,000 take 12 s.
const CLI_TABLE_MAX_ROWS = 50;
// What cli-table3 measures as we do: Latin, punctuation, arrows, boxes, kana, ideographs, Hangul syllables.
const MEASURED_ALIKE =
  /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u257f\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*$/;

/**
 * Gives rows as a table without borders: a header, two spaces between columns, no space at the end of a line.
 *
 * On a terminal it fits the width: columns give way in the order that they name. Cells are made safe here; each row has
 * a cell for each column, and one that is missing is empty. Ends in a newline.
 * @see CLI.md, "Shape"
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions,
): string {
  const layout = layOut(columns, rows, options.width);
  // cli-table3 takes 10 ms to load and start: nothing to a person at a terminal, too much in a script's loop.
  const small = options.width !== undefined && rows.length <= CLI_TABLE_MAX_ROWS;
  const drawn =
    small && isMeasuredAlike(layout) ? drawWithCliTable(layout, options.style) : draw(layout, options.style);
  return `${drawn.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** A table with every decision taken: what is shown, how wide, and which texts were cut. */
interface TableLayout {
  readonly columns: readonly { readonly header: string; readonly align: Alignment; readonly width: number }[];
  readonly rows: readonly (readonly LaidOutCell[])[];
}

interface LaidOutCell {
  readonly text: string;
  readonly width: number;
  readonly paint: Paint | undefined;
}

/** Gives the lines of a table: our own drawing, linear in the rows. The last column may end in spaces. */
export function draw(layout: TableLayout, style: Style): string[] {
  const { columns } = layout;
  const line = (cells: readonly LaidOutCell[]) => {
    let text = '';
    cells.forEach((cell, at) => {
      const column = columns[at];
      if (column === undefined) return;
      const padding = ' '.repeat(Math.max(0, column.width - cell.width));
      if (at > 0) text += GAP;
      text += column.align === 'right' ? padding + painted(cell) : painted(cell) + padding;
    });
    return text;
  };
  return [line(headerCells(layout, style)), ...layout.rows.map(line)];
}

/** Gives the same lines as {@link draw}, drawn by cli-table3. Only for texts that it measures as we do. */
export function drawWithCliTable(layout: TableLayout, style: Style): string[] {
  // Loaded when a small table is shown, so that nothing else waits for it.
  const CliTable = createRequire(import.meta.url)('cli-table3') as typeof Table;
  const table = new CliTable({
    chars: { ...NO_BORDER, middle: GAP },
    // Without these lists it loads a colour package of its own.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0, compact: true },
    colWidths: layout.columns.map((column) => column.width),
    colAligns: layout.columns.map((column) => column.align),
  });
  for (const row of [headerCells(layout, style), ...layout.rows]) table.push(row.map(painted));
  return table.toString().split('\n');
}

const NO_BORDER = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
};

/** Decides widths, hides and cuts. */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number | undefined,
): TableLayout {
  const cells = rows.map((row) => columns.map((_, at) => laidOutCell(row[at])));
  const natural = columns.map((column, at) =>
    cells.reduce((widest, row) => Math.max(widest, row[at]?.width ?? 0), leastWidth(column)),
  );
  const fitted = width === undefined ? natural : fitWidths(columns, natural, width);
  const shown = fitted.flatMap((own, at) => (own === undefined ? [] : [{ at, width: own }]));
  return {
    columns: shown.map((column) => ({
      header: truncateToWidth(columns[column.at]?.header ?? '', column.width),
      align: columns[column.at]?.align ?? 'left',
      width: column.width,
    })),
    rows: cells.map((row) => shown.map((column) => cutCell(row[column.at] ?? EMPTY_CELL, column.width))),
  };
}

/** Gives the width of each column so that a row fits; undefined for one that is hidden. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): (number | undefined)[] {
  const least = columns.map((column, at) => {
    const own = natural[at] ?? 0;
    return column.shrink === undefined ? own : Math.min(own, Math.max(1, column.minWidth ?? leastWidth(column)));
  });
  const fitted: (number | undefined)[] = natural.map((own) => Math.min(own, width));
  for (const at of byRank(columns, (column) => column.hide)) {
    const needed = least.map((own, index) => (fitted[index] === undefined ? undefined : own));
    if (rowWidth(needed) <= width) break;
    fitted[at] = undefined;
  }
  const ranks = new Set(columns.map((column) => column.shrink).filter((rank) => rank !== undefined));
  for (const rank of [...ranks].sort((a, b) => b - a)) {
    const floors = columns.map((column, at) => (column.shrink === rank ? least[at] : undefined));
    narrow(fitted, floors, width);
  }
  // Nothing is left but to cut what should not be cut: a wrapped row could not be read at all.
  narrow(
    fitted,
    columns.map((column) => (column.shrink === undefined ? undefined : 1)),
    width,
  );
  narrow(
    fitted,
    columns.map(() => 1),
    width,
  );
  return fitted;
}

// A column of no width is one that cli-table3 would size itself.
function leastWidth(column: Column): number {
  return Math.max(1, displayWidth(column.header));
}

/** Takes from the widest of the columns that have a floor, one after the other, until the row fits. */
function narrow(fitted: (number | undefined)[], floors: readonly (number | undefined)[], width: number): void {
  for (let excess = rowWidth(fitted) - width; excess > 0; excess -= 1) {
    let widest: number | undefined;
    fitted.forEach((own, at) => {
      const floor = floors[at];
      if (own === undefined || floor === undefined || own <= floor) return;
      if (widest === undefined || own > (fitted[widest] ?? 0)) widest = at;
    });
    if (widest === undefined) return;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
}

function rowWidth(widths: readonly (number | undefined)[]): number {
  const shown = widths.filter((own) => own !== undefined);
  return shown.reduce((sum, own) => sum + own, 0) + GAP.length * Math.max(0, shown.length - 1);
}

/** Gives the indexes of the columns that have a rank, the highest first. */
function byRank(columns: readonly Column[], rankOf: (column: Column) => number | undefined): number[] {
  return columns
    .flatMap((column, at) => {
      const rank = rankOf(column);
      return rank === undefined ? [] : [{ at, rank }];
    })
    .sort((a, b) => b.rank - a.rank)
    .map(({ at }) => at);
}

const EMPTY_CELL: LaidOutCell = { text: '', width: 0, paint: undefined };

function laidOutCell(cell: Cell | undefined): LaidOutCell {
  if (cell === undefined) return EMPTY_CELL;
  const text = safeText(typeof cell === 'string' ? cell : cell.text).trimEnd();
  return { text, width: displayWidth(text), paint: typeof cell === 'string' ? undefined : cell.paint };
}

function cutCell(cell: LaidOutCell, width: number): LaidOutCell {
  if (cell.width <= width) return cell;
  const text = truncateToWidth(cell.text, width);
  return { text, width: displayWidth(text), paint: cell.paint };
}

function headerCells(layout: TableLayout, style: Style): LaidOutCell[] {
  return layout.columns.map(({ header }) => ({ text: header, width: displayWidth(header), paint: style.heading }));
}

function painted(cell: LaidOutCell): string {
  return cell.text === '' || cell.paint === undefined ? cell.text : cell.paint(cell.text);
}

function isMeasuredAlike(layout: TableLayout): boolean {
  return [
    layout.columns.map((column) => column.header),
    ...layout.rows.map((row) => row.map((cell) => cell.text)),
  ].every((texts) => texts.every((text) => MEASURED_ALIKE.test(text)));
}
