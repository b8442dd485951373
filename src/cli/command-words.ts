import { UsageError } from '../errors.js';

/**
 * Gives the words of a command line. No shell is asked: nothing is expanded. `'…'` and `"…"` hold words together, and `\`
 * takes the next character as it is (inside `"…"` only `"` and `\`).
 * @throws {@link UsageError} (`USAGE`) when a quote is not closed, or there is no word.
 */
export function splitWords(line: string): readonly string[] {
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
  if (quote !== '') throw new UsageError(`The command ${line} has a ${quote} that is not closed`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new UsageError('The command is blank');
  return words;
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Gives words as a line for a POSIX shell that takes each of them as it is. */
export function quoteWords(words: readonly string[]): string {
  return words.map((word) => (PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}
