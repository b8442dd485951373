import { PayloadDamagedError } from '../../errors.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { FileState, StoredEvent } from '../../model/event.js';
import { type EventIdentity, type HashBytes, identityOf } from '../../model/event-identity.js';
import { decodeIntent, decodeMarker, isOwnCheckpoint, type RewindIntent } from '../../model/rewind-record.js';

/** What is read to undo a rewind. All logs are whole, with their announcements, oldest event first. */
export interface UndoSources {
  readonly sessionId: string;
  readonly rewindId: string;
  /** Whether its record says that it has a marker; one that announced itself as a rewind or an undo has one, too. */
  readonly isMarked: boolean;
  /** The log that the rewind kept. */
  readonly kept: Iterable<StoredEvent>;
  /** The logs of the records that were kept after it, oldest first, then the present one. */
  readonly later: readonly LaterLog[];
  /** Tells whether an older record has an event: what an undo brought back since did not happen since. */
  readonly isOlder: (event: EventIdentity) => boolean;
  readonly hash: HashBytes;
}

/** A log as it was found some time after ours had left it. */
interface LaterLog {
  readonly events: () => Iterable<StoredEvent>;
  /** The log that ours left, as it was then: what is missing of it was taken by another program. */
  readonly left: () => Iterable<StoredEvent>;
}

/** A checkpoint, or the announcement of a rewind, which has the files as any checkpoint has. */
interface FileWorkEvent {
  readonly event: StoredEvent;
  /** Undefined for a checkpoint. */
  readonly intent: RewindIntent | undefined;
}

/** What a rewind, and the session since then, did to files. */
export interface WorkSince {
  /** In order: the first that names a path tells what it was before the rewind. */
  readonly work: readonly FileWorkEvent[];
  /** The last sequence before. */
  readonly target: number;
  /** Why it cannot be known whether this is all; undefined where it is. */
  readonly doubt: string | undefined;
}

/**
 * Gathers what was done to files since a rewind began: by its announcement, and by every checkpoint and announcement in
 * the present log and in later records. Each counts once, in the order of the sequences unless another program used
 * numbers again (FORMAT.md, 6, "Undo").
 */
export function workSince({ sessionId, rewindId, isMarked, kept, later, isOlder, hash }: UndoSources): WorkSince {
  const before = new Set<EventIdentity>();
  const found = new Map<EventIdentity, FileWorkEvent>();
  let own: FileWorkEvent | undefined;
  let head = 0;
  for (const event of kept) {
    head = event.sequence;
    if (!concernsFiles(event)) continue;
    before.add(identityOf(event, hash));
    const intent = decodeIntent(event, sessionId);
    if (intent !== undefined) own = { event, intent };
  }
  if (own !== undefined) found.set(identityOf(own.event, hash), own);
  const from = own?.event.sequence ?? head + 1;
  const rewinds = new RewindsSince(rewindId);
  for (const { events } of later) {
    for (const event of events()) {
      if (!concernsFiles(event)) continue;
      const identity = identityOf(event, hash);
      if (before.has(identity) || found.has(identity)) continue;
      if (event.type === 'session_rewind') {
        rewinds.note(event, () => isOlder(identity));
        continue;
      }
      // A number below that of the announcement tells of something older, unless it was used again.
      const mayBeNew = event.sequence >= from || rewinds.hasForeign;
      const isKnownNew = own !== undefined && event.sequence >= from;
      if (!mayBeNew || (!isKnownNew && isOlder(identity)) || !canBeDecoded(event)) continue;
      found.set(identity, { event, intent: decodeIntent(event, sessionId) });
    }
  }
  if (rewinds.hasForeign) rewinds.noteLoss(later.flatMap((log) => checkpointsLost(log, sessionId, hash)));
  return {
    work: [...found.values()],
    target: from - 1,
    doubt: rewinds.doubt(isMarked || announcesMarker(own?.intent, rewindId)),
  };
}

/** What rewinds and restores of ours left at one path, and whether a tool of the session was at work on it later. */
export interface LeftState {
  /** The last state that one of ours gave it; undefined where none did. */
  readonly last: FileState | undefined;
  /** All the states that ours found there or gave it. */
  readonly all: readonly FileState[];
  readonly isToolsSince: boolean;
}

