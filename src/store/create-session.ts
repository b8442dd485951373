import { InvalidArgumentError } from '../errors.js';
import { createFile } from '../fs/durable-file.js';
import { parseNewSessionId, trimSpace } from '../model/ids.js';
import { newMetadataDocument, type SessionMetadata } from '../model/metadata.js';
import { formatInstant } from '../model/time.js';
import type { StoreDeps } from './deps.js';
import { FILE_MODE } from './layout.js';
import { publishSession } from './publish-session.js';

/** What a session can be made with: any member of the metadata but times and counts. A blank one is left out. */
export type CreateInput = {
  readonly [Name in keyof Omit<SessionMetadata, 'createdAt' | 'updatedAt' | 'eventCount' | 'lastEventType'>]?:
    | SessionMetadata[Name]
    | undefined;
};

const SPEC_STATUSES = ['draft', 'approved', 'rejected'];

/**
 * Makes a session: a folder with metadata and an empty log. Text is trimmed; without an id it gets a fresh ULID.
 * @throws InvalidIdError (`INVALID_ID`), SessionExistsError (`SESSION_EXISTS`)
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for a negative depth.
 * @see FORMAT.md, 4, create
 */
export function createSession(deps: StoreDeps, input: CreateInput): SessionMetadata {
  const metadata = startingMetadata(deps, input);
  const { sessionId } = metadata;
  return publishSession(deps, parseNewSessionId(sessionId), (hidden) => {
    createFile(deps.fs, hidden.events, new Uint8Array(0), FILE_MODE);
    return newMetadataDocument({ ...metadata });
  }).metadata;
}

/** Gives the metadata that a new session starts with: trimmed, checked, with id and times. */
export function startingMetadata(deps: StoreDeps, input: CreateInput): SessionMetadata {
  const trimmed: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input))
    trimmed[name] = typeof value === 'string' ? trimSpace(value) : value;
  const depth = input.depth ?? 0;
  if (!Number.isSafeInteger(depth) || depth < 0) {
    throw new InvalidArgumentError('depth', `depth is ${depth}; it is a whole number, 0 or more`);
  }
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

/** Gives a spec status in its one spelling, or undefined for a word that is none. */
export function normalSpecStatus(status: string | undefined): string | undefined {
  const word = trimSpace(status ?? '').toLowerCase();
  return SPEC_STATUSES.includes(word) ? word : undefined;
}
