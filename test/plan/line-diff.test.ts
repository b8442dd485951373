import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines, type Hunk, splitLines } from '../../src/plan/line-diff.js';

describe('a diff of lines', () => {
  test('given equal texts, then there is none', () => {
    expect(diffLines('a\nb\n', 'a\nb\n')).toEqual([]);
    expect(diffLines('', '')).toEqual([]);
  });

  test('given a changed line, then three lines around it are shown', () => {
    const before = lines('1 2 3 4 5 6 7 8 9');
    const after = lines('1 2 3 4 five 6 7 8 9');

    expect(shown(diffLines(before, after))).toBe('@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n');
  });

  test('given changes that are near, then they share a hunk, and far ones do not', () => {
    const numbers = Array.from({ length: 30 }, (_, at) => String(at + 1));
    const near = numbers.with(4, 'x').with(11, 'y').join('\n');
    const far = numbers.with(4, 'x').with(12, 'y').join('\n');

    expect(diffLines(numbers.join('\n'), near)).toHaveLength(1);
    expect(diffLines(numbers.join('\n'), far)).toHaveLength(2);
  });

  test('given an empty side, then its start is 0, as patch wants it', () => {
    expect(shown(diffLines('', 'a\nb\n'))).toBe('@@ -0,0 +1,2 @@\n+a\n+b\n');
    expect(shown(diffLines('a\n', ''))).toBe('@@ -1,1 +0,0 @@\n-a\n');
  });

  test('given a last line without its newline, then that is a difference', () => {
    const [hunk] = diffLines('a\nb', 'a\nb\n');

    expect(hunk?.lines).toEqual([
      { kind: 'same', text: 'a', ended: true },
      { kind: 'removed', text: 'b', ended: false },
      { kind: 'added', text: 'b', ended: true },
    ]);
  });

  test('given lines that moved, then the diff is the shortest', () => {
    const edits = diffLines(lines('a b c a b b a'), lines('c b a b a c')).flatMap((hunk) => hunk.lines);

    expect(edits.filter(({ kind }) => kind !== 'same')).toHaveLength(5);
  });

  test('given any two texts, then applying the diff to the old one gives the new one', () => {
    // Few different lines, so that much is equal and repeated.
    const text = fc
      .array(fc.constantFrom('', 'a', 'b', 'c', '}', '\r'), { maxLength: 40 })
      .chain((all) => fc.constantFrom(all.join('\n'), `${all.join('\n')}\n`));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applied(before, diffLines(before, after))).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  test('given long texts with little in common, then applying the diff gives the new one in time', () => {
    const before = Array.from({ length: 4000 }, (_, at) => `old ${at}`);
    const after = Array.from({ length: 4000 }, (_, at) => (at % 10 === 0 ? `old ${at}` : `new ${at}`));
    const hunks = diffLines(before.join('\n'), after.join('\n'));

    expect(applied(before.join('\n'), hunks)).toBe(after.join('\n'));
    // The lines that both have are found although the shortest diff is not looked for.
    const same = hunks.flatMap((hunk) => hunk.lines).filter(({ kind }) => kind === 'same');
    expect(same).toHaveLength(400);
  });

  test('given long texts of repeated lines, then the whole may be replaced, and is right', () => {
    const before = 'x\ny\n'.repeat(2000);
    const after = 'y\nz\n'.repeat(2000);

    expect(applied(before, diffLines(before, after))).toBe(after);
  });
});

function lines(words: string): string {
  return `${words.replaceAll(' ', '\n')}\n`;
}

function shown(hunks: readonly Hunk[]): string {
  const marks = { same: ' ', removed: '-', added: '+' };
  return hunks
    .map(({ oldStart, oldCount, newStart, newCount, lines: all }) => {
      const head = `@@ -${oldStart},${oldCount} +${newStart},${newCount} @@\n`;
      return head + all.map(({ kind, text }) => `${marks[kind]}${text}\n`).join('');
    })
    .join('');
}

/** Applies hunks as patch does: what is kept or removed must stand where the hunk says. */
function applied(oldText: string, hunks: readonly Hunk[]): string {
  const before = splitLines(oldText);
  const result: string[] = [];
  let at = 0;
  for (const { oldStart, oldCount, newStart, newCount, lines: all } of hunks) {
    const start = oldCount === 0 ? oldStart : oldStart - 1;
    for (; at < start; at += 1) result.push(joined(before[at]));
    expect(result.length).toBe(newCount === 0 ? newStart : newStart - 1);
    expect(all.filter(({ kind }) => kind !== 'added')).toHaveLength(oldCount);
    expect(all.filter(({ kind }) => kind !== 'removed')).toHaveLength(newCount);
    for (const { kind, text, ended } of all) {
      if (kind !== 'added') {
        expect(before[at]).toEqual({ text, ended });
        at += 1;
      }
      if (kind !== 'removed') result.push(joined({ text, ended }));
    }
  }
  for (; at < before.length; at += 1) result.push(joined(before[at]));
  return result.join('');
}

function joined(line: { readonly text: string; readonly ended: boolean } | undefined): string {
  return line === undefined ? '' : line.text + (line.ended ? '\n' : '');
}
