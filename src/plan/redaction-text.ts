import { curlPasswordAt, urlPasswordAt } from './redaction-addresses.js';
import { KeyBlocks } from './redaction-blocks.js';
import { isQuote, isSpace } from './redaction-characters.js';
import { elementValueAt, flagValueAt, pairValueAt } from './redaction-keys.js';
import { decodeQuotedEscapes, inWrittenText, REDACTED, type Replacement } from './redaction-replacement.js';
import { mayStartToken, type Span, tokenAt } from './redaction-tokens.js';

/**
 * Finds the secrets in any text: prose, code, commands, headers, logs, and pieces of JSON.
 *
 * One walk from left to right, in which each scanner either hides what it read, so that the walk goes on behind it,
 * or has looked at a bounded stretch: the time is linear in the text, whatever is in it.
 */
export function secretsInText(text: string): Replacement[] {
  const decoded = decodeQuotedEscapes(text);
  const walk = new TextWalk(decoded.text);
  const replacements = walk.secrets().map(({ start, end }) => ({ start, end, by: REDACTED }));
  return decoded.text === text ? replacements : inWrittenText(replacements, decoded);
}

const NEWLINE = 10;
const DASH = 45;
const COLON = 58;
const LESS = 60;
const EQUALS = 61;
const BACKSLASH = 92;
const SMALL_C = 99;

class TextWalk {
  readonly #text: string;
  readonly #blocks: KeyBlocks;
  /** The end of what was hidden last: nothing looks back beyond it. */
  #floor = 0;
  /** Whether the command on this line is curl. */
  #inCurl = false;

  constructor(text: string) {
    this.#text = text;
    this.#blocks = new KeyBlocks(text);
  }

  secrets(): Span[] {
    const text = this.#text;
    const found: Span[] = [];
    let next = text.charCodeAt(0);
    for (let at = 0; at < text.length; ) {
      const code = next;
      next = text.charCodeAt(at + 1);
      const secret = this.#secretAt(at, code, next);
      if (secret === undefined) {
        at += 1;
        continue;
      }
      found.push(secret);
      at = secret.end;
      this.#floor = at;
      next = text.charCodeAt(at);
    }
    return found;
  }

  #secretAt(at: number, code: number, next: number): Span | undefined {
    switch (code) {
      case NEWLINE:
        if (this.#text.charCodeAt(at - 1) !== BACKSLASH) this.#inCurl = false;
        return undefined;
      case EQUALS:
        return pairValueAt(this.#text, at, this.#floor);
      case COLON:
        return (
          (this.#text.startsWith('://', at) ? urlPasswordAt(this.#text, at) : undefined) ??
          pairValueAt(this.#text, at, this.#floor)
        );
      case DASH:
        return this.#behindDash(at, next);
      case LESS:
        return elementValueAt(this.#text, at);
      default:
        if (code === SMALL_C && this.#text.startsWith('curl', at)) this.#inCurl = true;
        return mayStartToken(code, next) ? tokenAt(this.#text, at, this.#floor) : undefined;
    }
  }

  #behindDash(at: number, next: number): Span | undefined {
    if (next === DASH) {
      if (this.#text.charCodeAt(at - 1) === DASH) return undefined;
      const block = this.#blocks.blockAt(at);
      if (block !== undefined) return block;
    }
    const before = this.#text.charCodeAt(at - 1);
    if (at > 0 && !isSpace(before) && !isQuote(before)) return undefined;
    const password = this.#inCurl ? curlPasswordAt(this.#text, at) : undefined;
    return password ?? (next === DASH ? flagValueAt(this.#text, at) : undefined);
  }
}
