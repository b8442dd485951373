import { isAlphanumeric, isBlank } from './redaction-characters.js';
import type { Span } from './redaction-tokens.js';

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';

// The longest RSA key in use has 13,000 characters; an END farther away belongs to something else.
const LONGEST_BLOCK = 65_536;
const LONGEST_LABEL = 60;

/** Finds private keys in PEM or PGP armour, also with their line ends escaped and with their end cut off. */
export class KeyBlocks {
  readonly #text: string;
  #nextEnd = -2; // not looked for yet

  constructor(text: string) {
    this.#text = text;
  }

  /** Gives the block that begins at `at`, if a private one does. */
  blockAt(at: number): Span | undefined {
    const text = this.#text;
    if (!text.startsWith(BEGIN, at)) return undefined;
    const labelFrom = at + BEGIN.length;
    const dashes = text.slice(labelFrom, labelFrom + LONGEST_LABEL).indexOf(DASHES);
    if (dashes < 0) return undefined;
    if (!text.slice(labelFrom, labelFrom + dashes).includes('PRIVATE KEY')) return undefined;
    const body = labelFrom + dashes + DASHES.length;
    const end = this.#endAfter(body);
    if (end >= 0 && end - body <= LONGEST_BLOCK) return { start: at, end: behindEnd(text, end) };
    const cut = bodyEnd(text, body);
    return cut > body ? { start: at, end: cut } : undefined;
  }

  /** Offset of the next END line; each stretch of the text is searched once. */
  #endAfter(from: number): number {
    if (this.#nextEnd === -2 || (this.#nextEnd >= 0 && this.#nextEnd < from)) {
      this.#nextEnd = this.#text.indexOf(END, from);
    }
    return this.#nextEnd;
  }
}

/** Behind the dashes that close an END line; behind its word when they were cut off. */
function behindEnd(text: string, end: number): number {
  const labelFrom = end + END.length;
  const dashes = text.slice(labelFrom, labelFrom + LONGEST_LABEL).indexOf(DASHES);
  return dashes < 0 ? labelFrom : labelFrom + dashes + DASHES.length;
}

/** Where the lines of a key end that has no END line: at the first line that holds something else. */
function bodyEnd(text: string, from: number): number {
  let end = from;
  let at = from;
  while (at < text.length) {
    const line = bodyLineAt(text, at);
    if (line === undefined) return end;
    if (line.hasBody) end = line.end;
    if (line.next <= at) return end;
    at = line.next;
  }
  return end;
}

/** One line of base64 or of a PEM header, with whatever quotes or marks a program or a diff put around it. */
function bodyLineAt(text: string, from: number): { end: number; next: number; hasBody: boolean } | undefined {
  let at = from;
  while (at < text.length && at - from < 40 && isMargin(text.charCodeAt(at))) at += 1;
  const start = at;
  while (isBase64(text.charCodeAt(at))) at += 1;
  const end = at;
  if (isPemHeader(text, start, end)) {
    while (at < text.length && !isLineEnd(text, at)) at += 1;
    return { end: at, next: behindLineEnd(text, at), hasBody: true };
  }
  while (at < text.length && at - end < 40 && isMargin(text.charCodeAt(at)) && !isLineEnd(text, at)) at += 1;
  if (at < text.length && !isLineEnd(text, at)) return undefined;
  return { end, next: behindLineEnd(text, at), hasBody: end > start };
}

function isPemHeader(text: string, start: number, end: number): boolean {
  if (text.charAt(end) === ':') return end > start; // PGP: `Version: …`, `Comment: …`
  return text.startsWith('-Type:', end) || text.startsWith('-Info:', end); // RFC 1421: `Proc-Type:`, `DEK-Info:`
}

function isLineEnd(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 10 || code === 13) return true;
  const next = text.charAt(at + 1);
  return code === 92 && (next === 'n' || next === 'r' || next === '\\');
}

function behindLineEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 10 || text.charCodeAt(at) === 13) at += 1;
  if (at > from) return at;
  while (text.charCodeAt(at) === 92) at += 1;
  return at > from ? at + 1 : at;
}

function isBase64(code: number): boolean {
  return isAlphanumeric(code) || code === 43 || code === 47 || code === 61;
}

/** Space, quotes, `#`, `>`, `|`, `*`, `,`, `;`, `.`, `-`: what stands before or behind a line that was quoted. */
function isMargin(code: number): boolean {
  if (isBlank(code)) return true;
  return code < 128 && '"\'`#>|*,;.'.includes(String.fromCharCode(code));
}
