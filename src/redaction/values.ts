import { hasLetter, isBlank, isNameCode, isQuote, isSpace, skipBlanks, wordSet } from './characters.js';
import { isSecretName } from './names.js';
import { REDACTED } from './replacement.js';
import type { Span } from './tokens.js';

interface ValueSite {
  /** In a URL or a form, where `&` and `#` always end a value. */
  readonly inQuery: boolean;
  /** The name of the key; a value that repeats it says nothing. */
  readonly name: string;
  /** Whether the value follows a bare key at once (`token=`): a quote there may close what the pair stands in. */
  readonly tight: boolean;
}

/** Whether a text only stands for a secret: nothing, `***`, `<password>`, `${PASSWORD}`, `{{ secret }}`, `[REDACTED]`. */
export function isPlaceholder(text: string): boolean {
  const inner = text.trim();
  if (inner === REDACTED || !hasLetter(inner) || /^[xX]{3,200}$/.test(inner)) return true;
  if (inner.length > LONGEST_REFERENCE) return false;
  return (
    /^<[^<>]{1,120}>$/.test(inner) ||
    /^\{\{[^{}]{1,120}\}\}$/.test(inner) ||
    /^\$\{\{?[^{}]{1,120}\}?\}$/.test(inner) ||
    /^\$[A-Z_][A-Z0-9_]{0,80}$/.test(inner) ||
    /^%[A-Z_][A-Z0-9_]{0,80}%$/.test(inner) ||
    /^op:\/\/\S{1,120}$/.test(inner) ||
    /^\[[A-Za-z ]{1,60}\]$/.test(inner) // `[trimmed]`, `[hidden by policy]`
  );
}

// Whatever looks ahead looks no farther: every other character of a text may start a value.
const LONGEST_REFERENCE = 128;

/** The secret in the value that starts at `from`, quoted or not; undefined when it is none. */
export function valueAt(text: string, from: number, site: ValueSite): Span | undefined {
  const quote = quoteAt(text, from);
  if (quote !== undefined) return site.tight && closesQuote(text, quote.inside) ? undefined : quotedSecret(text, quote);
  if (!text.startsWith(REDACTED, from)) {
    if (!startsBareValue(text.charCodeAt(from))) return undefined;
    if (isReference(text, from, site)) return undefined;
  }
  let end = bareEnd(text, from, site);
  if (end - from < 8 && withoutScheme(text.slice(from, end)) === '') {
    const behind = skipBlanks(text, end);
    if (startsBareValue(text.charCodeAt(behind))) end = bareEnd(text, behind, site);
  }
  const value = text.slice(from, end);
  return isPlaceholder(value) ? undefined : { start: from, end };
}

/** All of a header's value: up to the end of the line, or to the quote (a character code) around the header. */
export function headerValueAt(text: string, from: number, site: ValueSite, around: number): Span | undefined {
  if (quoteAt(text, from) !== undefined) return valueAt(text, from, site);
  if (isReference(text, from, site)) return undefined;
  let end = from;
  while (end < text.length && !isEndOfLine(text, end)) {
    if (text.charCodeAt(end) === around) break;
    end += 1;
  }
  while (end > from && (isSpace(text.charCodeAt(end - 1)) || text.charAt(end - 1) === '\\')) end -= 1;
  const value = text.slice(from, end);
  return isPlaceholder(value) || isPlaceholder(withoutScheme(value)) ? undefined : { start: from, end };
}

/** The end of a line, written out as `\n` in a quoted text or not. */
function isEndOfLine(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 10 || code === 13) return true;
  return code === 92 && (text.charAt(at + 1) === 'n' || text.charAt(at + 1) === 'r');
}

/** `Bearer $TOKEN` and `Bearer ${token}` hold as little as the reference alone. */
function withoutScheme(value: string): string {
  const head = /^(?:bearer|basic|token|digest|apikey) {0,4}/i.exec(value.slice(0, 20))?.[0] ?? '';
  return value.slice(head.length);
}

interface OpeningQuote {
  readonly code: number;
  /** How many backslashes stand before it: a text that quotes JSON, or quotes one that does. */
  readonly escapes: number;
  readonly inside: number;
}

/** The quote that opens a value, behind a letter or two that say how it is read (`f"`, `rb'`). */
function quoteAt(text: string, from: number): OpeningQuote | undefined {
  let at = from;
  while (at - from < 2 && 'fFrRbBuU@$'.includes(text.charAt(at) || ' ')) at += 1;
  if (at > from && !isQuote(text.charCodeAt(at))) at = from;
  const slashes = at;
  while (text.charCodeAt(at) === 92 && at - slashes < 16) at += 1;
  const code = text.charCodeAt(at);
  return isQuote(code) ? { code, escapes: at - slashes, inside: at + 1 } : undefined;
}

