import {
  LockUnavailableError,
  LogMissingError,
  MetadataDamagedError,
  MetadataMissingError,
  SequenceExhaustedError,
} from '../errors.js';
import { syncFileAt, syncFolder } from '../fs/durable-file.js';
import type { StoredEvent } from '../model/event.js';
import { encodeEventLine, joinBytes, sameBytes } from '../model/event-codec.js';
import { eventIdOf, type Sequence, type SessionId } from '../model/ids.js';
import type { RawJson } from '../model/json.js';
import { changeMetadata, encodeMetadata, type MetadataDocument, type SessionMetadata } from '../model/metadata.js';
import { formatInstant, laterOf } from '../model/time.js';
import { BlobStore } from './blob-store.js';
import type { LockHold, StoreDeps } from './deps.js';
import { EventLog, type LogTail } from './event-log.js';
import type { SessionPaths } from './layout.js';
import { requireMetadata, writeMetadata } from './metadata-file.js';

/** An event as it is to be appended: checked, its payload encoded. */
export interface EncodedInput {
  readonly type: string;
  readonly payload: RawJson | undefined;
}

/** What an append changes in the metadata beside the counts. */
export type MetadataChanges = { readonly [Name in keyof SessionMetadata]?: SessionMetadata[Name] | undefined };

/**
 * A session while nobody else writes to it. Only `withSession` makes one, so forgetting the lock does not compile.
 */
export class LockedSession {
  readonly deps: StoreDeps;
  readonly id: SessionId;
  readonly paths: SessionPaths;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly #hold: LockHold;
  #document: MetadataDocument | undefined;

  constructor(deps: StoreDeps, id: SessionId, paths: SessionPaths, hold: LockHold) {
    this.deps = deps;
    this.id = id;
    this.paths = paths;
    this.#hold = hold;
    this.log = new EventLog(deps, id, paths);
    this.blobs = new BlobStore(deps, paths);
  }

  /** To be called before each commit; throws LockLostError (`LOCK_LOST`) when the lock was lost. */
  assertHeld(): void {
    this.#hold.assertHeld();
  }

  /** Throws LockUnavailableError (`LOCK_UNAVAILABLE`) where another writer might not be kept out. */
  assertMayRewrite(): void {
    if (this.#hold.appendOnly !== undefined) throw new LockUnavailableError(this.#hold.appendOnly);
  }

  /**
   * Gives the metadata as they are under this lock.
   * @throws MetadataDamagedError (`METADATA_DAMAGED`), MetadataMissingError (`METADATA_MISSING`)
   */
  document(): MetadataDocument {
    this.#document ??= requireMetadata(this.deps, this.id);
    return this.#document;
  }

  get metadata(): SessionMetadata {
    return this.document().metadata;
  }

  /** Gives the metadata, or undefined where they cannot be read: files can be brought back without them. */
  metadataOrNone(): SessionMetadata | undefined {
    try {
      return this.metadata;
    } catch (error) {
      if (error instanceof MetadataDamagedError || error instanceof MetadataMissingError) return undefined;
      throw error;
    }
  }

  /** Gives the time to stamp on what is written now. */
  stamp(): string {
    return formatInstant(this.deps.now());
  }

  /** Gives the present time, or `updatedAt` where that is later: it never goes down (FAULTS.md, 25). */
  stampNotBefore(): string {
    return laterOf(this.metadata.updatedAt, this.stamp());
  }

  /** Replaces the metadata. Where nothing changes they are only synced: who wrote them may have been killed before that. */
  updateMetadata(changes: MetadataChanges): SessionMetadata {
    const document = changeMetadata(this.document(), changes);
    this.assertHeld();
    if (sameBytes(encodeMetadata(document), encodeMetadata(this.document()))) {
      syncFileAt(this.deps.fs, this.paths.metadata);
      syncFolder(this.deps.fs, this.paths.folder);
      return this.metadata;
    }
    writeMetadata(this.deps, this.paths, document);
    this.#document = document;
    return document.metadata;
  }

  /**
   * Appends a batch in one write, syncs it, and then puts the metadata right.
   *
   * The log is the truth: once it is synced the events are there, and metadata that cannot be written are a warning.
   * @throws LogMissingError (`LOG_MISSING`) when the log is gone although events were counted.
   * @throws LogDamagedError (`LOG_DAMAGED`) when the last line is malformed, or its sequence not above the one before.
   * @throws SequenceExhaustedError (`SEQUENCE_EXHAUSTED`)
   * @see FORMAT.md, 3, "Appending"
   */
  append(inputs: readonly EncodedInput[], changes: MetadataChanges = {}): readonly StoredEvent[] {
    this.log.requireOrderAtEnd();
    const tail = this.sealedTail();
    const events = this.numbered(inputs, this.nextSequence(tail));
    this.assertHeld();
    this.log.append(joinBytes(events.map(encodeEventLine)));
    this.recordAppended(events, changes);
    return events;
  }

  /** Reads the end of the log and makes sure that a line can be put behind it. */
  sealedTail(eventCount = this.metadata.eventCount): LogTail {
    if (eventCount > 0 && !this.log.exists()) throw new LogMissingError(this.id, this.paths.events, eventCount);
    const tail = this.log.tail();
    const kept = this.log.seal(tail);
    if (kept !== undefined) {
      const message = `An interrupted append was moved from the end of the log to ${kept}`;
      this.deps.warn({ code: 'TORN_TAIL', sessionId: this.id, message });
    }
    return tail;
  }

  /** Gives the first sequence that was never used: the log and the metadata both have a say. */
  nextSequence(tail: LogTail, eventCount = this.metadata.eventCount): number {
    const last = Math.max(eventCount, tail.last?.sequence ?? 0);
    if (last >= Number.MAX_SAFE_INTEGER - 1) throw new SequenceExhaustedError(this.id, last);
    return last + 1;
  }

  /** Gives inputs as events from this sequence on, all with the present time. */
  numbered(inputs: readonly EncodedInput[], first: number): readonly StoredEvent[] {
    const createdAt = this.stamp();
    if (first + inputs.length > Number.MAX_SAFE_INTEGER) throw new SequenceExhaustedError(this.id, first);
    return inputs.map(({ type, payload }, at) => ({
      id: eventIdOf(this.id, first + at),
      sessionId: this.id,
      sequence: (first + at) as Sequence,
      type,
      createdAt,
      payload,
    }));
  }

  /** Puts the counts of the metadata right after an append; a failure is a warning, the next command mends it. */
  recordAppended(events: readonly StoredEvent[], changes: MetadataChanges = {}): void {
    const last = events.at(-1);
    if (last === undefined) return;
    try {
      this.updateMetadata({
        updatedAt: laterOf(this.metadata.updatedAt, last.createdAt),
        eventCount: last.sequence,
        lastEventType: last.type,
        ...changes,
      });
    } catch (error) {
      const message = `The events are in the log; the metadata could not be written: ${(error as Error).message}`;
      this.deps.warn({ code: 'METADATA_NOT_WRITTEN', sessionId: this.id, message });
    }
  }
}
