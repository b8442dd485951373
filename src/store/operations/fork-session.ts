import { errnoOf, LogMissingError } from '../../errors.js';
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

/** Makes a session that starts with the events of another; the log is copied line by line, however long it is. */
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
    const { sessionId: forkId, createdAt } = start;
    const copy = new ForkCopy({ parentId: parent.id, forkId, createdAt, at });
    const document = publishSession(deps, forkId as SessionId, (hidden) => {
      const blobs = new BlobStore(deps, hidden);
      const copied = new Set<BlobHash>();
      const marker = writeNewLog(deps.fs, hidden.events, (add) => {
        for (const { event, line } of linesToCopy(parent, copy)) {
          const changes = copy.take(event);
          if (changes === undefined) continue;
          add(...spliceInPieces(line.bytes, changes, event));
          for (const hash of blobsNamedBy(event)) {
            if (!copied.has(hash)) copyBlob(parent, blobs, hash);
            copied.add(hash);
          }
        }
        const closing = copy.marker(BigInt(integerText(parent.metadata, 'eventCount')));
        add(encodeEventLine(closing));
        return closing;
      });
      // Whoever took the lock away may have rewritten the log while it was read.
      parent.assertHeld();
      const counts = { eventCount: marker.sequence, lastEventType: marker.type };
      return newMetadataDocument({ ...start, ...copy.origin, ...counts });
    });
    return document.metadata;
  });
}

async function forkPoint(log: EventLog, { at, wholeTurns }: ForkInput): Promise<number | undefined> {
  if (at === undefined) return undefined;
  const position = typeof at === 'number' ? at : await positionIn(log, at);
  return wholeTurns === true ? readCutCalls(log, position).whole.before : position;
}

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
    // Its bytes are copied: reading on overwrites them.
    const { line } = item;
    if (isRewindIntent(item.event)) announcement = { ...item, line: { ...line, bytes: new Uint8Array(line.bytes) } };
    else yield item;
  }
}

// What is missing in the parent is missing in the fork as well: that must not keep anybody from forking.
function copyBlob(parent: LockedSession, to: BlobStore, hash: BlobHash): void {
  const { id, deps } = parent;
  const found = openBlob(parent, hash);
  if (typeof found === 'string') {
    deps.warn({ code: 'BLOB_NOT_COPIED', sessionId: id, message: `Blob ${hash} ${found} and was not copied` });
    return;
  }
  try {
    to.storeFile(found);
  } finally {
    deps.fs.close(found);
  }
}

/** Opens a blob, or says what is wrong with it. */
function openBlob({ blobs, deps }: LockedSession, hash: BlobHash): number | string {
  try {
    const found = blobs.check(hash);
    if (found.kind === 'intact') return deps.fs.openRead(found.path);
    return found.kind === 'refused' ? `is ${found.found}` : `is ${found.kind}`;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return `cannot be read (${errno})`;
  }
}
