import { UsageError } from '../errors.js';

/**
 * Gives the words of a command line. No shell is asked: nothing is expanded. `'…'` and `"…"` hold words together, and `\`
 * takes the next character as it is (inside `"…"` only `"` and `\`).
 * @throws {@link UsageError} (`USAGE`) when a quote is not closed, or there is no word.
 */
export function splitWords(line: string): readonly string[] {
  const { words, word, quote } = scanWords(line);
  if (quote !== '') throw new UsageError(`The command ${line} has a ${quote} that is not closed`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new UsageError('The command is blank');
  return words;
}

/**
 * Gives the words of a line that is still being typed, as {@link splitWords} does; a quote may be open.
 * @returns The whole words; the one that the line ends in, empty after a space; whether a quote is open there.
 */
export function splitTyped(line: string): { words: readonly string[]; last: string; isQuoted: boolean } {
  const { words, word, quote } = scanWords(line);
  return { words, last: word ?? '', isQuoted: quote !== '' };
}

/** Reads a line to its end: the words that have ended, the one that has not, and the quote that it is in. */
function scanWords(line: string): { words: string[]; word: string | undefined; quote: string } {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    const next = line.charAt(at + 1);
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) {
      quote = '';
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word ??= '';
    } else if (character === '\\' && next !== '' && quote !== "'" && (quote === '' || next === '"' || next === '\\')) {
      word = (word ?? '') + next;
      at += 1;
    } else {
      word = (word ?? '') + character;
    }
  }
  return { words, word, quote };
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Gives words as a line for a POSIX shell that takes each of them as it is. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
