import {
  LockUnavailableError,
  LogMissingError,
  MetadataDamagedError,
  MetadataMissingError,
  SequenceExhaustedError,
} from '../../errors.js';
import { syncFileAt, syncFolder } from '../../fs/durable-file.js';
import { joinBytes, sameBytes } from '../../model/bytes.js';
import type { StoredEvent } from '../../model/event.js';
import { encodeEventLine } from '../../model/event-codec.js';
import { eventIdOf, leavesRoom, type Sequence, type SessionId, sequenceText } from '../../model/ids.js';
import {
  changeMetadata,
  encodeMetadata,
  integerText,
  type MetadataDocument,
  type SessionMetadata,
} from '../../model/metadata.js';
import { formatInstant, isFarAhead, laterOf } from '../../model/time.js';
import type { LockHold, StoreDeps } from '../base/deps.js';
import type { SessionPaths } from '../base/layout.js';
import { BlobStore } from './blob-store.js';
import { EventLog, type LogTail } from './event-log.js';
import { pathsOf, requireMetadata, writeMetadata } from './metadata-file.js';

/** An event as it is to be appended: checked, its payload encoded. */
type EncodedInput = Pick<StoredEvent, 'type' | 'payload'>;

/** What an append changes in the metadata beside the counts. */
export type MetadataChanges = { readonly [Name in keyof SessionMetadata]?: SessionMetadata[Name] | undefined };

/** A session while nobody else writes to it. Only `withSession` makes one, so forgetting the lock does not compile. */
export class LockedSession {
  readonly deps: StoreDeps;
  readonly id: SessionId;
  readonly paths: SessionPaths;
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly #hold: LockHold;
  #document: MetadataDocument | undefined;
  /** What is on the disk: {@link mendMetadata} changes no more than the other. */
  #stored: MetadataDocument | undefined;

  constructor(deps: StoreDeps, id: SessionId, hold: LockHold) {
    this.deps = deps;
    this.id = id;
    this.paths = pathsOf(deps, id);
    this.#hold = hold;
    this.log = new EventLog(deps, id, this.paths);
    this.blobs = new BlobStore(deps, this.paths);
  }

  /** To be called before each commit; throws LockLostError (`LOCK_LOST`) when the lock was lost. */
  assertHeld(): void {
    this.#hold.assertHeld();
  }

  /** Throws LockUnavailableError (`LOCK_UNAVAILABLE`) where another writer might not be kept out. */
  assertMayRewrite(): void {
    if (this.#hold.appendOnly !== undefined) throw new LockUnavailableError(this.#hold.appendOnly);
  }

  /** The metadata as they are under this lock; throws where they are missing or damaged. */
  document(): MetadataDocument {
    this.#stored ??= requireMetadata(this.deps, this.id);
    this.#document ??= this.#stored;
    return this.#document;
  }

  get metadata(): SessionMetadata {
    return this.document().metadata;
  }

  /** The metadata, or undefined where they cannot be read: files can be brought back without them. */
  metadataOrNone(): SessionMetadata | undefined {
    try {
      return this.metadata;
    } catch (error) {
      if (error instanceof MetadataMissingError) return undefined;
      if (error instanceof MetadataDamagedError && error.names === undefined) return undefined;
      throw error; // above all when they are those of another session
    }
  }

  /** The time to stamp on what is written now. */
  stamp(): string {
    return formatInstant(this.deps.now());
  }

  /**
   * `updatedAt` after something that happened at a time: never an earlier one than it was (FAULTS.md, 25), unless that is
   * more than a day ahead of the present: a wrong clock's time does not stick.
   */
  updatedAtAfter(time: string): string {
    const { updatedAt } = this.metadata;
    return isFarAhead(updatedAt, this.deps.now()) ? time : laterOf(updatedAt, time);
  }

  /** Puts the metadata right, to be written with the next change or by {@link settle}: refused work writes nothing. */
  mendMetadata(changes: MetadataChanges): void {
    this.#document = changeMetadata(this.document(), changes);
  }

  /** Writes metadata that were put right, if nothing else has. */
  settle(): void {
    if (this.#document !== this.#stored) this.updateMetadata({});
  }

  /** Replaces the metadata; unchanged ones are only synced: who wrote them may have been killed before that. */
  updateMetadata(changes: MetadataChanges): SessionMetadata {
    const document = changeMetadata(this.document(), changes);
    const stored = this.#stored as MetadataDocument;
    this.assertHeld();
    if (sameBytes(encodeMetadata(document), encodeMetadata(stored))) {
      syncFileAt(this.deps.fs, this.paths.metadata);
      syncFolder(this.deps.fs, this.paths.folder);
      return document.metadata;
    }
    // What the metadata were put right by may not have been synced, and they must not last longer than it does.
    if (this.#document !== stored) this.log.sync();
    writeMetadata(this.deps, this.paths, document);
    this.#document = document;
    this.#stored = document;
    return document.metadata;
  }

  /**
   * Appends a batch in one write, syncs it, and then puts the metadata right (FORMAT.md, 3, "Appending"). The log is the
   * truth: once it is synced the events are there, and metadata that cannot be written are a warning.
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
    if (eventCount > 0 && !this.log.exists()) {
      throw new LogMissingError(this.id, this.paths.events, this.#countedText(eventCount));
    }
    const tail = this.log.tail();
    this.nextSequence(tail, eventCount); // where no line can be put behind it, it stays as it is
    const kept = this.log.seal(tail);
    if (kept !== undefined) {
      const message = `An interrupted append was moved from the end of the log to ${kept}`;
      this.deps.warn({ code: 'TORN_TAIL', sessionId: this.id, message });
    }
    return tail;
  }

  /** The first sequence that was never used: the log and the metadata both have a say. */
  nextSequence(tail: LogTail, eventCount = this.metadata.eventCount): number {
    const last = Math.max(eventCount, tail.last?.sequence ?? 0);
    if (!leavesRoom(last)) throw this.#exhausted(tail, eventCount);
    return last + 1;
  }

  #exhausted({ last }: LogTail, eventCount: number): SequenceExhaustedError {
    const isInLog = last !== undefined && !leavesRoom(last.sequence);
    const isHighest = last !== undefined && last.sequence >= eventCount;
    return new SequenceExhaustedError(this.id, isHighest ? sequenceText(last) : this.#countedText(eventCount), isInLog);
  }

  #countedText(eventCount: number): string {
    const metadata = this.metadataOrNone();
    return metadata?.eventCount === eventCount ? integerText(metadata, 'eventCount') : String(eventCount);
  }

  /** Makes inputs events from this sequence on, all with the present time. */
  numbered(inputs: readonly EncodedInput[], first: number): readonly StoredEvent[] {
    const createdAt = this.stamp();
    if (first + inputs.length > Number.MAX_SAFE_INTEGER)
      throw new SequenceExhaustedError(this.id, `${first - 1}`, false);
    return inputs.map(({ type, payload }, at) => {
      const sequence = (first + at) as Sequence;
      return { id: eventIdOf(this.id, sequence), sessionId: this.id, sequence, type, createdAt, payload };
    });
  }

  /** Puts the counts of the metadata right after an append; a failure is a warning, the next command mends it. */
  recordAppended(events: readonly StoredEvent[], changes: MetadataChanges = {}): void {
    const last = events.at(-1);
    if (last === undefined) return;
    try {
      this.updateMetadata({
        updatedAt: this.updatedAtAfter(last.createdAt),
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
