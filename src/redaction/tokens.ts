import { has, isAlphanumeric, isBlank, isDigit, isTokenCode, skip } from './characters.js';

/** Where a secret stands in a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A cheap look before a thorough one: whether a token of a known form may start with these two characters. */
export function mayStartToken(first: number, second: number): boolean {
  return first < 128 && second < 128 && FIRST_TWO[first * 128 + second] === 1;
}

/** The token of a known form that starts at `at`, if one does. `floor` is the end of what was hidden before. */
export function tokenAt(text: string, at: number, floor: number): Span | undefined {
  for (const form of FORMS_BY_FIRST.get(text.charCodeAt(at)) ?? []) {
    if (!text.startsWith(form.prefix, at) || !startsWord(text, at, floor)) continue;
    const end = form.end(text, at + form.prefix.length);
    if (end !== undefined) return { start: at + (form.kept ?? 0), end };
  }
  return undefined;
}

interface TokenForm {
  readonly prefix: string;
  /** How much of the prefix may stay in sight. */
  readonly kept?: number;
  /** From behind the prefix to the end of the token, or undefined when it is none. */
  readonly end: (text: string, from: number) => number | undefined;
}

/**
 * At least `least` characters, `steady` of them without `-` or `_`: `sk-learn-pipeline` is a name, what a generator
 * made has long stretches.
 */
function tail(least: number, steady = Math.min(least, 12)) {
  return (text: string, from: number): number | undefined => {
    const end = wordEnd(text, from);
    return end - from >= least && longestStretch(text, from, end) >= steady ? end : undefined;
  };
}

function alphanumeric(least: number) {
  return (text: string, from: number): number | undefined => {
    const end = skip(text, from, isAlphanumeric);
    return end - from >= least ? end : undefined;
  };
}

const openAi = (text: string, from: number): number | undefined => {
  const end = tail(20, 1)(text, from);
  if (end === undefined) return undefined;
  const stretch = longestStretch(text, from, end);
  return stretch >= 20 || (stretch >= 10 && hasDigit(text, from, end)) ? end : undefined;
};

/** `AKIA` and sixteen more in capitals and digits, and no seventeenth. */
const awsId = (text: string, from: number): number | undefined => {
  return /^[A-Z0-9]{16}(?![\w-])/.test(text.slice(from, from + 17)) ? from + 16 : undefined;
};

/** Header, payload and signature in base64url; a text that was cut may have lost some of the signature. */
const jsonWebToken = (text: string, from: number): number | undefined => {
  const header = wordEnd(text, from);
  if (header - from < 8 || text.charAt(header) !== '.') return undefined;
  const payload = wordEnd(text, header + 1);
  const hasObject = text.startsWith('eyJ', header + 1);
  if (payload - header < 9) return undefined;
  if (text.charAt(payload) !== '.') return hasObject ? payload : undefined;
  const signature = wordEnd(text, payload + 1);
  return signature - payload > 8 || hasObject ? signature : undefined;
};

const sendGrid = (text: string, from: number): number | undefined => {
  const id = wordEnd(text, from);
  if (id - from < 16 || text.charAt(id) !== '.') return undefined;
  const end = wordEnd(text, id + 1);
  return end - id > 16 ? end : undefined;
};

// One part may be percent-encoded. Bounded, or a text full of prefixes would be read to its end from each of them.
const slack = (text: string, from: number): number | undefined => {
  let end = wordEnd(text, from);
  while ((text.charAt(end) === '%' || text.charAt(end) === '.') && end - from < 100) end = wordEnd(text, end + 1);
  return end - from >= 10 && hasDigit(text, from, end) ? end : undefined;
};

/** The path behind the address of a webhook: whoever has it can post. */
const webhookPath = (text: string, from: number): number | undefined => {
  const end = skip(text, from, (code) => isTokenCode(code) || code === 47);
  return end - from >= 20 ? end : undefined;
};

/** What stands behind `Bearer `; a word of prose has neither digits nor such a length. */
function bearer(longestWord: number) {
  return (text: string, from: number): number | undefined => {
    let end = skip(text, from, isBearerCode);
    while (end > from && text.charAt(end - 1) === '.') end -= 1;
    const size = end - from;
    return size > longestWord || (size >= 10 && hasDigit(text, from, end)) ? end : undefined;
  };
}

/** What stands behind `Basic `: base64, so capitals and small letters and a digit or padding. */
const basic = (text: string, from: number): number | undefined => {
  let end = from;
  let capital = false;
  let small = false;
  let other = false;
  for (; isBearerCode(text.charCodeAt(end)); end += 1) {
    const code = text.charCodeAt(end);
    if (code >= 97) small = true;
    else if (code >= 65) capital = true;
    else other = true;
  }
  return end - from >= 12 && capital && small && other ? end : undefined;
};

const each = (prefixes: string, end: TokenForm['end']): TokenForm[] =>
  prefixes.split(' ').map((prefix) => ({ prefix, end }));
const behind = (words: readonly string[], end: TokenForm['end']): TokenForm[] =>
  words.map((prefix) => ({ prefix, kept: prefix.length, end }));

