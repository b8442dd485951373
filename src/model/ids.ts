import { InvalidArgumentError, InvalidIdError } from '../errors.js';

declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

/** The checked name of a session, and of its folder. */
export type SessionId = Branded<string, 'SessionId'>;
/** `<sessionId>:<sequence>` for events that we write; any text for those that we read. */
export type EventId = Branded<string, 'EventId'>;
/** SHA-256 of a file's content, 64 lower-case hex digits: the name of its blob. */
export type BlobHash = Branded<string, 'BlobHash'>;
/** An event's number in its log: rising from 1, gaps allowed. */
export type Sequence = Branded<number, 'Sequence'>;

// An id becomes a folder name, so its alphabet is what every file system accepts (FORMAT.md, 1).
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
// Windows gives these names to devices, with any ending and in any case.
const DEVICE_NAME = /^(?:con|nul|aux|prn|com[1-9]|lpt[1-9])$/i;
const BLOB_HASH = /^[0-9a-f]{64}$/;
// White_Space is not what String.prototype.trim takes off: that spares U+0085 and takes U+FEFF.
const SPACE_AT_ENDS = /^\p{White_Space}+|\p{White_Space}+$/gu;

/** The text without the characters of the Unicode property White_Space at both ends (FORMAT.md, 1). */
export function trimSpace(text: string): string {
  if (typeof text !== 'string')
    throw new InvalidArgumentError('text', `A text is needed, not ${text === null ? text : typeof text}`);
  return text.replace(SPACE_AT_ENDS, '');
}

/** Whether a text, less the space around it, is well formed as a session id. Judges the form only. */
export function validSessionId(text: string): boolean {
  return SESSION_ID.test(trimSpace(text));
}

/**
 * The trimmed, checked id.
 * @throws {@link InvalidIdError} (`INVALID_ID`) when it is not of the form in FORMAT.md, 1.
 */
export function parseSessionId(text: string): SessionId {
  if (typeof text !== 'string') throw new InvalidIdError(String(text));
  const id = trimSpace(text);
  if (!SESSION_ID.test(id)) throw new InvalidIdError(text);
  return id as SessionId;
}

/** Refuses names, too, that some systems keep for a device (FORMAT.md, 5). */
export function parseNewSessionId(text: string): SessionId {
  const id = parseSessionId(text);
  if (DEVICE_NAME.test(id)) throw new InvalidIdError(text, 'is a device name on some systems');
  return id;
}

/** The name of a folder as an id, or undefined when it cannot be one. Folder names are never trimmed. */
export function sessionIdOfFolder(name: string): SessionId | undefined {
  return SESSION_ID.test(name) ? (name as SessionId) : undefined;
}

export function parseBlobHash(text: string): BlobHash | undefined {
  return BLOB_HASH.test(text) ? (text as BlobHash) : undefined;
}

export function eventIdOf(sessionId: string, sequence: number): EventId {
  return `${sessionId}:${sequence}` as EventId;
}

/** The id that an event goes by: its own, or the one that its session and sequence make where it has none. */
export function eventName(event: { readonly id: string } & Numbered, sessionId: string): string {
  return trimSpace(event.id) === '' ? `${sessionId}:${sequenceText(event)}` : event.id;
}

/** What has a sequence, exact as a number or as text. */
export interface Numbered {
  readonly sequence: number;
  readonly exactSequence?: string | undefined;
}

const LAST_WITH_ROOM = Number.MAX_SAFE_INTEGER - 1;

/** Whether another sequence can follow this one and be counted exactly. */
export function leavesRoom(sequence: number): boolean {
  return sequence < LAST_WITH_ROOM;
}

/** The sequence of an event as it is shown: exact, however large. */
export function sequenceText({ sequence, exactSequence }: Numbered): string {
  return exactSequence ?? String(sequence);
}
