import { isBlank, isQuote, isSpace, skipBlanks } from './redaction-characters.js';
import type { Span } from './redaction-tokens.js';
import { isPlaceholder } from './redaction-values.js';

const LONGEST_AUTHORITY = 1024;
const COLON = 58;

/** Gives the password in the URL, of whatever scheme, whose `://` stands at `at`: `postgres://user:password@host`. */
export function urlPasswordAt(text: string, at: number): Span | undefined {
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

/** Gives the password of `curl -u user:password`, whose `-` stands at `at`. */
export function curlPasswordAt(text: string, at: number): Span | undefined {
  const flag = USER_FLAGS.find((name) => text.startsWith(name, at));
  if (flag === undefined) return undefined;
  let from = skipBlanks(text, at + flag.length);
  if (text.charAt(from) === '=') from += 1;
  if (from === at + flag.length && flag.length > 2) return undefined;
  while (text.charAt(from) === '\\') from += 1;
  const quote = isQuote(text.charCodeAt(from)) ? text.charCodeAt(from) : Number.NaN;
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
  if (colon < 0 || at - colon > 200) return false;
  for (let index = colon + 1; index < at; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 48 || code > 57) return true;
  }
  return false;
}