/**
 * Tells what ours left at each path. `resolve` is the one name of a file that the checkpoint with this sequence names.
 */
export function leftStates(
  { work }: WorkSince,
  resolve: (path: string, sequence: number) => string,
): (path: string) => LeftState {
  const states = new Map<string, LeftState>();
  for (const { event, intent } of work) {
    const { sequence } = event;
    for (const { path } of isOwnCheckpoint(event) ? [] : decodeCheckpoint(event).files) {
      const resolved = resolve(path, sequence);
      states.set(resolved, { ...(states.get(resolved) ?? NOTHING_LEFT), isToolsSince: true });
    }
    for (const { path, before, to } of intent?.files ?? []) {
      const resolved = resolve(path, sequence);
      const { all } = states.get(resolved) ?? NOTHING_LEFT;
      states.set(resolved, { last: to, all: [...all, before, to], isToolsSince: false });
    }
  }
  return (path) => states.get(path) ?? NOTHING_LEFT;
}

const NOTHING_LEFT: LeftState = { last: undefined, all: [], isToolsSince: false };

/**
 * The rewinds since the one that is undone: those of another program say how many files they changed, and not which.
 */
class RewindsSince {
  readonly #rewindId: string;
  readonly #unknown: number[] = [];
  /** Whether another program went back: it lowers the count, and numbers are used again. */
  hasForeign = false;
  #hasMarker = false;
  #lost: readonly number[] = [];

  constructor(rewindId: string) {
    this.#rewindId = rewindId;
  }

  note(event: StoredEvent, isOlder: () => boolean): void {
    const marker = decodeMarker(event);
    if (marker !== undefined && marker.rewindId !== '') {
      if (marker.rewindId === this.#rewindId) this.#hasMarker = true;
      return;
    }
    if (isOlder()) return;
    this.hasForeign = true;
    if (marker?.leftFiles !== true && !this.#unknown.includes(event.sequence)) this.#unknown.push(event.sequence);
  }

  /**
   * Notes that checkpoints which ours had left went: another program took the announcement of a rewind along, and with
   * it the only word of what that did to files.
   */
  noteLoss(checkpoints: readonly number[]): void {
    this.#lost = checkpoints;
  }

  /** @param isMarked - Whether the rewind that is undone had a marker. */
  doubt(isMarked: boolean): string | undefined {
    if (this.#unknown.length > 0) {
      const where = this.#unknown.map((sequence) => `event ${sequence}`).join(', ');
      return `another program went back since (${where}), and does not say what it did to which file`;
    }
    if (this.#lost.length > 0) {
      const which = this.#lost.map((sequence) => `event ${sequence}`).join(', ');
      return `another program took checkpoints out since (${which}), and does not say what it did to which file`;
    }
    if (!isMarked || this.#hasMarker || this.hasForeign) return undefined;
    return 'its marker is gone, and nothing tells who went back to before it';
  }
}

// A restore of files alone may be the library's, which leaves no marker; and what was rolled back has none.
function announcesMarker(intent: RewindIntent | undefined, rewindId: string): boolean {
  return intent !== undefined && intent.id === rewindId && intent.filesOnly !== true;
}

function checkpointsLost({ events, left }: LaterLog, sessionId: string, hash: HashBytes): readonly number[] {
  const there = new Set<EventIdentity>();
  for (const event of events()) if (isCheckpoint(event)) there.add(identityOf(event, hash));
  const lost: number[] = [];
  for (const event of left()) {
    // An announcement goes with the rewind that it announces.
    if (!isCheckpoint(event) || decodeIntent(event, sessionId) !== undefined) continue;
    if (!there.has(identityOf(event, hash))) lost.push(event.sequence);
  }
  return lost;
}

function isCheckpoint({ type }: StoredEvent): boolean {
  return type === 'session_checkpoint';
}

function concernsFiles({ type }: StoredEvent): boolean {
  return type === 'session_checkpoint' || type === 'session_rewind';
}

// One that cannot be decoded tells nothing; that is no reason to refuse an undo.
function canBeDecoded(checkpoint: StoredEvent): boolean {
  try {
    decodeCheckpoint(checkpoint);
    return true;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return false;
    throw error;
  }
}
