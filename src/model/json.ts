import { InvalidArgumentError } from '../errors.js';

declare const raw: unique symbol;
/** JSON text as bytes. What is stored is carried over as these bytes and never encoded anew. */
export type RawJson = Uint8Array & { readonly [raw]: true };

// Other readers give up at 10,000 levels; what we write stays far from it (docs/architecture.md, limits).
const MAX_WRITTEN_DEPTH = 1000;

// Printable ASCII but for the quote, `&`, `<`, `>` and the backslash: most ids, names and times, a million in a copy.
const NEEDS_NO_ESCAPE = /^[ !#-%'-;=?-[\]-~]*$/;

const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/;
// Digits of 2^63, which is the first integer that has no room in 64 bits.
const SHORTEST_DOUBTFUL = 19;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
// Syntax only: bytes over 0x7f stand inside strings, so a one-byte decoding is sound and twice as fast.
const byteDecoder = new TextDecoder('latin1');

/** JSON text as raw JSON. Not checked here: writing checks it. */
export function rawJson(text: string): RawJson {
  return encoder.encode(text) as RawJson;
}

/** The text of raw JSON; invalid UTF-8 shows as U+FFFD, the bytes stay what they are. */
export function rawJsonText(json: Uint8Array): string {
  return decoder.decode(json);
}

/**
 * The value of raw JSON. Numbers are IEEE doubles; of repeated names the last counts.
 * @throws SyntaxError when it is not JSON.
 */
export function parseRawJson(json: Uint8Array): unknown {
  return JSON.parse(decoder.decode(json));
}

/** One character a byte: enough to judge syntax. Node's buffers do it fifteen times faster than a decoder. */
export function bytesAsText(bytes: Uint8Array, from = 0, to = bytes.length): string {
  return hasFastText(bytes) ? bytes.latin1Slice(from, to) : byteDecoder.decode(bytes.subarray(from, to));
}

function hasFastText(bytes: Uint8Array): bytes is Uint8Array & { latin1Slice(start: number, end: number): string } {
  return 'latin1Slice' in bytes;
}

export function isJson(bytes: Uint8Array): boolean {
  return isJsonText(bytesAsText(bytes));
}

/** Whether a text is exactly one JSON value, with space around it allowed. */
export function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * A value as Zero would write it: compact, names of an object in byte order, shortest numbers, its escapes.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) for what JSON cannot hold, and for more than 1,000 levels.
 */
export function encodeJson(value: unknown): RawJson {
  return rawJson(encodeValue(value, 0, true));
}

/** As {@link encodeJson}, with the members in the order given: for payloads whose shape is ours. */
export function encodeRecord(value: Readonly<Record<string, unknown>>): RawJson {
  return rawJson(encodeValue(value, 0, false));
}

/** A text as a JSON string with Zero's escapes, quotes included. */
export function encodeString(text: string): string {
  if (NEEDS_NO_ESCAPE.test(text)) return `"${text}"`;
  return JSON.stringify(text.isWellFormed() ? text : text.toWellFormed()).replace(/[<>&\u2028\u2029]/g, escapeUnit);
}

/**
 * Drops the space between tokens and escapes `<`, `>`, `&`, U+2028 and U+2029 in strings; all else stays as spelled.
 * @param above - How many levels it is to stand in.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when it is not one JSON value, or deeper than 1,000.
 */
export function compactJson(bytes: Uint8Array, above = 0): RawJson {
  if (!isJson(bytes)) throw notJson();
  const out = new ByteSink(bytes.length + 16);
  let inString = false;
  let depth = above;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (!inString) {
      if (isJsonSpace(byte)) continue;
      if (byte === 0x22) inString = true;
      else if (byte === 0x7b || byte === 0x5b) depth += 1;
      else if (byte === 0x7d || byte === 0x5d) depth -= 1;
      if (depth > MAX_WRITTEN_DEPTH) throw tooDeep();
      out.push(byte);
      continue;
    }
    if (byte === 0x5c) {
      out.push(byte);
      at += 1;
      out.push(bytes[at] as number);
    } else if (byte === 0x3c || byte === 0x3e || byte === 0x26) {
      out.pushText(escapeUnit(String.fromCharCode(byte)));
    } else if (byte === 0xe2 && bytes[at + 1] === 0x80 && (bytes[at + 2] === 0xa8 || bytes[at + 2] === 0xa9)) {
      out.pushText(bytes[at + 2] === 0xa8 ? '\\u2028' : '\\u2029');
      at += 2;
    } else {
      if (byte === 0x22) inString = false;
      out.push(byte);
    }
  }
  return out.bytes() as RawJson;
}

export interface RawMember {
  readonly name: string;
  /** Offset of the quote that opens the name. */
  readonly nameStart: number;
  readonly start: number;
  readonly end: number;
}

/** The members of a valid JSON object in their order, repeated names included; undefined for anything else. */
export function rawMembers(bytes: Uint8Array): readonly RawMember[] | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== 0x7b) return undefined;
  const members: RawMember[] = [];
  at = skipSpace(bytes, at + 1);
  while (bytes[at] === 0x22) {
    const nameStart = at;
    const nameEnd = skipString(bytes, at);
    const name = JSON.parse(decoder.decode(bytes.subarray(nameStart, nameEnd))) as string;
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const end = skipValue(bytes, start);
    members.push({ name, nameStart, start, end });
    at = skipSpace(bytes, end);
    if (bytes[at] !== 0x2c) break;
    at = skipSpace(bytes, at + 1);
  }
  return members;
}

