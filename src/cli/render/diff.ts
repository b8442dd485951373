import type { Hunk } from '../../plan/line-diff.js';
import type { Page } from '../page.js';
import { safeLines, safeText } from './safe-text.js';
import type { Paint } from './style.js';

export interface DiffView {
  readonly sessionId: string;
  /** Files that differ, and those of which that is not known. */
  readonly files: readonly FileDiff[];
  readonly from: number;
  readonly to: number | undefined;
}

/** What became of a file between two points. */
export interface FileDiff {
  readonly path: string;
  readonly status: 'added' | 'deleted' | 'modified' | 'unknown';
  /** Permission bits with the kind of file, as git writes them; undefined where there is no file. */
  readonly oldMode: string | undefined;
  readonly newMode: string | undefined;
  /** Undefined when one of them is no text. */
  readonly hunks: readonly Hunk[] | undefined;
  /** The contents differ, but only in what is hidden. */
  readonly isHidden: boolean;
  /** Why it is not known. */
  readonly reason: string | undefined;
  /** What is not known was once recorded: it was lost. */
  readonly isDamaged: boolean;
}

type Line = { readonly text: string; readonly kind: 'head' | 'hunk' | 'same' | 'added' | 'removed' };

/** Gives what differs as git would: headers, and hunks of lines; coloured, safe, and into a pipe fit for `git apply`. */
export function* renderDiff({ files }: DiffView, page: Page): Generator<string> {
  const { style, redaction, width } = page;
  const paints: Readonly<Record<Line['kind'], Paint>> = {
    head: style.heading,
    hunk: style.hunk,
    same: style.plain,
    added: style.added,
    removed: style.removed,
  };
  for (const file of files) {
    for (const { text, kind } of diffLinesOf({ ...file, path: redaction.text(file.path) })) {
      yield `${paints[kind](width === undefined ? safeWithTabs(text) : shownLine(text))}\n`;
    }
  }
}

/** Gives the diff of one file as text. */
export function diffText(file: FileDiff): string {
  return [...diffLinesOf(file)].map(({ text }) => `${text}\n`).join('');
}

function* diffLinesOf(file: FileDiff): Generator<Line> {
  const { path, status, oldMode, newMode, hunks } = file;
  if (status === 'unknown') return;
  const head = (text: string): Line => ({ text, kind: 'head' });
  yield head(`diff --git a/${path} b/${path}`);
  if (status === 'added') yield head(`new file mode ${newMode}`);
  else if (status === 'deleted') yield head(`deleted file mode ${oldMode}`);
  else if (oldMode !== newMode) {
    yield head(`old mode ${oldMode}`);
    yield head(`new mode ${newMode}`);
  }
  const [before, after] = [
    status === 'added' ? '/dev/null' : `a/${path}`,
    status === 'deleted' ? '/dev/null' : `b/${path}`,
  ];
  if (hunks === undefined) {
    yield head(`Binary files ${before} and ${after} differ`);
    return;
  }
  if (hunks.length === 0) return;
  yield head(`--- ${before}`);
  yield head(`+++ ${after}`);
  for (const { oldStart, oldCount, newStart, newCount, lines } of hunks) {
    yield { text: `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`, kind: 'hunk' };
    for (const { kind, text, ended } of lines) {
      yield { text: `${MARKS[kind]}${text}`, kind };
      if (!ended) yield { text: '\\ No newline at end of file', kind: 'same' };
    }
  }
}

const MARKS = { same: ' ', added: '+', removed: '-' } as const;

// A tab moves the cursor no further than spaces would, and a patch without its tabs is none.
function safeWithTabs(text: string): string {
  return text.split('\t').map(safeText).join('\t');
}

function shownLine(text: string): string {
  return safeLines(text)[0] ?? '';
}
