import { InvalidArgumentError } from '../../errors.js';
import type { EventInput } from '../../model/event.js';
import { encodeInput } from '../../model/event-codec.js';
import { isJson, parseRawJson, type RawJson, rawMemberValues } from '../../model/json.js';

/** Members that an event of a log has besides; the store gives them anew, so that `show --jsonl` can be appended. */
const GIVEN_BY_STORE: ReadonlySet<string> = new Set(['id', 'sessionId', 'sequence', 'createdAt']);

/**
 * Gives the events that JSON lines hold, `{"type":…,"payload":…}` each. Payloads stay the bytes that they are.
 *
 * Blank lines are skipped.
 * @throws {@link InvalidArgumentError} (`INVALID_ARGUMENT`), naming the line, for the first that is no event.
 * @see CLI.md, append
 */
export function parseEventLines(bytes: Uint8Array): readonly EventInput[] {
  const events: EventInput[] = [];
  let number = 1;
  for (let start = 0; start < bytes.length; number += 1) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) events.push(parseEventLine(line, number));
    start = end + 1;
  }
  return events;
}

function parseEventLine(line: Uint8Array, number: number): EventInput {
  const members = isJson(line) ? rawMemberValues(line) : undefined;
  if (members === undefined) throw refused(number, isJson(line) ? 'is JSON, but no object' : 'is not JSON');
  for (const name of members.keys()) {
    if (name === 'type' || name === 'payload' || GIVEN_BY_STORE.has(name)) continue;
    throw refused(number, `has the member ${JSON.stringify(name)}, which an event does not take`);
  }
  const type = members.get('type');
  const name = type === undefined ? undefined : parseRawJson(type);
  if (typeof name !== 'string')
    throw refused(number, type === undefined ? 'has no type' : 'has a type that is no text');
  const input: EventInput = { type: name, payload: payloadOf(members.get('payload')) };
  try {
    encodeInput(input);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw refused(number, `cannot be appended: ${cause.message}`, cause);
  }
  return input;
}

function payloadOf(raw: RawJson | undefined): RawJson | undefined {
  return raw === undefined || parsesToNull(raw) ? undefined : raw;
}

function parsesToNull(raw: RawJson): boolean {
  return raw[0] === 0x6e; // only null begins with n
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}

function refused(number: number, reason: string, cause?: unknown): InvalidArgumentError {
  return new InvalidArgumentError(
    'stdin',
    `Line ${number} of stdin ${reason}`,
    'Nothing was appended. Give one event a line: {"type":"message","payload":{"role":"user","content":"…"}}',
    cause === undefined ? undefined : { cause },
  );
}
