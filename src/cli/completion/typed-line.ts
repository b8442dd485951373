import { splitTyped } from '../input/command-words.js';
import { SHELLS, type Shell } from './completions.js';

/** A command line while somebody types it, without the name of the program, quotes taken off. */
export interface TypedLine {
  /** Whole words before the cursor. */
  readonly before: readonly string[];
  /** What stands before the cursor of the word that it is in. */
  readonly current: string;
  readonly after: readonly string[];
}

/** What a completion script asks. */
export interface CompletionRequest {
  readonly shell: Shell;
  readonly line: TypedLine;
  /** How much at the beginning of each candidate the shell keeps by itself. */
  readonly kept: number;
}

/**
 * Gives what a completion script asks, or undefined when that cannot be understood. Nothing is expanded.
 *
 * Bash gives its COMP_WORDBREAKS, and the line before and after the cursor. The others give how many words stand before the one
 * with the cursor, then all words; the one with the cursor may be left out when it is empty and the last.
 */
export function parseRequest([name = '', ...rest]: readonly string[]): CompletionRequest | undefined {
  const shell = SHELLS.find((each) => each === name);
  if (shell === undefined) return undefined;
  if (shell === 'bash') return requestOfBash(rest);
  const [count = '', ...words] = rest;
  if (!/^\d{1,6}$/.test(count)) return undefined;
  const at = Number(count);
  const raw = words[at] ?? '';
  // fish gives words without their quotes, but for the one that is being typed.
  const current = shell === 'fish' ? splitTyped(raw).last : raw;
  return { shell, line: { before: words.slice(0, at), current, after: words.slice(at + 1) }, kept: 0 };
}

function requestOfBash([breaks = '', before = '', after = '']: readonly string[]): CompletionRequest {
  const { words, last, isQuoted } = splitTyped(before);
  const rest = splitTyped(after);
  const following = [...rest.words, rest.last].filter((word) => word !== '');
  // The rest of the word that the cursor is in counts for nothing.
  if (/^\S/.test(after)) following.shift();
  return {
    shell: 'bash',
    line: { before: words.slice(1), current: last, after: following },
    kept: isQuoted ? 0 : keptByBash(last, breaks),
  };
}

/** Bash puts in only what follows the last of its word breaks, of `id:ab` or `--sort=up`. */
function keptByBash(word: string, breaks: string): number {
  return 1 + Math.max(-1, ...[...breaks].map((each) => word.lastIndexOf(each)));
}