/** `"?token=" + token`, `-d 'user=x&password='`: the quote is the end of a text and no value follows. */
function closesQuote(text: string, behind: number): boolean {
  const code = text.charCodeAt(behind);
  return Number.isNaN(code) || isSpace(code) || ')];,+}'.includes(String.fromCharCode(code));
}

function quotedSecret(text: string, { code, escapes, inside }: OpeningQuote): Span | undefined {
  // Checked before the end is looked for, which may be far: what is no secret is read again for others.
  if (startsPlaceholder(text, inside)) return undefined;
  let slashes = 0;
  let end = inside;
  for (; end < text.length; end += 1) {
    const here = text.charCodeAt(end);
    if (here === 92) {
      slashes += 1;
      continue;
    }
    if (here === 10 || here === 13) break;
    // Each level of quoting doubles the backslashes and adds one.
    if (here === code && slashes % (2 * (escapes + 1)) === escapes) break;
    slashes = 0;
  }
  if (text.charCodeAt(end) === code) end -= escapes;
  const value = text.slice(inside, end);
  if (isPlaceholder(value) || isPlaceholder(withoutScheme(value))) return undefined;
  return { start: inside, end };
}

/** `"${password}"` and `"Bearer ${token}"`: told from the first characters alone. */
function startsPlaceholder(text: string, inside: number): boolean {
  const head = withoutScheme(text.slice(inside, inside + LONGEST_REFERENCE));
  return /^\$\{[^{}"'`\n]{1,100}\}["'`]/.test(head) || /^\{\{[^{}"'`\n]{1,100}\}\}["'`]/.test(head);
}

function startsBareValue(code: number): boolean {
  if (!(code > 32) || isQuote(code) || code === 127) return false;
  return code >= 128 || !'{[(|,;&)]}'.includes(String.fromCharCode(code));
}

/** Where a value without quotes ends; marks that close something around it are not part of it. */
function bareEnd(text: string, from: number, site: ValueSite): number {
  let end = from;
  while (end < text.length && !endsBareValue(text, end, site)) end += 1;
  while (
    end > from + 1 &&
    ',;)]}'.includes(text.charAt(end - 1)) &&
    !text.startsWith(REDACTED, end - REDACTED.length)
  ) {
    end -= 1;
  }
  return end;
}

function endsBareValue(text: string, at: number, site: ValueSite): boolean {
  const code = text.charCodeAt(at);
  if (isSpace(code) || isQuote(code)) return true;
  switch (code) {
    case 60: // <
    case 62: // >
    case 124: // |
      return true;
    case 35: // #
      return site.inQuery;
    case 38: // &
      return site.inQuery || startsPair(text, at + 1);
    case 44: // ,
    case 59: // ;
      return startsPair(text, at + 1);
    case 92:
      return /^\\{1,8}["'`nrt]/.test(text.slice(at, at + 9));
    default:
      return false;
  }
}

/** Whether the next pair (`b=c`), or no value at all, stands behind a mark that can part values or be in one. */
function startsPair(text: string, from: number): boolean {
  const first = text.charCodeAt(from);
  if (Number.isNaN(first) || isSpace(first) || isQuote(first) || '[]{}()&,;'.includes(text.charAt(from))) return true;
  let at = from;
  while (at - from < 40 && isNameCode(text.charCodeAt(at))) at += 1;
  const behind = text.charAt(at);
  return at > from && (behind === '=' || behind === ':' || behind === '[');
}

const WORDS_OF_CODE = wordSet(
  'string str number int integer float double bool boolean any unknown object null undefined none nil true false ' +
    'void never byte bytes char text varchar uuid buffer secretstr option optional union result promise array list ' +
    'dict record map required yes no on off inherit',
);

const WORDS_OF_PROSE = wordSet(
  'a an the is are was be to of for from in on with without and or if as when that this which must should can may ' +
    'will your our you it its not flag option argument parameter value instead via at least',
);

const VERBS_OF_CODE = wordSet('await new yield return typeof function async lambda import require raise throw');

/** Whether code or a template says here where the secret comes from, or of what type it is. */
function isReference(text: string, from: number, site: ValueSite): boolean {
  const head = text.slice(from, from + LONGEST_REFERENCE);
  if (/^(?:\$[({]|<[A-Za-z][^<>\n]{0,100}>|!(?:secret|vault|env|ref|sub)\b|op:\/\/|\$env:|this\.#)/i.test(head))
    return true;
  if (isVariable(head) || /^%[sdvq](?!\w)/.test(head)) return true;
  // What a parser calls its kinds of tokens.
  if (/token$/i.test(site.name) && /^\d{1,3}(?![\w.-])/.test(head)) return true;
  let size = head.startsWith('&') ? 1 : 0;
  const nameFrom = size;
  while (size < head.length && isNameCode(head.charCodeAt(size)) && head.charAt(size) !== '-') size += 1;
  const path = head.slice(nameFrom, size);
  const word = path.toLowerCase();
  const behind = head.charAt(size);
  if (WORDS_OF_CODE.has(word) && !isWordBehind(head, size)) return true;
  const isFollowed = behind === ' ' && /[A-Za-z0-9(]/.test(head.charAt(skipBlanks(head, size)));
  if (isFollowed && VERBS_OF_CODE.has(word)) return true;
  if (WORDS_OF_PROSE.has(word) && (isFollowed || /^[,.;)]?(?:\s|$)/.test(head.slice(size)))) return true;
  return /^[A-Za-z_$][\w.$]{0,120}$/.test(path) && !path.endsWith('.') && isCodePath(head, path, size, site);
}

/** `$password`, `$API_KEY_2`, `%TOKEN%`, `:password` and `@password` of a query. */
function isVariable(head: string): boolean {
  const found = /^[$%@:]([A-Za-z_]\w{0,80})%?/.exec(head);
  const name = found?.[1];
  if (found === null || name === undefined || isWordBehind(head, found[0].length)) return false;
  if (!head.startsWith('$')) return isSecretName(name);
  return !/\d/.test(name) || name === name.toUpperCase();
}

/** Whether a word goes on at `at`, so that what was found is only its beginning. */
function isWordBehind(head: string, at: number): boolean {
  const code = head.charCodeAt(at);
  return isNameCode(code) || code >= 128 || '@#%^*+~/!'.includes(head.charAt(at) || ' ');
}

// Where a program finds its settings and its arguments.
const ROOTS =
  /^(?:process\.env|import\.meta\.env|os\.environ|os\.getenv|env|this|self|config|settings|req|args|opts|options)\./;

function isCodePath(head: string, path: string, size: number, { name, tight }: ValueSite): boolean {
  const behind = head.slice(size);
  // A call, with what closes it in sight or on a later line, and a look into an array or a map.
  if (/^\([^\n)]{0,120}(?:\)|\n|$)/.test(behind)) return true;
  if (/^\[(?:["'][^"'\n]{0,80}["']|\w{1,40})\]/.test(behind) && !behind.startsWith(REDACTED)) return true;
  if (isWordBehind(head, size) || behind.startsWith('-') || behind.startsWith('=')) return false;
  if (ROOTS.test(path) || path.toLowerCase() === name.toLowerCase()) return true;
  if (/\d/.test(path)) return false;
  const namesSecret = isSecretName(path) || /(?:token|key)$/i.test(path) || /^[A-Za-z]{1,40}Token\./.test(path);
  const isDotted = path.includes('.');
  const isConstant = path === path.toUpperCase();
  const isCamelCase = path !== path.toLowerCase() && !tight;
  if (namesSecret && (isDotted || isConstant || isCamelCase)) return true;
  if (!tight && /^[A-Z][a-z]{1,30}[A-Z][A-Za-z]{1,40}$/.test(path) && /^(?:[;,)]| \|)/.test(behind)) return true; // a type
  // A statement or an argument. Of a bare word only where the name is as much a parser's as a login's.
  return !tight && /^[;,)]/.test(behind) && (isDotted || /token$/i.test(name));
}

/** Behind a type annotation with a default value (`password: str = "…"`), the offset of that value. */
export function behindAnnotation(text: string, from: number): number | undefined {
  const head = text.slice(from, from + 60);
  const word = /^&?[A-Za-z]{1,20}/.exec(head)?.[0];
  if (word === undefined || !WORDS_OF_CODE.has(word.replace('&', '').toLowerCase())) return undefined;
  const rest = /^[\w[\]<>|.?, ]{0,30}=(?![=>])/.exec(head.slice(word.length))?.[0];
  return rest === undefined ? undefined : skipBlanks(text, from + word.length + rest.length);
}

/** Whether the argument of a flag may start here: one space behind it, and no further flag. */
export function isArgument(text: string, at: number): boolean {
  return isBlank(text.charCodeAt(at - 1)) && !isBlank(text.charCodeAt(at - 2)) && text.charAt(at) !== '-';
}