export function isNull(value: Uint8Array): boolean {
  return value[0] === 0x6e;
}

/** Of repeated names the last counts, and names are matched exactly. */
export function rawMemberValues(bytes: Uint8Array): ReadonlyMap<string, RawJson> | undefined {
  const members = rawMembers(bytes);
  if (members === undefined) return undefined;
  return new Map(members.map(({ name, start, end }) => [name, bytes.subarray(start, end) as RawJson]));
}

/** The raw items of a valid JSON list in their order; undefined for anything else. */
export function rawItems(bytes: Uint8Array): readonly RawJson[] | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== 0x5b) return undefined;
  const items: RawJson[] = [];
  at = skipSpace(bytes, at + 1);
  while (at < bytes.length && bytes[at] !== 0x5d) {
    const end = skipValue(bytes, at);
    items.push(bytes.subarray(at, end) as RawJson);
    at = skipSpace(bytes, end);
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1);
  }
  return items;
}

/** The nearest number to a JSON integer; undefined where Zero could not read it: `2.0`, `2e0`, more than 64 bits. */
export function parseInteger(text: string): number | undefined {
  if (!PLAIN_INTEGER.test(text)) return undefined;
  if (text.length < SHORTEST_DOUBTFUL) return Number(text);
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? Number(text) : undefined;
}

/** A number as a JSON integer that Zero can read: one beyond 64 bits is written as the largest. */
export function encodeInteger(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const largest = 2n ** 63n - 1n;
  const exact = Number.isFinite(value) ? BigInt(Math.trunc(value)) : largest;
  return String(exact > largest ? largest : exact < -largest ? -largest : exact);
}

/** Whether a value is an object with members: neither null nor a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param depth - How many lists and objects the value stands in. */
function encodeValue(value: unknown, depth: number, sorted: boolean): string {
  switch (typeof value) {
    case 'string':
      return encodeString(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw notJson(`${value} is no JSON number`);
      return Object.is(value, -0) ? '-0' : String(value);
    case 'object':
      break;
    default:
      throw notJson(`a ${typeof value} is no JSON value`);
  }
  if (value === null) return 'null';
  if (value instanceof Uint8Array) return decoder.decode(compactJson(value, depth));
  if ('toJSON' in value && typeof value.toJSON === 'function') return encodeValue(value.toJSON(), depth, sorted);
  if (depth >= MAX_WRITTEN_DEPTH) throw tooDeep();
  if (Array.isArray(value)) return `[${value.map((item) => encodeValue(item, depth + 1, sorted)).join(',')}]`;
  const names = Object.keys(value).filter((name) => (value as Record<string, unknown>)[name] !== undefined);
  if (sorted) names.sort(compareCodePoints);
  const members = names.map(
    (name) => `${encodeString(name)}:${encodeValue((value as Record<string, unknown>)[name], depth + 1, sorted)}`,
  );
  return `{${members.join(',')}}`;
}

/** Compares two texts by code point, which is the order of their UTF-8 bytes; `<` compares UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left === right) continue;
    // Surrogates stand for code points above every other unit.
    const leftHigh = left >= 0xd800 && left <= 0xdfff;
    const rightHigh = right >= 0xd800 && right <= 0xdfff;
    return leftHigh === rightHigh ? left - right : leftHigh ? 1 : -1;
  }
  return a.length - b.length;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export function isJsonSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isJsonSpace(bytes[at])) at += 1;
  return at;
}

function skipString(bytes: Uint8Array, from: number): number {
  let at = from + 1;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === 0x5c) at += 1;
    else if (byte === 0x22) return at + 1;
  }
  return at;
}

// A loop, not recursion: a payload may be nested 10,000 levels deep.
function skipValue(bytes: Uint8Array, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === 0x22) {
      at = skipString(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === 0x2c || isJsonSpace(byte))) {
      return at;
    }
    at += 1;
  }
  return at;
}

function notJson(detail = 'it is not one JSON value'): InvalidArgumentError {
  return new InvalidArgumentError('payload', `The payload cannot be written: ${detail}`, 'Give one valid JSON value.');
}

function tooDeep(): InvalidArgumentError {
  return notJson(`it is nested more than ${MAX_WRITTEN_DEPTH} levels deep`);
}

class ByteSink {
  #buffer: Uint8Array;
  #length = 0;
  constructor(capacity: number) {
    this.#buffer = new Uint8Array(capacity);
  }
  push(byte: number): void {
    if (this.#length === this.#buffer.length) {
      const larger = new Uint8Array(this.#buffer.length * 2);
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    this.#buffer[this.#length] = byte;
    this.#length += 1;
  }
  pushText(ascii: string): void {
    for (let at = 0; at < ascii.length; at += 1) this.push(ascii.charCodeAt(at));
  }
  bytes(): Uint8Array {
    return this.#buffer.slice(0, this.#length);
  }
}
