import { InvalidArgumentError } from '../../errors.js';
import { createFile } from '../../fs/durable-file.js';
import { encodeEventLine } from '../../model/event-codec.js';
import { eventIdOf, parseNewSessionId, type Sequence, trimSpace } from '../../model/ids.js';
import type { RawJson } from '../../model/json.js';
import { newMetadataDocument, type SessionMetadata } from '../../model/metadata.js';
import { formatInstant } from '../../model/time.js';
import type { StoreDeps } from '../base/deps.js';
import { FILE_MODE } from '../base/layout.js';
import { publishSession } from '../parts/publish-session.js';

/** What a session can be made with: any member of the metadata but times and counts. A blank one is left out. */
export type CreateInput = {
  readonly [Name in keyof Omit<SessionMetadata, 'createdAt' | 'updatedAt' | 'eventCount' | 'lastEventType'>]?:
    | SessionMetadata[Name]
    | undefined;
};

const SPEC_STATUSES = ['draft', 'approved', 'rejected'];

/** Makes a session: a folder with metadata and an empty log. */
export function createSession(deps: StoreDeps, input: CreateInput): SessionMetadata {
  const metadata = startingMetadata(deps, input);
  return publishSession(deps, parseNewSessionId(metadata.sessionId), (hidden) => {
    createFile(deps.fs, hidden.events, new Uint8Array(0), FILE_MODE);
    return newMetadataDocument({ ...metadata });
  }).metadata;
}

/** The event that a session begins with. */
interface FirstEvent {
  readonly type: string;
  readonly payload: RawJson;
  /** Called when the event is written: throws where the session must not appear any more. */
  readonly assertHeld?: () => void;
}

/** Makes a session whose log begins with an event: both appear at once. */
export function publishWithEvent(
  deps: StoreDeps,
  start: Omit<SessionMetadata, 'eventCount'>,
  { type, payload, assertHeld }: FirstEvent,
): SessionMetadata {
  const sessionId = parseNewSessionId(start.sessionId);
  const id = eventIdOf(sessionId, 1);
  const event = { id, sessionId, sequence: 1 as Sequence, type, createdAt: start.createdAt, payload };
  return publishSession(deps, sessionId, (hidden) => {
    createFile(deps.fs, hidden.events, encodeEventLine(event), FILE_MODE);
    assertHeld?.();
    return newMetadataDocument({ ...start, eventCount: 1, lastEventType: type });
  }).metadata;
}

/** The metadata that a new session starts with: trimmed, checked, with id and times. */
export function startingMetadata(deps: StoreDeps, input: CreateInput): SessionMetadata {
  const trimmed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    // A kind is one of a few words and no text of a person's: it stays as it is (golden case create/every-field).
    trimmed[name] = typeof value === 'string' && name !== 'sessionKind' ? trimSpace(value) : value;
  }
  checkedDepth(input.depth);
  const id = trimmed.sessionId === undefined || trimmed.sessionId === '' ? deps.newId() : String(input.sessionId);
  const now = formatInstant(deps.now());
  return newMetadataDocument({
    ...trimmed,
    sessionId: parseNewSessionId(id),
    specStatus: normalSpecStatus(input.specStatus),
    createdAt: now,
    updatedAt: now,
    eventCount: 0,
    lastEventType: undefined,
  }).metadata;
}

export function checkedDepth(depth = 0): number {
  if (Number.isSafeInteger(depth) && depth >= 0) return depth;
  throw new InvalidArgumentError('depth', `depth is ${depth}; it is a whole number, 0 or more`);
}

/** A spec status in its one spelling, or undefined for a word that is none. */
export function normalSpecStatus(status: string | undefined): string | undefined {
  const word = trimSpace(status ?? '').toLowerCase();
  return SPEC_STATUSES.includes(word) ? word : undefined;
}
