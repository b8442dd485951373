import { errnoOf, LogMissingError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import { encodeEventLine, spliceInPieces } from '../../model/event-codec.js';
import { type BlobHash, parseSessionId, type SessionId } from '../../model/ids.js';
import { integerText, newMetadataDocument, type SessionMetadata } from '../../model/metadata.js';
import { isRewindIntent } from '../../model/rewind-record.js';
import { checkForkPoint, ForkCopy, forkBeginnings, forkKind } from '../../plan/fork/fork.js';
import type { Position } from '../../plan/position.js';
import type { StoreDeps } from '../base/deps.js';
import { BlobStore } from '../parts/blob-store.js';
import { readCutCalls } from '../parts/cut-turn.js';
import type { EventLog, LogLine } from '../parts/event-log.js';
import type { LockedSession } from '../parts/locked-session.js';
import { blobsNamedBy } from '../parts/log-survey.js';
import { writeNewLog } from '../parts/new-log.js';
import { positionIn } from '../parts/position-in-log.js';
import { publishSession } from '../parts/publish-session.js';
import { withSessionAsItIs } from '../recovery/session-lock.js';
import { startingMetadata } from './create-session.js';

/** What a fork can be made with; what is left out comes from the parent. */
export interface ForkInput {
  readonly sessionId?: string | undefined;
  /** `fork` (the default) or `side`. */
  readonly sessionKind?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  /** The last event that is copied; 0 copies none. All events when left out. What counts from the end is counted under the lock. */
  readonly at?: number | Position | undefined;
  /** Moves the end back to where no call is parted from its result. */
  readonly wholeTurns?: boolean | undefined;
}

/**
 * Makes a session that starts with the events of another, renumbered from 1, and with the blobs that they name.
 *
 * It is built aside and appears whole; the parent's files keep their bytes, a torn tail too. The log is copied line by
 * line, so that no length of it matters. A blob that is missing or altered is left out, with a warning.
 * @throws SessionExistsError (`SESSION_EXISTS`), InvalidIdError (`INVALID_ID`)
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for a kind that is no fork, or a point that is none.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the event to end at is not in the log.
 * @throws LogDamagedError (`LOG_DAMAGED`) when damage lies before the end of the copy.
 * @throws LogMissingError (`LOG_MISSING`) when the log is gone although events were counted.
 * @see FORMAT.md, 4, fork; 5
 */
export async function forkSession(deps: StoreDeps, parentId: string, input: ForkInput): Promise<SessionMetadata> {
  parseSessionId(parentId);
  forkKind(input.sessionKind);
  if (typeof input.at === 'number') checkForkPoint(input.at);
  return withSessionAsItIs(deps, parentId, async (parent) => {
    const at = await forkPoint(parent.log, input);
    const beginnings = forkBeginnings(parent.metadata, input);
    const start = startingMetadata(deps, { ...beginnings, sessionId: input.sessionId });
    const { eventCount } = parent.metadata;
    if (eventCount > 0 && !parent.log.exists()) {
      throw new LogMissingError(parent.id, parent.log.path, integerText(parent.metadata, 'eventCount'));
    }
    const copy = new ForkCopy({
      parentId: parent.id,
      forkId: start.sessionId,
      createdAt: start.createdAt,
      at,
    });
    const document = publishSession(deps, start.sessionId as SessionId, (hidden) => {
      const blobs = new BlobCopy(parent, new BlobStore(deps, hidden));
      const marker = writeNewLog(deps.fs, hidden.events, (add) => {
        for (const { event, line } of linesToCopy(parent, copy)) {
          const changes = copy.take(event);
          if (changes === undefined) continue;
          add(...spliceInPieces(line.bytes, changes, event));
          blobs.copyNamedBy(event);
        }
        const closing = copy.marker(BigInt(integerText(parent.metadata, 'eventCount')));
        add(encodeEventLine(closing));
        return closing;
      });
      // Whoever took the lock away may have rewritten the log while it was read.
      parent.assertHeld();
      return newMetadataDocument({
        ...start,
        ...copy.origin,
        eventCount: marker.sequence,
        lastEventType: marker.type,
      });
    });
    return document.metadata;
  });
}

async function forkPoint(log: EventLog, { at, wholeTurns }: ForkInput): Promise<number | undefined> {
  if (at === undefined) return undefined;
  const position = typeof at === 'number' ? at : await positionIn(log, at);
  return wholeTurns === true ? readCutCalls(log, position).whole.before : position;
}

/** A line that is an event. */
type EventLine = LogLine & { readonly kind: 'event' };

// The announcement of a rewind that was cut short says nothing about a fork; it is one only where it is the last event.
function* linesToCopy({ log }: LockedSession, copy: ForkCopy): Generator<EventLine> {
  let announcement: EventLine | undefined;
  for (const item of log.scan()) {
    if (item.kind === 'torn') return;
    if (announcement !== undefined) yield announcement;
    announcement = undefined;
    // Behind the end damage does not matter, but its number must not stand there again.
    if (item.kind === 'damage' && copy.isComplete) continue;
    if (item.kind === 'damage') throw log.damaged(item.damage);
    if (!copy.reaches(item.event, item.line.number)) continue;
    if (isRewindIntent(item.event)) announcement = withOwnBytes(item);
    else yield item;
  }
}

function withOwnBytes(item: EventLine): EventLine {
  return { ...item, line: { ...item.line, bytes: new Uint8Array(item.line.bytes) } };
}

/** Copies the blobs that checkpoints name, each once; nothing else that lies among the parent's blobs is touched. */
class BlobCopy {
  readonly #parent: LockedSession;
  readonly #to: BlobStore;
  readonly #done = new Set<BlobHash>();

  constructor(parent: LockedSession, to: BlobStore) {
    this.#parent = parent;
    this.#to = to;
  }

  copyNamedBy(event: StoredEvent): void {
    for (const hash of blobsNamedBy(event)) {
      if (this.#done.has(hash)) continue;
      this.#done.add(hash);
      const fault = this.#copy(hash);
      if (fault === undefined) continue;
      const { id, deps } = this.#parent;
      // It is missing in the fork as it is in the parent: that must not keep anybody from forking.
      deps.warn({ code: 'BLOB_NOT_COPIED', sessionId: id, message: `Blob ${hash} ${fault} and was not copied` });
    }
  }

  /** Gives what keeps a blob from being copied. */
  #copy(hash: BlobHash): string | undefined {
    const { blobs, deps } = this.#parent;
    let fd: number;
    try {
      const found = blobs.check(hash);
      if (found.kind === 'refused') return `is ${found.found}`;
      if (found.kind !== 'intact') return `is ${found.kind}`;
      fd = deps.fs.openRead(found.path);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      return `cannot be read (${errno})`;
    }
    try {
      this.#to.storeFile(fd);
      return undefined;
    } finally {
      deps.fs.close(fd);
    }
  }
}
