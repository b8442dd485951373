import { countBefore } from '../model/count-before.js';

export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

export const REDACTED = '[REDACTED]';

/** The replacements must be in order and apart. */
export function replaceIn(text: string, replacements: readonly Replacement[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, by } of replacements) {
    parts.push(text.slice(done, start), by);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

/** Text as it is meant, and where each of its characters stands in the text that was written. */
export interface DecodedText {
  readonly text: string;
  /** Offset in the written text of a character, or of the end. */
  readonly written: (index: number) => number;
}

/** Moves replacements from decoded text to the string literal it was written as, quotes among them escaped anew. */
export function inWrittenText(replacements: readonly Replacement[], decoded: DecodedText): Replacement[] {
  return replacements.map(({ start, end, by }) => ({
    start: decoded.written(start),
    end: decoded.written(end),
    by: by.includes('"') ? by.replaceAll('\\', '\\\\').replaceAll('"', '\\"') : by,
  }));
}

export function decodeJsonString(json: string, from: number, to: number): DecodedText {
  const raw = json.slice(from, to);
  return decode(raw, from, (at) => jsonEscapeAt(raw, at));
}

/**
 * Decodes `\u002d` and the like in a text that may quote JSON, however often escaped: only characters a token can hold,
 * so that no quote or line comes from nowhere.
 */
export function decodeQuotedEscapes(text: string): DecodedText {
  if (!text.includes('\\u00')) return { text, written: (index) => index };
  return decode(text, 0, (at) => quotedEscapeAt(text, at));
}

const BACKSLASH = 92;

interface Escape {
  readonly length: number;
  /** What it stands for; undefined when it stays as it is. */
  readonly means: string | undefined;
}

function decode(raw: string, base: number, escapeAt: (at: number) => Escape): DecodedText {
  let next = raw.indexOf('\\');
  if (next < 0) return { text: raw, written: (index) => base + index };
  const text = new TextPieces();
  const behind: number[] = []; // by escape: the index in the text just behind it,
  const ahead: number[] = []; // and how much further on the written text is from there
  let saved = 0;
  let plainFrom = 0;
  while (next >= 0) {
    const { length, means } = escapeAt(next);
    if (means !== undefined) {
      text.add(raw.slice(plainFrom, next), means);
      plainFrom = next + length;
      behind.push(next - saved + 1);
      saved += length - 1;
      ahead.push(saved);
    }
    next = raw.indexOf('\\', next + length);
  }
  text.add(raw.slice(plainFrom));
  const written = (index: number): number => {
    const passed = countBefore(behind.length, (at) => (behind[at] as number) <= index);
    return base + index + (ahead[passed - 1] ?? 0);
  };
  return { text: text.joined(), written };
}

// A text of a megabyte may have a million escapes: a list of all the pieces between would be many times as large.
const MOST_PIECES = 4096;

class TextPieces {
  readonly #chunks: string[] = [];
  #pieces: string[] = [];

  add(...pieces: readonly string[]): void {
    this.#pieces.push(...pieces);
    if (this.#pieces.length < MOST_PIECES) return;
    this.#chunks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  joined(): string {
    return this.#chunks.join('') + this.#pieces.join('');
  }
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function jsonEscapeAt(raw: string, at: number): Escape {
  const letter = raw.charAt(at + 1);
  if (letter === 'u') {
    return { length: 6, means: String.fromCharCode(Number.parseInt(raw.slice(at + 2, at + 6), 16)) };
  }
  return { length: 2, means: SHORT_ESCAPES[letter] ?? letter };
}

function quotedEscapeAt(text: string, at: number): Escape {
  let end = at;
  while (text.charCodeAt(end) === BACKSLASH) end += 1;
  const digits = text.slice(end, end + 5);
  const means = /^u00[0-9a-fA-F]{2}$/.test(digits) ? String.fromCharCode(Number.parseInt(digits.slice(3), 16)) : '';
  if (/^[A-Za-z0-9_.\-/:=@+]$/.test(means)) return { length: end + 5 - at, means };
  return { length: end - at, means: undefined };
}
