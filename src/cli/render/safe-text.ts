import { displayWidth, isPictograph } from './width.js';

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
const TAB_STOP = 8;

// Everything that a terminal obeys instead of drawing, or draws as nothing: C0, DEL, C1; soft hyphen; joiners and
// fillers; bidi marks, embeddings, isolates; zero-width characters; line and paragraph separators; variation selectors;
// interlinear annotation; noncharacters; shorthand and music format; tags; unpaired surrogates.
const NOT_DRAWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each stands for itself, not for what it would join
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

const SHORT_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0d, '\\r'],
]);

/**
 * Gives text from a session as one line that a terminal can only draw: what it would obey is shown, `\u{1b}` for ESC.
 *
 * TAB, LF and CR show as `\t`, `\n`, `\r`. Joiners and selectors stay where writing needs them (inside an emoji,
 * between letters of Arabic or an Indic script, after an ideograph). Text that is safe comes back as it is.
 * @see CLI.md, "Shape"
 */
export function safeText(text: string): string {
  return PRINTABLE_ASCII.test(text) ? text : replaceNotDrawn(text, showCodePoint);
}

/**
 * Gives text from a session as lines, each safe as {@link safeText} makes it, tabs drawn as spaces.
 *
 * A line ends with LF or CRLF; one at the end of the text begins no further line, so an empty text has no lines.
 */
export function safeLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (PRINTABLE_ASCII.test(line) ? line : safeLine(line)));
}

/**
 * Gives a text with each character that a terminal would not simply draw replaced by what `show` makes of it.
 *
 * Joiners and selectors that writing needs are left.
 */
export function replaceNotDrawn(text: string, show: (codePoint: number) => string): string {
  return text.replace(NOT_DRAWN, (character: string, index: number) =>
    isPartOfWriting(character, text, index) ? character : show(character.codePointAt(0) as number),
  );
}

function showCodePoint(codePoint: number): string {
  return SHORT_ESCAPES.get(codePoint) ?? `\\u{${codePoint.toString(16)}}`;
}

function safeLine(line: string): string {
  let column = 0;
  const drawn = line.split('\t').map((part, at) => {
    const spaces = at === 0 ? 0 : TAB_STOP - (column % TAB_STOP);
    const text = safeText(part);
    column += spaces + displayWidth(text);
    return ' '.repeat(spaces) + text;
  });
  return drawn.join('');
}

function isPartOfWriting(character: string, text: string, index: number): boolean {
  const codePoint = character.codePointAt(0) as number;
  if (codePoint === 0x200d || codePoint === 0x200c) return joinsNeighbours(codePoint, text, index);
  const before = codePointBefore(text, index);
  if (before === undefined) return false;
  if (codePoint === 0xfe0e || codePoint === 0xfe0f) return isPictograph(before) || isKeycapBase(before);
  const selectsGlyph = (codePoint >= 0xfe00 && codePoint <= 0xfe0d) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef);
  return selectsGlyph && isIdeograph(before);
}

function joinsNeighbours(joiner: number, text: string, index: number): boolean {
  const before = codePointBefore(text, index);
  const after = text.codePointAt(index + 1);
  if (before === undefined || after === undefined) return false;
  if (needsJoiners(before) && needsJoiners(after)) return true;
  return joiner === 0x200d && (isPictograph(before) || before === 0xfe0f) && isPictograph(after);
}

function codePointBefore(text: string, index: number): number | undefined {
  const unit = index > 0 ? text.charCodeAt(index - 1) : undefined;
  const isTrail = unit !== undefined && unit >= 0xdc00 && unit <= 0xdfff;
  return isTrail && index > 1 ? text.codePointAt(index - 2) : unit;
}

// Arabic, Syriac and N'Ko; the Indic scripts; Myanmar; Khmer and Mongolian: letters there change shape at a joiner.
function needsJoiners(codePoint: number): boolean {
  return (
    (codePoint >= 0x0620 && codePoint <= 0x07ff) ||
    (codePoint >= 0x08a0 && codePoint <= 0x0dff) ||
    (codePoint >= 0x1000 && codePoint <= 0x109f) ||
    (codePoint >= 0x1780 && codePoint <= 0x18af)
  );
}

function isIdeograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x3400 && codePoint <= 0x9fff) ||
    (codePoint >= 0xf900 && codePoint <= 0xfaff) ||
    (codePoint >= 0x20000 && codePoint <= 0x3fffd)
  );
}

function isKeycapBase(codePoint: number): boolean {
  return (codePoint >= 0x30 && codePoint <= 0x39) || codePoint === 0x23 || codePoint === 0x2a;
}
