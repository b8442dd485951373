import { createFile, syncFile, syncFolder } from '../fs/durable-file.js';
import { writeFully } from '../fs/jsonl.js';
import type { StoredEvent } from '../model/event.js';
import { decodeCheckpoint, encodeEventLine, joinBytes, spliceEventLine } from '../model/event-codec.js';
import { type BlobHash, parseNewSessionId, parseSessionId, type SessionId, trimSpace } from '../model/ids.js';
import { newMetadataDocument, type SessionMetadata } from '../model/metadata.js';
import { isRewindIntent } from '../model/rewind-record.js';
import { checkForkPoint, ForkCopy, forkBeginnings, forkKind } from '../plan/fork.js';
import type { StoreDeps } from './deps.js';
import { copyFile } from './kept-records.js';
import { FILE_MODE, FOLDER_MODE, type SessionPaths } from './layout.js';
import type { LockedSession } from './locked-session.js';
import { publishSession } from './publish-session.js';
import { withSessionAsItIs } from './session-lock.js';

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
  /** The last sequence that is copied; 0 copies none. All events when left out. */
  readonly at?: number | undefined;
}

/** So many bytes are gathered before they are written. */
const BATCH_BYTES = 1024 * 1024;

/**
 * Makes a session that starts with the events of another, renumbered from 1, and with the blobs that they name.
 *
 * It is built aside and appears whole; the parent's files keep their bytes, a torn tail too. The log is copied line by
 * line, so that no length of it matters.
 * @throws SessionExistsError (`SESSION_EXISTS`), InvalidIdError (`INVALID_ID`)
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) for a kind that is no fork, or a point that is none.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the event to end at is not in the log.
 * @throws LogDamagedError (`LOG_DAMAGED`) when damage lies before the end of the copy.
 * @see FORMAT.md, 4, fork; 5
 */
export async function forkSession(deps: StoreDeps, parentId: string, input: ForkInput): Promise<SessionMetadata> {
  parseSessionId(parentId);
  forkKind(input.sessionKind);
  checkForkPoint(input.at);
  return withSessionAsItIs(deps, parentId, (parent) => {
    const beginnings = forkBeginnings(parent.metadata, input);
    const wished = trimSpace(input.sessionId ?? '');
    const id = parseNewSessionId(wished === '' ? deps.newId() : wished);
    const createdAt = parent.stamp();
    return publishSession(deps, id, (hidden) => {
      const copy = new ForkCopy({ parentId: parent.id, forkId: id, createdAt, at: input.at });
      const named = copyLog(parent, hidden, copy);
      copyBlobs(parent, hidden, named);
      const { marker } = named;
      const { forkedFromEventId, forkedFromSequence } = copy.origin;
      return newMetadataDocument({
        ...beginnings,
        sessionId: id satisfies SessionId,
        forkedFromEventId,
        forkedFromSequence,
        createdAt,
        updatedAt: createdAt,
        eventCount: marker.sequence,
        lastEventType: marker.type,
      });
    }).metadata;
  });
}

interface CopiedLog {
  readonly marker: StoredEvent;
  readonly hashes: ReadonlySet<BlobHash>;
}

/** Writes the fork's log, synced, and gives its closing event and the blobs that its checkpoints name. */
function copyLog(parent: LockedSession, hidden: SessionPaths, copy: ForkCopy): CopiedLog {
  const { fs } = parent.deps;
  createFile(fs, hidden.events, new Uint8Array(0), FILE_MODE);
  const to = fs.openAppend(hidden.events);
  const hashes = new Set<BlobHash>();
  let batch: Uint8Array[] = [];
  let batched = 0;
  const flush = (): void => {
    writeFully(fs, to, joinBytes(batch));
    batch = [];
    batched = 0;
  };
  const add = (line: Uint8Array): void => {
    batch.push(line);
    batched += line.length;
    if (batched >= BATCH_BYTES) flush();
  };
  try {
    for (const { event, bytes } of linesToCopy(parent, copy)) {
      const changes = copy.take(event);
      if (changes === undefined) continue;
      add(spliceEventLine(bytes, changes));
      for (const hash of hashesNamedBy(event)) hashes.add(hash);
    }
    const marker = copy.marker(parent.metadata.eventCount);
    add(encodeEventLine(marker));
    flush();
    syncFile(fs, to, hidden.events);
    return { marker, hashes };
  } finally {
    fs.close(to);
  }
}

// The announcement of a rewind that was cut short says nothing about a fork.
function* linesToCopy(parent: LockedSession, copy: ForkCopy): Generator<{ event: StoredEvent; bytes: Uint8Array }> {
  let held: { event: StoredEvent; bytes: Uint8Array } | undefined;
  if (copy.isComplete) return;
  for (const item of parent.log.scan()) {
    if (item.kind === 'torn') break;
    if (item.kind === 'damage') {
      // What lies behind the end of the copy does not matter.
      if (held !== undefined) {
        yield held;
        held = undefined;
      }
      if (copy.isComplete) return;
      throw parent.log.damaged(item.damage);
    }
    if (held !== undefined) yield held;
    held = undefined;
    if (!copy.reaches(item.event)) return;
    const bytes = new Uint8Array(item.line.bytes);
    if (isRewindIntent(item.event)) held = { event: item.event, bytes };
    else yield { event: item.event, bytes };
  }
}

function hashesNamedBy(event: StoredEvent): readonly BlobHash[] {
  if (event.type !== 'session_checkpoint') return [];
  try {
    return decodeCheckpoint(event).files.flatMap(({ state }) =>
      state.kind === 'stored' && state.hash !== undefined ? [state.hash] : [],
    );
  } catch {
    return []; // copied as it stands; it names nothing that we could find
  }
}

// A blob that is missing or altered in the parent is missing in the fork, too: that must not keep anybody from forking.
function copyBlobs(parent: LockedSession, hidden: SessionPaths, { hashes }: CopiedLog): void {
  const { fs, warn } = parent.deps;
  const intact = [...hashes].filter((hash) => {
    const { kind } = parent.blobs.check(hash);
    if (kind === 'intact') return true;
    warn({ code: 'BLOB_NOT_COPIED', sessionId: parent.id, message: `Blob ${hash} is ${kind} and was not copied` });
    return false;
  });
  if (intact.length === 0) return;
  fs.mkdir(hidden.checkpoints, FOLDER_MODE);
  fs.mkdir(hidden.blobs, FOLDER_MODE);
  for (const hash of intact) copyFile(fs, parent.blobs.pathOf(hash), `${hidden.blobs}/${hash}`);
  syncFolder(fs, hidden.blobs);
  syncFolder(fs, hidden.checkpoints);
}
