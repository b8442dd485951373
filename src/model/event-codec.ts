import { InvalidArgumentError, PayloadDamagedError } from '../errors.js';
import { trimSpaceBytes } from './bytes.js';
import type { EventInput, EventRef, StoredEvent } from './event.js';
import { type EventId, type Sequence, trimSpace } from './ids.js';
import {
  bytesAsText,
  compactJson,
  encodeJson,
  encodeString,
  isJson,
  isRecord,
  parseInteger,
  parseRawJson,
  type RawJson,
  type RawMember,
  rawMembers,
  rawMemberValues,
} from './json.js';

/** Why a line is no event; `torn` when it is not JSON at all, which a last line without newline may be. */
export class MalformedLineError extends Error {
  readonly torn: boolean;
  constructor(reason: string, torn: boolean) {
    super(reason);
    this.torn = torn;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
// Characters that need no decoding: printable ASCII but quote and backslash.
const PLAIN = '[ !#-\\[\\]-~]*';
const USUAL_HEAD = new RegExp(
  `^\\{"id":"(${PLAIN})","sessionId":"(${PLAIN})","sequence":([1-9]\\d*),"type":"(${PLAIN})","createdAt":"(${PLAIN})"(,"payload":|\\}$)`,
);
// Bytes. A longer one is read like a line of any other layout.
const LONGEST_USUAL_HEAD = 1024;
const CLOSING_BRACE = 0x7d;
// The members of a line that are read, by their names in small letters.
const LINE_MEMBERS = new Map(
  ['id', 'sessionId', 'sequence', 'type', 'createdAt', 'payload'].map((name) => [name.toLowerCase(), name]),
);
// Characters; the engine copies a shorter part of a text.
const SHORTEST_PART = 13;

/** A member of a line whose name differs in letter case only from one that is read: Zero takes it for that. */
export interface AmbiguousMember {
  /** The name as it stands in the line. */
  readonly name: string;
  /** The name that is read, to the letter. */
  readonly read: string;
  /** Whether that stands in the line as well. */
  readonly isTwice: boolean;
}

/**
 * Gives the event that one line of the log holds, space of any kind around it left out. Names are matched exactly; unknown
 * members are left alone. A type may be blank or missing, and so may an id.
 * @param onAmbiguous - Told of each member that Zero reads otherwise.
 * @throws {@link MalformedLineError} when it is not JSON, or no object with a sequence of 1 or more.
 * @see FORMAT.md, 3; FAULTS.md, 38
 */
export function parseEventLine(line: Uint8Array, onAmbiguous?: (member: AmbiguousMember) => void): StoredEvent {
  return parseUsualLine(line) ?? parseAnyLine(trimSpaceBytes(line), onAmbiguous);
}

/**
 * Reads a line of the layout that Zero and we write, with a plain ASCII head and the payload last; undefined for any
 * other. It judges the payload alone: what stands around it was matched letter by letter.
 */
function parseUsualLine(line: Uint8Array): StoredEvent | undefined {
  const head = USUAL_HEAD.exec(bytesAsText(line, 0, Math.min(line.length, LONGEST_USUAL_HEAD)));
  if (head === null) return undefined;
  const [matched, id = '', sessionId = '', sequence = '', type = '', createdAt = '', opensPayload] = head;
  const numbers = sequenceOf(sequence);
  if (numbers === undefined) return undefined;
  let payload: RawJson | undefined;
  if (opensPayload === ',"payload":') {
    const value = line.subarray(matched.length, line.length - 1);
    if (line.at(-1) !== CLOSING_BRACE || !isJson(value)) return undefined;
    payload = ownBytes(trimmedJson(value));
  } else if (matched.length !== line.length) {
    return undefined;
  }
  // A part of a text keeps all of it in memory, and who holds a reference to an event must not hold its line: what is
  // long enough to be such a part is read once more, from where the head has it.
  const idAt = '{"id":"'.length;
  const sessionAt = idAt + id.length + '","sessionId":"'.length;
  const typeAt = sessionAt + sessionId.length + '","sequence":,"type":"'.length + sequence.length;
  const timeAt = typeAt + type.length + '","createdAt":"'.length;
  const own = (text: string, at: number): string =>
    text.length < SHORTEST_PART ? text : bytesAsText(line, at, at + text.length);
  return {
    id: own(id, idAt) as EventId,
    sessionId: own(sessionId, sessionAt),
    ...numbers,
    type: own(type, typeAt),
    createdAt: own(createdAt, timeAt),
    payload,
  };
}

function parseAnyLine(line: Uint8Array, onAmbiguous?: (member: AmbiguousMember) => void): StoredEvent {
  if (!isJson(line)) throw new MalformedLineError(notJsonReason(line), true);
  const members = rawMemberValues(line);
  if (members === undefined) throw new MalformedLineError('is JSON, but no object', false);
  const event = {
    id: textMember(members, 'id') as EventId,
    sessionId: textMember(members, 'sessionId'),
    ...sequenceMember(members),
    type: textMember(members, 'type'),
    createdAt: textMember(members, 'createdAt'),
    payload: ownBytes(members.get('payload')),
  };
  if (onAmbiguous !== undefined) ambiguousMembers(members).forEach(onAmbiguous);
  return event;
}

function ambiguousMembers(members: ReadonlyMap<string, RawJson>): readonly AmbiguousMember[] {
  return [...members.keys()].flatMap((name) => {
    const read = LINE_MEMBERS.get(name.toLowerCase());
    return read === undefined || read === name ? [] : [{ name, read, isTwice: members.has(read) }];
  });
}

type SequenceNumbers = Pick<StoredEvent, 'sequence' | 'exactSequence'>;

/** Gives a sequence that is usable, as a number and, where that is not exact, as written. */
function sequenceOf(text: string): SequenceNumbers | undefined {
  const number = parseInteger(text);
  if (number === undefined || number < 1) return undefined;
  const sequence = number as Sequence;
  return Number.isSafeInteger(number) ? { sequence } : { sequence, exactSequence: text };
}

/** Gives the line for an event, newline included, in the order and with the escapes that Zero writes. */
export function encodeEventLine(event: StoredEvent): Uint8Array {
  if (event.payload === undefined) return encoder.encode(`${encodeHead(event, event.type)}}\n`);
  return joinBytes([
    encoder.encode(`${encodeHead(event, event.type)},"payload":`),
    event.payload,
    encoder.encode('}\n'),
  ]);
}

function encodeHead({ id, sessionId, sequence, createdAt }: Omit<LineChanges, 'payload'>, type: string): string {
  return (
    `{"id":${encodeString(id)},"sessionId":${encodeString(sessionId)},"sequence":${sequence},` +
    `"type":${encodeString(type)},"createdAt":${encodeString(createdAt)}`
  );
}

/** What a copied line says instead; everything else in it keeps its bytes. */
export interface LineChanges {
  readonly id: string;
  readonly sessionId: string;
  readonly sequence: number;
  readonly createdAt: string;
  readonly payload?: RawJson;
}

/**
 * Gives a line with other envelope values, newline included; unknown members, order and payload keep their bytes. Space
 * around the object is left out.
 * @see FORMAT.md, 4, fork; FAULTS.md, 15
 */
export function spliceEventLine(original: Uint8Array, changes: LineChanges): Uint8Array {
  const line = trimSpaceBytes(original);
  const members = rawMembers(line) ?? [];
  const values = new Map<string, Uint8Array>([
    ['id', encoder.encode(encodeString(changes.id))],
    ['sessionId', encoder.encode(encodeString(changes.sessionId))],
    ['sequence', encoder.encode(String(changes.sequence))],
    ['createdAt', encoder.encode(encodeString(changes.createdAt))],
  ]);
  if (changes.payload !== undefined) values.set('payload', changes.payload);
  const parts: Uint8Array[] = [];
  let copied = 0;
  if (!members.some(({ name }) => name === 'id')) {
    parts.push(encoder.encode(`{"id":${encodeString(changes.id)},`));
    copied = 1;
  }
  for (const { name, start, end } of members) {
    const value = values.get(name);
    if (value === undefined) continue;
    parts.push(line.subarray(copied, start), value);
    copied = end;
  }
  const close = lastBrace(line);
  parts.push(line.subarray(copied, close));
  parts.push(encoder.encode(missingMembers(members, changes)));
  parts.push(encoder.encode('}\n'));
  return joinBytes(parts);
}

/**
 * As {@link spliceEventLine}, in pieces to be written one after the other, texts being ASCII: a line of the usual layout
 * is not read again, and nothing of it is copied.
 * @param event - What the line was read as.
 */
export function spliceInPieces(
  line: Uint8Array,
  changes: LineChanges,
  event: StoredEvent,
): readonly (string | Uint8Array)[] {
  const { type, payload } = event;
  if (payload === undefined || !isUsualLine(line, payload)) return [spliceEventLine(line, changes)];
  return [`${encodeHead(changes, type)},"payload":`, changes.payload ?? payload, '}\n'];
}

/** Tells whether a line is a usual head, its payload and a brace: by their lengths there is room for nothing else. */
function isUsualLine(line: Uint8Array, payload: RawJson): boolean {
  const headLength = line.length - payload.length - 1;
  const head = USUAL_HEAD.exec(bytesAsText(line.subarray(0, headLength)));
  return head?.[0].length === headLength && head[6] === ',"payload":';
}

/**
 * Gives the payload of an input as it is to be stored, or undefined for none.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when the type is blank or the payload is no JSON.
 */
export function encodeInput(input: EventInput): { readonly type: string; readonly payload: RawJson | undefined } {
  return { type: requireEventType(input.type), payload: encodePayload(input.payload) };
}

/**
 * Gives the type of an event that is to be appended, as it is.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`) when it is blank.
 */
export function requireEventType(type: unknown): string {
  if (typeof type === 'string' && trimSpace(type) !== '') return type;
  throw new InvalidArgumentError('type', 'An event needs a type', 'Give a type such as "message".');
}

function encodePayload(payload: unknown): RawJson | undefined {
  if (payload === undefined || payload === null) return undefined;
  if (payload instanceof Uint8Array) return payload.every(isSpace) ? undefined : compactJson(payload);
  const json = encodeJson(payload);
  return json.length === 4 && decoder.decode(json) === 'null' ? undefined : json;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** Gives the reference to an event: what plans and compactions hold of it. */
export function refOf({ id, sequence, exactSequence, type, createdAt }: StoredEvent): EventRef {
  return { id, sequence, ...(exactSequence === undefined ? {} : { exactSequence }), type, createdAt };
}

/**
 * Gives the payload as an object.
 * @throws {@link PayloadDamagedError} (`PAYLOAD_DAMAGED`) when there is none, or it is something else.
 */
export function decodePayload(
  event: { id: string; payload: RawJson | undefined },
  type: string,
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = event.payload === undefined ? undefined : parseRawJson(event.payload);
  } catch {
    value = undefined;
  }
  if (!isRecord(value)) throw damaged(event, type, 'the payload is no object');
  return value;
}

/** Tells whether two pieces hold the same bytes. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** Gives byte arrays as one. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function damaged(event: { id: string }, type: string, reason: string): PayloadDamagedError {
  return new PayloadDamagedError(event.id, type, reason);
}

// Space around a value is no part of it.
function trimmedJson(bytes: Uint8Array): RawJson {
  let from = 0;
  let to = bytes.length;
  while (from < to && isSpace(bytes[from] as number)) from += 1;
  while (to > from && isSpace(bytes[to - 1] as number)) to -= 1;
  return bytes.subarray(from, to) as RawJson;
}

// A copy: slice() of a Buffer is a view, and the reader uses its buffer again for the next lines.
function ownBytes(bytes: RawJson | undefined): RawJson | undefined {
  return bytes === undefined ? undefined : (new Uint8Array(bytes) as RawJson);
}

function textMember(members: ReadonlyMap<string, RawJson>, name: string): string {
  const value = members.get(name);
  if (value === undefined || isNull(value)) return '';
  if (value[0] !== 0x22) throw new MalformedLineError(`has a ${name} that is no text`, false);
  return JSON.parse(decoder.decode(value)) as string;
}

function sequenceMember(members: ReadonlyMap<string, RawJson>): SequenceNumbers {
  const value = members.get('sequence');
  if (value === undefined || isNull(value)) throw new MalformedLineError('has no sequence', false);
  const text = decoder.decode(value);
  if (parseInteger(text) === undefined) throw new MalformedLineError('has a sequence that is no whole number', false);
  const numbers = sequenceOf(text);
  if (numbers === undefined) throw new MalformedLineError(`has the sequence ${text}`, false);
  return numbers;
}

/** Tells whether a JSON value is `null`. */
export function isNull(value: Uint8Array): boolean {
  return value[0] === 0x6e;
}

function notJsonReason(line: Uint8Array): string {
  if (line.every((byte) => byte === 0)) return 'is only NUL bytes';
  if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) return 'begins with a byte order mark';
  return 'is not JSON';
}

function lastBrace(line: Uint8Array): number {
  let at = line.length - 1;
  while (line[at] !== 0x7d) at -= 1;
  return at;
}

// A line of somebody else's may lack what Zero always writes; the copy has it.
function missingMembers(members: readonly RawMember[], changes: LineChanges): string {
  const names = new Set(members.map((member) => member.name));
  const missing: string[] = [];
  if (!names.has('sessionId')) missing.push(`"sessionId":${encodeString(changes.sessionId)}`);
  if (!names.has('createdAt')) missing.push(`"createdAt":${encodeString(changes.createdAt)}`);
  return missing.map((member) => `,${member}`).join('');
}
