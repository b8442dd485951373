import { has, hasLetter, isBlank, isDigit, isNameCode, isQuote, isSpace, skipBlanks } from './characters.js';
import { isSecretName } from './names.js';
import { decodeQuotedEscapes, inWrittenText, REDACTED, type Replacement } from './replacement.js';
import { KeyBlocks, mayStartToken, type Span, tokenAt } from './tokens.js';
import { behindAnnotation, headerValueAt, isArgument, isPlaceholder, valueAt } from './values.js';

/**
 * Finds the secrets in any text: prose, code, commands, headers, logs, and pieces of JSON. Each scanner either hides
 * what it read, and the walk goes on behind it, or has looked at a bounded stretch: the time is linear in the text.
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

const LONGEST_KEY = 80;
const NEEDS_MORE = /^(?:token|key|phrase)s?$/i;
const GREATER = 62;

/**
 * The secret behind the `=` or `:` at `at` after a secret-named key: `key=value`, `"key": "value"`, a header, an
 * assignment. Looks no farther back than `floor`, the end of what was hidden before.
 */
function pairValueAt(text: string, at: number, floor: number): Span | undefined {
  const key = keyBefore(text, at, floor);
  if (key === undefined) return undefined;
  const separator = separatorEnd(text, at);
  if (separator === undefined) return undefined;
  const from = skipBlanks(text, separator);
  const isComparison = text.charCodeAt(at + 1) === EQUALS && text.charAt(at) === '=';
  if (isComparison && !isQuote(text.charCodeAt(from))) return undefined;
  const before = key.start > floor ? text.charCodeAt(key.start - 1) : Number.NaN;
  if (!isSecretName(key.name) && !isSecretBehind(before, key.name)) return undefined;
  const isColon = text.charAt(at) === ':';
  // `bin/token:12: …` is where a search found something.
  if (isColon && !key.isQuoted && text.charAt(key.start - 1) === '/') return undefined;
  // `[about-passwords]: https://…` is where a link of Markdown leads.
  if (isColon && !key.isQuoted && text.charAt(at - 1) === ']') return undefined;
  const site = { name: key.name, inQuery: isQueryMark(before), tight: from === at + 1 && !key.isQuoted };
  if (isColon && !key.isQuoted && hasWholeLine(key.name)) return headerValueAt(text, from, site, quoteOrNone(before));
  const annotated = isColon ? behindAnnotation(text, from) : undefined;
  const value = valueAt(text, annotated ?? from, site);
  // In HTML it is the key to press.
  if (value !== undefined && value.end - value.start === 1 && key.name.toLowerCase() === 'accesskey') return undefined;
  return value;
}

/** The argument of a flag whose name is secret: `--password value`. */
function flagValueAt(text: string, at: number): Span | undefined {
  let end = at + 2;
  while (end - at < LONGEST_KEY && isNameCode(text.charCodeAt(end))) end += 1;
  const from = skipBlanks(text, end);
  if (from === end || !isArgument(text, from)) return undefined;
  const name = text.slice(at + 2, end);
  return isSecretName(name) ? valueAt(text, from, { name, inQuery: false, tight: false }) : undefined;
}

/** What an XML element holds whose name is secret: `<password>value</password>`. */
function elementValueAt(text: string, at: number): Span | undefined {
  let end = at + 1;
  while (end - at < LONGEST_KEY && (isNameCode(text.charCodeAt(end)) || text.charAt(end) === ':')) end += 1;
  if (end === at + 1 || text.charAt(end) !== '>' || !isSecretName(text.slice(at + 1, end))) return undefined;
  const from = end + 1;
  const close = text.slice(from, from + 4096).indexOf('<');
  if (close <= 0 || text.charAt(from + close + 1) !== '/') return undefined;
  const value = text.slice(from, from + close);
  return hasLetter(value) && value !== '[REDACTED]' ? { start: from, end: from + close } : undefined;
}

interface Key {
  readonly name: string;
  readonly start: number;
  readonly isQuoted: boolean;
}

/** The key that ends before a separator: a word, a path of names, a quoted text, or up to three words (`API key`). */
function keyBefore(text: string, separator: number, floor: number): Key | undefined {
  let end = separator;
  while (end > floor && isBlank(text.charCodeAt(end - 1))) end -= 1;
  const marksFrom = end;
  // `password?:`, `config["password"] =`, `\"password\":`
  while (end > floor && marksFrom - end < 12 && isKeyMark(text.charCodeAt(end - 1))) end -= 1;
  const isQuoted = has(text, end, marksFrom, isQuote);
  let start = end;
  for (let words = 0; words < 3; words += 1) {
    const wordEnd = words === 0 ? end : start - 1;
    if (words > 0 && (start <= floor || text.charAt(start - 1) !== ' ')) break;
    let at = wordEnd;
    while (at > floor && end - at < LONGEST_KEY && isNameCode(text.charCodeAt(at - 1))) at -= 1;
    if (at === wordEnd) break;
    start = at;
  }
  if (start === end) return undefined;
  const phrase = text.slice(start, end);
  const word = phrase.slice(phrase.lastIndexOf(' ') + 1);
  // These need the words before them: `API key`, `unexpected token`. Others stand for themselves (`export password`).
  if (isQuoted || NEEDS_MORE.test(word)) return { name: phrase, start, isQuoted };
  return { name: word, start: end - word.length, isQuoted };
}

