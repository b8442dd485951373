import { decodeCheckpoint, encodeCheckpoint, encodeCheckpointFile } from './checkpoint-codec.js';
import {
  type EventRef,
  type FileState,
  OWN_TOOL_PREFIX,
  RESTORE_TOOL,
  REWIND_INTENT_TOOL,
  type StoredEvent,
} from './event.js';
import { decodePayload } from './event-codec.js';
import { payloadFieldsOf } from './event-view.js';
import { encodeRecord, isRecord, type RawJson } from './json.js';

// The id of an intent is a ULID; what matters is that it names nothing outside the folder that it is looked for in.
const PLAIN_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$/;

/** What a rewind did to the workspace, as it is stored in its marker. */
export interface RestoreReport {
  readonly targetSequence: number;
  readonly filesRestored: number;
  readonly filesDeleted: number;
  /** Paths that could not be brought back. */
  readonly skipped?: readonly string[];
}

/** A rewind announced: what each file is, and what it is to become (FORMAT.md, 6). */
export interface RewindIntent {
  /** A ULID; also the name of the kept record. */
  readonly id: string;
  readonly sessionId: string;
  readonly target: number;
  /** The folder that the files are in; undefined where the recorded cwd is meant. */
  readonly workspace: string | undefined;
  readonly files: readonly IntendedChange[];
  /** The record that is undone, where it is an undo. */
  readonly undoes?: string | undefined;
  /** Set where no event is to go. */
  readonly filesOnly?: boolean | undefined;
  /** The file that it was appended to; undefined in one of an earlier version. */
  readonly log?: LogIdentity | undefined;
}

/** What tells a log from every copy of it: decimal numbers, `birth` in nanoseconds since 1970, or 0. */
export interface LogIdentity {
  readonly dev: string;
  readonly ino: string;
  readonly birth: string;
}

export function workOf(intent: Pick<RewindIntent, 'undoes' | 'filesOnly'>): 'rewind' | 'undo' | 'restore' {
  if (intent.undoes !== undefined) return 'undo';
  return intent.filesOnly === true ? 'restore' : 'rewind';
}

export interface IntendedChange {
  readonly path: string;
  readonly before: FileState;
  readonly to: FileState;
  /** The modes of the folders that go with the file, outermost first: they come back as they were. */
  readonly folderModes?: readonly number[] | undefined;
  /** When the file was last changed, milliseconds since 1970: rolled back, it must not look newly written. */
  readonly mtimeMs?: number | undefined;
  /** Set where what was there was somebody else's, and overwritten by force: it stays somebody else's. */
  readonly isForeign?: boolean | undefined;
}

export function isRewindIntent(event: TypedEvent): boolean {
  return toolOf(event) === REWIND_INTENT_TOOL;
}

export function isOwnCheckpoint(event: TypedEvent): boolean {
  return toolOf(event).startsWith(OWN_TOOL_PREFIX);
}

type TypedEvent = Pick<EventRef, 'id' | 'type'> & Pick<StoredEvent, 'payload'>;

function toolOf(event: TypedEvent): string {
  const { tool } = event.type === 'session_checkpoint' ? payloadFieldsOf(event) : { tool: '' };
  return typeof tool === 'string' ? tool : '';
}

export function encodeIntent(intent: RewindIntent): RawJson {
  const { id, sessionId: session, target, workspace, undoes, log } = intent;
  return encodeRecord({
    tool: REWIND_INTENT_TOOL,
    files: intent.files.map(({ path, before, to, folderModes = [], mtimeMs: mtime, isForeign }) => {
      const { path: _path, ...state } = encodeCheckpointFile({ path, state: to });
      const dirModes = folderModes.length > 0 ? folderModes : undefined;
      const foreign = isForeign === true ? true : undefined;
      return { ...encodeCheckpointFile({ path, state: before }), to: state, dirModes, mtime, foreign };
    }),
    rewind: { id, session, target, workspace, undoes, filesOnly: intent.filesOnly === true ? true : undefined, log },
  });
}

/** The payload of the checkpoint that a restore leaves in the log: the files as its intent says that they were. */
export function encodeRestore(files: readonly IntendedChange[]): RawJson {
  const before = files.map((file) => ({ path: file.path, state: file.before, folderModes: file.folderModes }));
  return encodeRecord({ ...encodeCheckpoint(RESTORE_TOOL, before) });
}