// Where one prefix starts with another, the longer one comes first.
const FORMS: readonly TokenForm[] = [
  ...each('sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1-', tail(16, 8)), // Anthropic, OpenAI, OpenRouter
  { prefix: 'sk-', end: openAi },
  ...each('ghp_ gho_ ghu_ ghs_ ghr_', alphanumeric(20)), // GitHub
  { prefix: 'github_pat_', end: tail(20) },
  ...each('glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glagent- glimt-', tail(16, 6)), // GitLab
  { prefix: 'AIza', end: tail(30, 1) }, // Google
  { prefix: 'GOCSPX-', end: tail(20, 6) },
  { prefix: 'ya29.', end: tail(20, 6) },
  ...each('xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxp- xoxr- xoxs- xapp-', slack),
  { prefix: 'hooks.slack.com/services/', kept: 25, end: webhookPath },
  { prefix: 'hooks.slack.com/workflows/', kept: 26, end: webhookPath },
  { prefix: 'hooks.slack.com/triggers/', kept: 25, end: webhookPath },
  { prefix: 'discord.com/api/webhooks/', kept: 25, end: webhookPath },
  ...each('AKIA ASIA ABIA ACCA', awsId),
  { prefix: 'eyJ', end: jsonWebToken },
  ...each('sk_live_ sk_test_ rk_live_ rk_test_ whsec_', alphanumeric(16)), // Stripe
  { prefix: 'npm_', end: alphanumeric(30) },
  { prefix: 'pypi-', end: tail(40, 12) },
  { prefix: 'hf_', end: alphanumeric(20) }, // Hugging Face
  { prefix: 'SG.', end: sendGrid },
  ...each('dop_v1_ doo_v1_ dor_v1_', alphanumeric(32)), // DigitalOcean
  { prefix: 'gsk_', end: alphanumeric(20) }, // Groq
  { prefix: 'xai-', end: tail(20) },
  { prefix: 'pplx-', end: tail(20) },
  ...each('shpat_ shpca_ shppa_ shpss_', alphanumeric(32)), // Shopify
  ...each('hvs. hvb.', tail(20)), // HashiCorp Vault
  { prefix: 'dckr_pat_', end: tail(20, 6) },
  { prefix: 'lin_api_', end: alphanumeric(20) },
  { prefix: 'glsa_', end: tail(20) }, // Grafana
  { prefix: 'AGE-SECRET-KEY-1', end: alphanumeric(40) },
  ...behind(['Bearer ', 'BEARER '], bearer(16)), // `Bearer responsibilities`
  ...behind(['bearer '], bearer(24)),
  ...behind(['Basic ', 'basic '], basic),
];

const FORMS_BY_FIRST = new Map<number, TokenForm[]>();
const FIRST_TWO = new Uint8Array(128 * 128);
for (const form of FORMS) {
  const first = form.prefix.charCodeAt(0);
  FORMS_BY_FIRST.set(first, [...(FORMS_BY_FIRST.get(first) ?? []), form]);
  FIRST_TWO[first * 128 + form.prefix.charCodeAt(1)] = 1;
}

/**
 * Not inside a word, so `task-sk-…` is none. The letter of a written escape (`
 * `, `%20`, a colour) belongs to no word.
 */
function startsWord(text: string, at: number, floor: number): boolean {
  if (at <= floor || !isTokenCode(text.charCodeAt(at - 1))) return true;
  const before = text.slice(Math.max(floor, at - 12), at);
  return /\\[nrtbf]$/.test(before) || /%[0-9A-Fa-f]{2}$/.test(before) || /\[[0-9;]{0,9}m$/.test(before);
}

function wordEnd(text: string, from: number): number {
  return skip(text, from, isTokenCode);
}

function longestStretch(text: string, from: number, end: number): number {
  let longest = 0;
  let start = from;
  for (let at = from; at <= end; at += 1) {
    if (at < end && isAlphanumeric(text.charCodeAt(at))) continue;
    longest = Math.max(longest, at - start);
    start = at + 1;
  }
  return longest;
}

function hasDigit(text: string, from: number, end: number): boolean {
  return has(text, from, end, isDigit);
}

/** The alphabet of RFC 6750, 2.1. */
function isBearerCode(code: number): boolean {
  return isTokenCode(code) || code === 46 || code === 126 || code === 43 || code === 47 || code === 61;
}

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

  /** The block that begins at `at`, if a private one does. */
  blockAt(at: number): Span | undefined {
    const text = this.#text;
    if (!text.startsWith(BEGIN, at)) return undefined;
    const labelFrom = at + BEGIN.length;
    const body = behindDashes(text, labelFrom);
    if (body === undefined || !text.slice(labelFrom, body).includes('PRIVATE KEY')) return undefined;
    const end = this.#endAfter(body);
    const label = end + END.length;
    if (end >= 0 && end - body <= LONGEST_BLOCK) return { start: at, end: behindDashes(text, label) ?? label };
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

/** Behind the dashes that close a label, if they are there. */
function behindDashes(text: string, labelFrom: number): number | undefined {
  const dashes = text.slice(labelFrom, labelFrom + LONGEST_LABEL).indexOf(DASHES);
  return dashes < 0 ? undefined : labelFrom + dashes + DASHES.length;
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
  const end = skip(text, at, (code) => isAlphanumeric(code) || code === 43 || code === 47 || code === 61);
  at = end;
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
  const at = skip(text, from, (code) => code === 10 || code === 13);
  if (at > from) return at;
  const letter = skip(text, from, (code) => code === 92);
  return letter > from ? letter + 1 : from;
}

/** Space, quotes, `#`, `>`, `|`, `*`, `,`, `;`, `.`, `-`: what stands before or behind a line that was quoted. */
function isMargin(code: number): boolean {
  if (isBlank(code)) return true;
  return code < 128 && '"\'`#>|*,;.'.includes(String.fromCharCode(code));
}
