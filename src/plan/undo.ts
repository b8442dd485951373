import { PayloadDamagedError } from '../errors.js';
import { decodeCheckpoint } from '../model/checkpoint-codec.js';
import { type CheckpointFile, type EventRef, type FileState, OWN_TOOL_PREFIX } from '../model/event.js';
import type { EventIdentity } from '../model/event-identity.js';
import type { OutlinedPayload } from '../model/log-outline.js';
import type { RewindIntent } from '../model/rewind-record.js';

/** A checkpoint of a kept log, with what it is known by in others. */
export interface KeptCheckpoint extends OutlinedPayload {
  readonly identity: EventIdentity;
}

/** What a kept record tells: the log as it was before a rewind, and what the rewind did. */
export interface KeptWork {
  /** Its id. */
  readonly id: string;
  /** Without the intent. */
  readonly events: readonly EventRef[];
  /** Without the intent. */
  readonly checkpoints: readonly KeptCheckpoint[];
  /** What was done to files; undefined where none was changed. */
  readonly intent: RewindIntent | undefined;
}

/** One file that goes back with an undo. */
export interface FileToUndo {
  readonly path: string;
  /** What it was before the first of the rewinds. */
  readonly before: FileState;
  /** What the rewinds left: a file that is neither was changed by somebody. */
  readonly left: readonly FileState[];
  readonly folderModes: readonly number[] | undefined;
}

/**
 * Gives the files that a rewind changed, or one that came after it.
 *
 * A file of a later rewind alone was, when the first one began, what the first thing to name it since then says: a
 * checkpoint of the session in between, or the later rewind itself.
 * @param records - The one to be undone and all later ones, oldest first.
 * @param wasThere - Tells whether an event was in the log at some time before: what an undo brings back into a log did
 *   not happen in between.
 * @see FORMAT.md, 6, "Undo"
 */
export function filesToUndo(
  records: readonly KeptWork[],
  wasThere: (event: EventIdentity) => boolean,
): readonly FileToUndo[] {
  const files = new Map<string, FileToUndo>();
  const seenBetween = new Map<string, FileState>();
  for (const [at, { intent, checkpoints }] of records.entries()) {
    for (const checkpoint of checkpoints) {
      if (at > 0 && !wasThere(checkpoint.identity)) noteStates(checkpoint, seenBetween);
    }
    for (const { path, before, to, folderModes } of intent?.files ?? []) {
      const earlier = files.get(path);
      files.set(path, {
        path,
        before: earlier?.before ?? seenBetween.get(path) ?? before,
        left: earlier === undefined ? [to] : [...earlier.left, to],
        folderModes: earlier?.folderModes ?? folderModes,
      });
    }
  }
  return [...files.values()];
}

function noteStates(checkpoint: OutlinedPayload, states: Map<string, FileState>): void {
  for (const { path, state } of filesOf(checkpoint)) {
    if (state.kind !== 'skipped' && !states.has(path)) states.set(path, state);
  }
}

// One that cannot be decoded tells nothing; that is no reason to refuse an undo.
function filesOf(checkpoint: OutlinedPayload): readonly CheckpointFile[] {
  try {
    const { tool, files } = decodeCheckpoint(checkpoint);
    return tool.startsWith(OWN_TOOL_PREFIX) ? [] : files;
  } catch (error) {
    if (error instanceof PayloadDamagedError) return [];
    throw error;
  }
}
