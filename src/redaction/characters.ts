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
  let at = from;
  while (isBlank(text.charCodeAt(at))) at += 1;
  return at;
}
