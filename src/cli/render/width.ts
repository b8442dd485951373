/** Where a text is put when it is narrower than its column. */
export type Alignment = 'left' | 'right';

const ASCII = /^[\x20-\x7e]*$/;
// Engine tables of marks and emoji cost nothing until the first text that is not ASCII; a Segmenter costs 11 ms or more.
const MARK = /^[\p{Mn}\p{Me}\p{Mc}]$/u;
const NONSPACING = /^[\p{Mn}\p{Me}\p{Cf}]$/u;
const SPACING_MARK = /^\p{Mc}$/u;
const PICTOGRAPH = /^\p{Extended_Pictographic}$/u;
const WIDE_EMOJI = /^\p{Emoji_Presentation}$/u;

const ZERO_WIDTH_JOINER = 0x200d;
const EMOJI_STYLE = 0xfe0f;
const WIDE = 2;

// Blocks whose characters take two columns (Unicode's East Asian Width W and F), first and last code point. Emoji are
// not among them: the engine knows those. Places that are not yet assigned count as their block does.
const WIDE_BLOCKS = [
  [0x1100, 0x115f], // Hangul, leading consonants
  [0x2329, 0x232a], // angle brackets
  [0x2630, 0x2637], // trigrams
  [0x268a, 0x268f], // monograms and digrams
  [0x2e80, 0x303e], // CJK radicals and punctuation
  [0x3041, 0x3247], // kana, Bopomofo, Hangul compatibility jamo, enclosed
  [0x3250, 0xa4cf], // CJK ideographs, Yi
  [0xa960, 0xa97f], // Hangul, older leading consonants
  [0xac00, 0xd7a3], // Hangul syllables
  [0xf900, 0xfaff], // CJK compatibility ideographs
  [0xfe10, 0xfe1f], // vertical forms
  [0xfe30, 0xfe6f], // CJK compatibility forms
  [0xff01, 0xff60], // fullwidth forms
  [0xffe0, 0xffe6], // fullwidth signs
  [0x16fe0, 0x1b2ff], // Tangut, Khitan, Nushu, older kana
  [0x1d300, 0x1d376], // Tai Xuan Jing, counting rods
  [0x1f200, 0x1f2ff], // enclosed ideographs
  [0x20000, 0x3fffd], // further ideographs
] as const;

/**
 * Gives how many columns of a terminal a text takes: none for a mark on another character, two for CJK and emoji.
 *
 * An emoji sequence (family, flag, skin tone, keycap) takes two in all. Characters of ambiguous width take one.
 * Control characters and unpaired surrogates count as none: show them first (`safeText`).
 */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (let at = 0; at < text.length; ) {
    const cluster = clusterAt(text, at);
    width += cluster.width;
    at = cluster.end;
  }
  return width;
}

/**
 * Gives a text of at most `width` columns: itself, or its beginning with a mark at the end that says it was cut.
 *
 * What a reader sees as one character stays whole. Where there is no room for the mark nothing is left.
 * @param width - Columns, 0 or more.
 */
export function truncateToWidth(text: string, width: number, mark = '…'): string {
  if (text.length <= width && ASCII.test(text)) return text;
  const room = width - displayWidth(mark);
  let kept = 0;
  let used = 0;
  for (let at = 0; at < text.length; ) {
    const cluster = clusterAt(text, at);
    used += cluster.width;
    at = cluster.end;
    if (used <= room) kept = at;
    if (used > width) return room < 0 ? '' : `${text.slice(0, kept).trimEnd()}${mark}`;
  }
  return text;
}

/** Gives a text with spaces after it, or before it when it goes to the right, up to `width` columns; never cut. */
export function padToWidth(text: string, width: number, align: Alignment = 'left'): string {
  const missing = width - displayWidth(text);
  if (missing <= 0) return text;
  return align === 'left' ? text + ' '.repeat(missing) : ' '.repeat(missing) + text;
}

