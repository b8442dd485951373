import type { FileSystem } from '../../fs/file-system.js';
import type { SessionId } from '../../model/ids.js';

/** Something that the caller should know and that stopped nothing. */
export interface StoreWarning {
  readonly code:
    | 'METADATA_NOT_WRITTEN'
    | 'COMPACTION_UNREADABLE'
    | 'NO_FLOCK'
    | 'STEP_REFUSED'
    | 'HARD_LINKED'
    | 'REWIND_RECOVERED'
    | 'REWIND_UNSETTLED'
    | 'TORN_TAIL'
    | 'BLOB_NOT_COPIED'
    | 'BLOB_NOT_KEPT'
    | 'AMBIGUOUS_MEMBER'
    | 'TIME_IN_FUTURE'
    | 'SEQUENCE_NOT_RISING';
  readonly sessionId: string | undefined;
  readonly message: string;
}

/** A session while it is held. */
export interface LockHold {
  /** To be called before each commit: throws LockLostError when the lock was lost. */
  assertHeld(): void;
  /** Why history must not be rewritten under this lock, or undefined: another writer might not be kept out. */
  readonly appendOnly: string | undefined;
}

/** How a session is held while somebody writes to it. */
export interface LockProvider {
  /**
   * Runs work while nobody else, Zero included, writes to the session.
   * @throws SessionBusyError (`SESSION_BUSY`) when somebody else holds it until the time is over.
   */
  withLock<T>(id: SessionId, folder: string, work: (hold: LockHold) => Promise<T>): Promise<T>;
}

/** What the store needs of the world; built once in open-store.ts, handed in by tests. */
export interface StoreDeps {
  readonly root: string;
  readonly fs: FileSystem;
  readonly now: () => Date;
  /** Fresh ULIDs, rising with time. */
  readonly newId: () => string;
  readonly locks: LockProvider;
  readonly warn: (warning: StoreWarning) => void;
  readonly checkpoints: { readonly enabled: boolean; readonly maxBytes: number };
  /** Throws ForeignOwnerError (`FOREIGN_OWNER`) when the store is somebody else's and would get files of ours. */
  readonly assertOwner: () => void;
  /** The homes of whoever runs this process. */
  readonly homes: readonly string[];
  /** The homes of everybody on this machine, and of the owner of the store: as {@link homes} never restored into. */
  readonly othersHomes: () => readonly string[];
  /** Folders where running Zeros say which session they have open. */
  readonly peerRegistries: readonly string[];
}
