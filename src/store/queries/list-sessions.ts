import { PathRefusedError, ZeroSessionsError } from '../../errors.js';
import { describeKind } from '../../fs/file-system.js';
import { type SessionId, sessionIdOfFolder } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { isFarAhead } from '../../model/time.js';
import { sortedByRecency } from '../../plan/session-order.js';
import type { StoreDeps } from '../base/deps.js';
import { sessionPaths } from '../base/layout.js';
import { asStoreError } from '../base/system-errors.js';
import { EventLog } from '../parts/event-log.js';
import { metadataOfSession, pathsOf } from '../parts/metadata-file.js';

/** A session that cannot be read as written, and why. */
export interface UnreadableSession {
  readonly sessionId: SessionId;
  /** The code of the error that reading its metadata gives. */
  readonly code: string;
  readonly message: string;
}

export interface SessionList {
  /** Whole sessions, newest activity first. */
  readonly sessions: readonly SessionMetadata[];
  readonly unreadable: readonly UnreadableSession[];
}

/** Reads every session's metadata. What is damaged is in a list of its own; what is no session is passed over. */
export function listSessions(deps: StoreDeps): SessionList {
  const sessions: SessionMetadata[] = [];
  const unreadable: UnreadableSession[] = [];
  for (const entry of readRoot(deps)) {
    const id = sessionIdOfFolder(entry.name);
    if (id === undefined || (entry.kind !== 'directory' && entry.kind !== 'link')) continue;
    try {
      const metadata = entry.kind === 'link' ? refuseLink(deps, id) : metadataOfSession(deps, id)?.metadata;
      if (metadata !== undefined) sessions.push(metadata);
    } catch (cause) {
      const error = asStoreError(cause);
      if (!(error instanceof ZeroSessionsError)) throw error;
      unreadable.push({ sessionId: id, code: error.code, message: `${error.message}${whatTheLogTells(deps, id)}` });
    }
  }
  return { sessions: sortedByRecency(sessions), unreadable };
}

/** Warns of sessions whose last activity is more than a day ahead: they come before all that happen until then. */
export function tellOfTimesAhead(deps: StoreDeps, sessions: readonly SessionMetadata[]): void {
  const now = deps.now();
  for (const { sessionId, updatedAt } of sessions) {
    if (!isFarAhead(updatedAt, now)) continue;
    const message = `Session ${sessionId} was last active at ${updatedAt}, which is yet to come: it sorts before all others until then, or until it is written to`;
    deps.warn({ code: 'TIME_IN_FUTURE', sessionId, message });
  }
}

function readRoot(deps: StoreDeps): ReturnType<StoreDeps['fs']['readdir']> {
  return deps.fs.stat(deps.root)?.kind === 'directory' ? deps.fs.readdir(deps.root) : [];
}

function refuseLink(deps: StoreDeps, id: SessionId): undefined {
  const { folder, metadata, events } = sessionPaths(`${deps.root}/${id}`);
  // A link to what is no session is none of our business.
  if (deps.fs.stat(metadata) === undefined && deps.fs.stat(events) === undefined) return undefined;
  throw new PathRefusedError(folder, describeKind('link'));
}

function whatTheLogTells(deps: StoreDeps, id: SessionId): string {
  try {
    const { last } = new EventLog(deps, id, pathsOf(deps, id)).tail();
    return last === undefined ? '' : ` (its log ends with event ${last.sequence}, ${last.type}, ${last.createdAt})`;
  } catch {
    return '';
  }
}