/** Tells whether a code point is a picture that may take part in an emoji sequence. */
export function isPictograph(codePoint: number): boolean {
  return codePoint > 0xa8 && (isSkinTone(codePoint) || PICTOGRAPH.test(String.fromCodePoint(codePoint)));
}

interface Cluster {
  /** Index of the first code unit after it. */
  readonly end: number;
  readonly width: number;
}

/** Gives what a reader sees as one character: a base and what joins it. */
function clusterAt(text: string, start: number): Cluster {
  const base = text.codePointAt(start) as number;
  let end = start + unitsOf(base);
  let next = text.codePointAt(end);
  if (base < 0x300 && (next === undefined || next < 0x300)) return { end, width: widthOf(base) };

  let width = widthOf(base);
  if (isRegionalIndicator(base) && next !== undefined && isRegionalIndicator(next)) {
    end += unitsOf(next);
    width = WIDE;
    next = text.codePointAt(end);
  }
  let last = base;
  while (next !== undefined && joins(base, last, next)) {
    if (next === EMOJI_STYLE && isEmojiBase(base)) width = WIDE;
    else if (SPACING_MARK.test(String.fromCodePoint(next))) width += 1;
    last = next;
    end += unitsOf(next);
    next = text.codePointAt(end);
  }
  return { end, width };
}

function joins(base: number, last: number, next: number): boolean {
  if (next < 0x300 || isIdeographOrSyllable(next)) return false;
  if (next === ZERO_WIDTH_JOINER || isVariationSelector(next) || isHangulTail(next)) return true;
  if (isSkinTone(next)) return isPictograph(last);
  if (last === ZERO_WIDTH_JOINER && isPictograph(next)) return isPictograph(base);
  return MARK.test(String.fromCodePoint(next));
}

function widthOf(codePoint: number): number {
  if (codePoint < 0x300) return isControl(codePoint) ? 0 : 1;
  if (isRegionalIndicator(codePoint)) return 1; // alone it is a letter in a box
  if (isIdeographOrSyllable(codePoint)) return WIDE;
  if (isHangulTail(codePoint) || isVariationSelector(codePoint) || isSurrogate(codePoint)) return 0;
  const character = String.fromCodePoint(codePoint);
  if (NONSPACING.test(character)) return 0;
  const isWide = WIDE_BLOCKS.some(([first, last]) => codePoint >= first && codePoint <= last);
  return isWide || WIDE_EMOJI.test(character) ? WIDE : 1;
}

// The bulk of CJK text, told without asking the engine.
function isIdeographOrSyllable(codePoint: number): boolean {
  return (codePoint >= 0x3400 && codePoint <= 0x9fff) || (codePoint >= 0xac00 && codePoint <= 0xd7a3);
}

// Vowels and trailing consonants are drawn inside the syllable that a leading consonant began.
function isHangulTail(codePoint: number): boolean {
  return (codePoint >= 0x1160 && codePoint <= 0x11ff) || (codePoint >= 0xd7b0 && codePoint <= 0xd7fb);
}

function isVariationSelector(codePoint: number): boolean {
  return (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef);
}

function isSkinTone(codePoint: number): boolean {
  return codePoint >= 0x1f3fb && codePoint <= 0x1f3ff;
}

function isRegionalIndicator(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

// Digits, # and * become keycaps.
function isEmojiBase(codePoint: number): boolean {
  return (
    isPictograph(codePoint) || (codePoint >= 0x30 && codePoint <= 0x39) || codePoint === 0x23 || codePoint === 0x2a
  );
}

function isControl(codePoint: number): boolean {
  return codePoint < 0x20 || (codePoint >= 0x7f && codePoint <= 0x9f);
}

function isSurrogate(codePoint: number): boolean {
  return codePoint >= 0xd800 && codePoint <= 0xdfff;
}

function unitsOf(codePoint: number): number {
  return codePoint > 0xffff ? 2 : 1;
}
