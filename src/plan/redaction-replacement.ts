/** A stretch of a text that is shown as something else. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

export const REDACTED = '[REDACTED]';

/** Puts the replacements into a text; they must be in order and apart. Every other character stays. */
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

/** Decodes the inside of a valid JSON string, which stands at `from` to `to`. */
export function decodeJsonString(json: string, from: number, to: number): DecodedText {
  const raw = json.slice(from, to);
  return decode(raw, from, (at) => (raw.charCodeAt(at) === BACKSLASH ? jsonEscapeAt(raw, at) : undefined));
}

/**
 * Decodes `\u002d` and the like in a text that is no JSON, but may quote some: only characters a token can hold,
 * so that no quote or line comes from nowhere. However often escaped, an escape counts as one character.
 */
export function decodeQuotedEscapes(text: string): DecodedText {
  if (!text.includes('\\u00')) return { text, written: (index) => index };
  return decode(text, 0, (at) => (text.charCodeAt(at) === BACKSLASH ? quotedEscapeAt(text, at) : undefined));
}

const BACKSLASH = 92;

interface Escape {
  readonly length: number;
  /** What it stands for; undefined when it stays as it is. */
  readonly means: string | undefined;
}

function decode(raw: string, base: number, escapeAt: (at: number) => Escape | undefined): DecodedText {
  if (!raw.includes('\\')) return { text: raw, written: (index) => base + index };
  const offsets = new Uint32Array(raw.length + 1);
  const parts: string[] = [];
  let length = 0;
  let plainFrom = 0;
  for (let at = 0; at < raw.length; ) {
    const found = escapeAt(at);
    const size = found?.length ?? 1;
    if (found?.means !== undefined) {
      parts.push(raw.slice(plainFrom, at), found.means);
      offsets[length] = base + at;
      length += 1;
      plainFrom = at + size;
    } else {
      for (let step = 0; step < size; step += 1) {
        offsets[length] = base + at + step;
        length += 1;
      }
    }
    at += size;
  }
  parts.push(raw.slice(plainFrom));
  offsets[length] = base + raw.length;
  return { text: parts.join(''), written: (index) => offsets[index] ?? base + raw.length };
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
