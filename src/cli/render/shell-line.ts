import { quoteWords } from '../input/command-words.js';
import { replaceNotDrawn, safeText } from './safe-text.js';

/** What a line that goes on with a session has to say. */
interface GoOnLine {
  /** Empty where none is recorded. */
  readonly folder: string;
  /** What XDG_DATA_HOME has to be for Zero to find the store; undefined where it does by itself. */
  readonly dataHome: string | undefined;
  readonly command: readonly string[];
  /** Stands in the place of the request; the user writes it anew. */
  readonly placeholder?: string | undefined;
}

/**
 * Gives a line for any POSIX shell that goes on with a session from wherever it is pasted. No character of it would
 * command a terminal, whatever the names in it.
 * @see CLI.md, resume
 */
export function goOnLine({ folder, dataHome, command, placeholder }: GoOnLine): string {
  const change = folder === '' ? '' : `cd ${quoteFolder(folder)} && `;
  const store = dataHome === undefined ? '' : `XDG_DATA_HOME=${quoteFolder(dataHome)} `;
  return `${change}${store}${quoteWords(command)}${placeholder === undefined ? '' : ` "${placeholder}"`}`;
}

/**
 * Gives the name of a folder as one word of a POSIX shell. Where it holds what a terminal would obey, `printf` makes it; the
 * shell takes newlines off the end of what that prints, so it ends in `/.` then.
 */
function quoteFolder(folder: string): string {
  // `cd -` is another command, and `cd -x` has a flag.
  const path = folder.startsWith('-') ? `./${folder}` : folder;
  if (safeText(path) === path) return quoteWords([path]);
  return `"$(printf '%b' '${printfText(path)}/.')"`;
}

const MARK = '\0';
const encoder = new TextEncoder();

/** Gives a text as `printf '%b'` takes it inside single quotes. */
function printfText(text: string): string {
  // No name holds a NUL, so it can mark what has to be written as octal numbers.
  const marked = replaceNotDrawn(text, (codePoint) => `${MARK}${codePoint.toString(16)}${MARK}`);
  return marked.replace(/\\|'|\0([0-9a-f]+)\0/g, (found, hex: string | undefined, at: number) => {
    if (hex === undefined) return found === '\\' ? '\\\\' : `'\\''`;
    const next = marked.charAt(at + found.length);
    const bytes = [...encoder.encode(String.fromCodePoint(Number.parseInt(hex, 16)))];
    return bytes.map((byte, index) => octal(byte, index === bytes.length - 1 && /[0-7]/.test(next))).join('');
  });
}

/** `\012`: a zero and up to three digits, all three where a digit follows. */
function octal(byte: number, isDigitNext: boolean): string {
  return `\\0${byte.toString(8).padStart(isDigitNext ? 3 : 2, '0')}`;
}
