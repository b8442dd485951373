// Beyond ASCII every character counts alike: payloads are scanned as bytes, in which there are no others.
const ALPHANUMERIC = 1;
const TOKEN = 2;
const NAME = 4;
const KINDS = new Uint8Array(128);
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789') {
  KINDS[letter.charCodeAt(0)] = ALPHANUMERIC | TOKEN | NAME;
}
for (const mark of '-_') KINDS[mark.charCodeAt(0)] = TOKEN | NAME;
for (const mark of '.$') KINDS[mark.charCodeAt(0)] = NAME;

/** A letter or digit of ASCII. Past the end of a text (NaN) nothing is anything. */
export function isAlphanumeric(code: number): boolean {
  return code < 128 && ((KINDS[code] ?? 0) & ALPHANUMERIC) !== 0;
}

/** A character of base64url. */
export function isTokenCode(code: number): boolean {
  return code < 128 && ((KINDS[code] ?? 0) & TOKEN) !== 0;
}

/** A character of a key, a flag or a path of names: `spring.datasource.password`. */
export function isNameCode(code: number): boolean {
  return code < 128 && ((KINDS[code] ?? 0) & NAME) !== 0;
}

export function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Space, line ends and other controls. */
export function isSpace(code: number): boolean {
  return code <= 32 || code === 127;
}

export function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

export function skipBlanks(text: string, from: number): number {
  return skip(text, from, isBlank);
}

/** The offset of the first character at or after `from` that is not of a kind. */
export function skip(text: string, from: number, isKind: (code: number) => boolean): number {
  let at = from;
  while (isKind(text.charCodeAt(at))) at += 1;
  return at;
}

export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function has(text: string, from: number, to: number, isKind: (code: number) => boolean): boolean {
  for (let at = from; at < to; at += 1) if (isKind(text.charCodeAt(at))) return true;
  return false;
}

/** A letter or digit of any script: beyond ASCII every character passes for one. */
export function hasLetter(text: string): boolean {
  return has(text, 0, text.length, (code) => isAlphanumeric(code) || code >= 128);
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}