/** A quote, a closing bracket, a backslash before a quote, or TypeScript's `?` and `!`. */
function isKeyMark(code: number): boolean {
  return isQuote(code) || code === 93 || code === 92 || code === 63 || code === 33;
}

/** Behind `=`, `:`, `:=`, `=>`, `==` and `===`; undefined where something else is meant (`!=`, `::`, `://`). */
function separatorEnd(text: string, at: number): number | undefined {
  if (text.charAt(at) === ':') {
    if (text.charAt(at + 1) === ':' || text.charAt(at - 1) === ':' || text.startsWith('//', at + 1)) return undefined;
    return text.charCodeAt(at + 1) === EQUALS ? at + 2 : at + 1;
  }
  let end = at + 1;
  while (end - at < 3 && text.charCodeAt(end) === EQUALS) end += 1;
  return text.charCodeAt(end) === GREATER ? end + 1 : end;
}

/** Names that are secret in one place only: a driver's settings (`;Pwd=`), the query of a signed URL (`&sig=`). */
function isSecretBehind(before: number, name: string): boolean {
  if (before === 59) return name.toLowerCase() === 'pwd';
  return isQueryMark(before) && /^(?:sig|(?:x-(?:amz|goog)-)?signature)$/i.test(name);
}

function isQueryMark(code: number): boolean {
  return code === 63 || code === 38;
}

function quoteOrNone(code: number): number {
  return isQuote(code) ? code : Number.NaN;
}

/** Whether a value has spaces without being quoted: in a header, and where several words are the secret. */
function hasWholeLine(name: string): boolean {
  const last = name.slice(name.lastIndexOf(' ') + 1).toLowerCase();
  return /^(?:x-.*|(?:set-)?cookie)$/.test(last) || last.endsWith('authorization') || last.endsWith('phrase');
}

const LONGEST_AUTHORITY = 1024;

/** The password in the URL, of whatever scheme, whose `://` stands at `at`: `postgres://user:password@host`. */
function urlPasswordAt(text: string, at: number): Span | undefined {
  const from = at + 3;
  let colon = -1;
  let sign = -1;
  let end = from;
  for (; end - from < LONGEST_AUTHORITY && end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (endsUrl(code)) break;
    // A password that was not encoded may hold these; a number before them is a port, and the host is over.
    if ((code === 47 || code === 63 || code === 35) && (sign >= 0 || !isInPassword(text, colon, end))) break;
    if (code === COLON && text.startsWith('//', end + 1)) break; // the next URL
    if (code === COLON && colon < 0) colon = end;
    if (code === 64 && colon >= 0) sign = end; // the last @ of the authority
  }
  if (colon < 0 || sign <= colon + 1) return undefined;
  return isPlaceholder(text.slice(colon + 1, sign)) ? undefined : { start: colon + 1, end: sign };
}

/** The password of `curl -u user:password`, whose `-` stands at `at`. */
function curlPasswordAt(text: string, at: number): Span | undefined {
  const flag = USER_FLAGS.find((name) => text.startsWith(name, at));
  if (flag === undefined) return undefined;
  let from = skipBlanks(text, at + flag.length);
  if (text.charAt(from) === '=') from += 1;
  if (from === at + flag.length && flag.length > 2) return undefined;
  while (text.charAt(from) === '\\') from += 1;
  const quote = quoteOrNone(text.charCodeAt(from));
  const user = Number.isNaN(quote) ? from : from + 1;
  let colon = -1;
  let end = user;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (Number.isNaN(quote) ? isSpace(code) || isQuote(code) : code === quote || code === 10) break;
    if (code === COLON && colon < 0) colon = end;
    if (colon < 0 && (isBlank(code) || end - user > 200)) return undefined;
  }
  while (text.charAt(end - 1) === '\\') end -= 1;
  if (colon < 0 || end <= colon + 1 || isPlaceholder(text.slice(colon + 1, end))) return undefined;
  return { start: colon + 1, end };
}

const USER_FLAGS = ['--user', '--proxy-user', '-u', '-U'];

function endsUrl(code: number): boolean {
  return isSpace(code) || isQuote(code) || code === 60 || code === 62 || code === 92;
}

function isInPassword(text: string, colon: number, at: number): boolean {
  return colon >= 0 && at - colon <= 200 && has(text, colon + 1, at, (code) => !isDigit(code));
}
