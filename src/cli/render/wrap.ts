import { displayWidth, truncateToWidth } from './width.js';

/**
 * Gives one line of safe text as lines of at most `width` columns, broken at spaces; a word that is too long is broken
 * inside. Spaces at the beginning of the line stay, those at a break go.
 * @param width - Columns, 2 or more: the widest character.
 */
export function wrapLine(line: string, width: number): string[] {
  if (displayWidth(line) <= width) return [line];
  const lines: string[] = [];
  const indent = /^ */.exec(line)?.[0] ?? '';
  let current = indent.length < width / 2 ? indent : '';
  let isBlank = true;
  for (const word of line.slice(indent.length).split(' ')) {
    const gap = isBlank ? '' : ' ';
    if (displayWidth(current) + gap.length + displayWidth(word) <= width) {
      current += gap + word;
    } else {
      if (!isBlank) lines.push(current);
      const pieces = breakWord(word, width);
      lines.push(...pieces.slice(0, -1));
      current = pieces.at(-1) ?? '';
    }
    isBlank = false;
  }
  lines.push(current);
  return lines;
}

function breakWord(word: string, width: number): string[] {
  const pieces: string[] = [];
  let rest = word;
  while (displayWidth(rest) > width) {
    // Without a mark, what truncation gives is the part that fits, characters whole.
    const piece = truncateToWidth(rest, width, '');
    if (piece === '') break;
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...pieces, rest];
}
