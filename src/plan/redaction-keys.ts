import { isAlphanumeric, isBlank, isNameCode, isQuote, skipBlanks } from './redaction-characters.js';
import { isSecretName } from './redaction-names.js';
import type { Span } from './redaction-tokens.js';
import { behindAnnotation, headerValueAt, isArgument, valueAt } from './redaction-values.js';

const LONGEST_KEY = 80;
const NEEDS_MORE = /^(?:token|key|phrase)s?$/i;
const EQUALS = 61;
const GREATER = 62;

/**
 * Gives the secret behind the `=` or `:` at `at` when a secret-named key stands before it: `key=value`, `key: value`,
 * `"key": "value"`, a header, an assignment. Looks no farther back than `floor`, the end of what was hidden before.
 */
export function pairValueAt(text: string, at: number, floor: number): Span | undefined {
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

/** Gives the argument of the flag that starts at `at`, if its name is secret: `--password value`. */
export function flagValueAt(text: string, at: number): Span | undefined {
  let end = at + 2;
  while (end - at < LONGEST_KEY && isNameCode(text.charCodeAt(end))) end += 1;
  const from = skipBlanks(text, end);
  if (from === end || !isArgument(text, from)) return undefined;
  const name = text.slice(at + 2, end);
  return isSecretName(name) ? valueAt(text, from, { name, inQuery: false, tight: false }) : undefined;
}

/** Gives what an XML element whose name is secret holds: `<password>value</password>`. */
export function elementValueAt(text: string, at: number): Span | undefined {
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
  const isQuoted = hasQuote(text, end, marksFrom);
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

function hasQuote(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (isQuote(text.charCodeAt(at))) return true;
  return false;
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

/** `?`, `&`. */
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

function hasLetter(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (isAlphanumeric(code) || code >= 128) return true;
  }
  return false;
}