/**
 * Reads an intent; undefined for what is none. Its id becomes part of paths, so only a plain name will do.
 * @param sessionId - The session whose log it is: an intent that was copied from another announces nothing here.
 */
export function decodeIntent(event: StoredEvent, sessionId: string): RewindIntent | undefined {
  if (!isRewindIntent(event)) return undefined;
  try {
    const payload = decodePayload(event, event.type);
    const { rewind, files } = payload;
    if (!isRecord(rewind) || rewind.session !== sessionId || !Array.isArray(files)) return undefined;
    const { id, target, workspace, undoes, filesOnly, log } = rewind;
    if (typeof id !== 'string' || !PLAIN_NAME.test(id) || typeof target !== 'number') return undefined;
    if (workspace !== undefined && typeof workspace !== 'string') return undefined;
    const before = decodeCheckpoint(event).files;
    const after = decodeCheckpoint({ id: event.id, payload: targetsAsCheckpoint(files) }).files;
    return {
      id,
      sessionId,
      target,
      workspace,
      files: before.map(({ path, state, folderModes }, at) => {
        const to = after[at]?.state ?? state;
        return {
          path,
          before: state,
          ...(folderModes === undefined ? {} : { folderModes }),
          to,
          ...factsOf(files[at]),
        };
      }),
      ...(typeof undoes === 'string' ? { undoes } : {}),
      ...(filesOnly === true ? { filesOnly } : {}),
      log: logIdentityIn(log),
    };
  } catch {
    return undefined;
  }
}

function logIdentityIn(value: unknown): LogIdentity | undefined {
  if (!isRecord(value)) return undefined;
  const { dev, ino, birth } = value;
  if (typeof dev !== 'string' || typeof ino !== 'string' || typeof birth !== 'string') return undefined;
  return { dev, ino, birth };
}

/** The payload of a `session_rewind` marker, in the order that FORMAT.md, 6 gives. */
export function encodeMarker(marker: {
  readonly report: RestoreReport;
  readonly rewindId: string;
  readonly undoes?: string | undefined;
}): RawJson {
  const { report, rewindId, undoes } = marker;
  const { targetSequence, filesRestored, filesDeleted, skipped = [] } = report;
  return encodeRecord({
    targetSequence,
    report: { targetSequence, filesRestored, filesDeleted, skipped: skipped.length > 0 ? skipped : undefined },
    rewindId,
    undoes,
  });
}

/** What a `session_rewind` marker says; texts are empty where it says nothing, as those of other programs do. */
interface RewindMarker {
  readonly rewindId: string;
  readonly undoes: string;
  readonly targetSequence: number;
  /** Whether its report says that every file stayed as it was. */
  readonly leftFiles: boolean;
}

export function decodeMarker(event: Pick<StoredEvent, 'id' | 'payload'>): RewindMarker | undefined {
  try {
    const { rewindId, undoes, targetSequence, report } = decodePayload(event, 'session_rewind');
    return {
      leftFiles: isRecord(report) && saysNothingDone(report),
      rewindId: typeof rewindId === 'string' ? rewindId : '',
      undoes: typeof undoes === 'string' ? undoes : '',
      targetSequence: typeof targetSequence === 'number' ? targetSequence : 0,
    };
  } catch {
    return undefined;
  }
}

function saysNothingDone({ filesRestored, filesDeleted, skipped }: Readonly<Record<string, unknown>>): boolean {
  const isNone = skipped === undefined || skipped === null || (Array.isArray(skipped) && skipped.length === 0);
  return filesRestored === 0 && filesDeleted === 0 && isNone;
}

// The target states have the shape of a checkpoint's files, so one decoder reads both.
function targetsAsCheckpoint(files: readonly unknown[]): RawJson {
  const targets = files.map((file) => ({ path: '', ...(isRecord(file) && isRecord(file.to) ? file.to : {}) }));
  return encodeRecord({ tool: '', files: targets });
}

function factsOf(file: unknown): Pick<IntendedChange, 'mtimeMs' | 'isForeign'> {
  if (!isRecord(file)) return {};
  const { mtime, foreign } = file;
  return {
    ...(typeof mtime === 'number' ? { mtimeMs: mtime } : {}),
    ...(foreign === true ? { isForeign: true } : {}),
  };
}
