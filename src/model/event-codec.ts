import { InvalidArgumentError, PayloadDamagedError } from '../errors.js';
import { joinBytes, trimSpaceBytes } from './bytes.js';
import type { EventInput, EventRef, StoredEvent } from './event.js';
import { type EventId, type Sequence, trimSpace } from './ids.js';
import {
  bytesAsText,
  compactJson,
  encodeJson,
  encodeString,
  isJson,
  isJsonSpace,
  isNull,
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
// Bytes. A line with a longer head is read like one of any other layout.
const LONGEST_USUAL_HEAD = 1024;
const CLOSING_BRACE = 0x7d;
const LINE_MEMBERS = new Map(
  ['id', 'sessionId', 'sequence', 'type', 'createdAt', 'payload'].map((name) => [name.toLowerCase(), name]),
);
// Characters; the engine copies a shorter part of a text.
const SHORTEST_PART = 13;

/** A member of a line whose name differs in letter case only from one that is read: Zero takes it for that. */
export interface AmbiguousMember {
  readonly name: string;
  readonly read: string;
  /** Whether the line has that one as well. */
  readonly isTwice: boolean;
}

/**
 * Reads one line of the log, with any space around it. Names are matched exactly; type and id may be blank or missing.
 * @param onAmbiguous - Told of each member that Zero reads otherwise (FAULTS.md, 38).
 * @throws {@link MalformedLineError} when it is not JSON, or no object with a sequence of 1 or more.
 */
export function parseEventLine(line: Uint8Array, onAmbiguous?: (member: AmbiguousMember) => void): StoredEvent {
  return parseUsualLine(line) ?? parseAnyLine(trimSpaceBytes(line), onAmbiguous);
}

/** Reads a line of the layout that Zero and we write; undefined for any other. Only its payload is still judged. */
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
    payload = ownBytes(trimSpaceBytes(value) as RawJson);
  } else if (matched.length !== line.length) {
    return undefined;
  }
  // A part of a text keeps the whole text in memory, and whoever holds a reference to an event must not hold its line.
  // What is long enough to be such a part is read once more.
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

function sequenceOf(text: string): SequenceNumbers | undefined {
  const number = parseInteger(text);
  if (number === undefined || number < 1) return undefined;
  const sequence = number as Sequence;
  return Number.isSafeInteger(number) ? { sequence } : { sequence, exactSequence: text };
}

/** The line for an event, newline included, in the order and with the escapes that Zero writes. */
export function encodeEventLine(event: StoredEvent): Uint8Array {
  const head = encodeHead(event, event.type);
  if (event.payload === undefined) return encoder.encode(`${head}}\n`);
  return joinBytes([encoder.encode(`${head},"payload":`), event.payload, encoder.encode('}\n')]);
}

function encodeHead({ id, sessionId, sequence, createdAt }: Omit<LineChanges, 'payload'>, type: string): string {
  return (
    `{"id":${encodeString(id)},"sessionId":${encodeString(sessionId)},"sequence":${sequence},` +
    `"type":${encodeString(type)},"createdAt":${encodeString(createdAt)}`
  );
}

export interface LineChanges {
  readonly id: string;
  readonly sessionId: string;
  readonly sequence: number;
  readonly createdAt: string;
  readonly payload?: RawJson;
}

/** A line with other envelope values and a newline; all else keeps its bytes (FORMAT.md, 4, fork; FAULTS.md, 15). */
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
  const rest = line.subarray(copied, line.lastIndexOf(CLOSING_BRACE));
  return joinBytes([...parts, rest, encoder.encode(`${missingMembers(members, changes)}}\n`)]);
}

/** As {@link spliceEventLine}, in pieces to be written: a line of the usual layout is neither read again nor copied. */
export function spliceInPieces(
  line: Uint8Array,
  changes: LineChanges,
  event: StoredEvent,
): readonly (string | Uint8Array)[] {
  const { type, payload } = event;
  if (payload === undefined || !isUsualLine(line, payload)) return [spliceEventLine(line, changes)];
  return [`${encodeHead(changes, type)},"payload":`, changes.payload ?? payload, '}\n'];
}

/** Whether a line is a usual head, its payload and a brace: by their lengths there is room for nothing else. */
function isUsualLine(line: Uint8Array, payload: RawJson): boolean {
  const headLength = line.length - payload.length - 1;
  const head = USUAL_HEAD.exec(bytesAsText(line.subarray(0, headLength)));
  return head?.[0].length === headLength && head[6] === ',"payload":';
}

export function encodeInput(input: EventInput): { readonly type: string; readonly payload: RawJson | undefined } {
  return { type: requireEventType(input.type), payload: encodePayload(input.payload) };
}

export function requireEventType(type: unknown): string {
  if (typeof type === 'string' && trimSpace(type) !== '') return type;
  throw new InvalidArgumentError('type', 'An event needs a type', 'Give a type such as "message".');
}

function encodePayload(payload: unknown): RawJson | undefined {
  if (payload === undefined || payload === null) return undefined;
  if (payload instanceof Uint8Array) return payload.every(isJsonSpace) ? undefined : compactJson(payload);
  const json = encodeJson(payload);
  return json.length === 4 && decoder.decode(json) === 'null' ? undefined : json;
}

/** What plans and compactions hold of an event. */
export function refOf({ id, sequence, exactSequence, type, createdAt }: StoredEvent): EventRef {
  return { id, sequence, ...(exactSequence === undefined ? {} : { exactSequence }), type, createdAt };
}

/** The payload as an object; anything else is damage. */
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
  if (!isRecord(value)) throw new PayloadDamagedError(event.id, type, 'the payload is no object');
  return value;
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

function notJsonReason(line: Uint8Array): string {
  if (line.every((byte) => byte === 0)) return 'is only NUL bytes';
  if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) return 'begins with a byte order mark';
  return 'is not JSON';
}

// Somebody else's line may lack what Zero always writes; the copy has it.
function missingMembers(members: readonly RawMember[], changes: LineChanges): string {
  const missing = (['sessionId', 'createdAt'] as const).filter((each) => !members.some(({ name }) => name === each));
  return missing.map((name) => `,"${name}":${encodeString(changes[name])}`).join('');
}
