import { EventNotFoundError, InvalidArgumentError, SelectorMismatchError } from '../../errors.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import type { EventRef, FileState } from '../../model/event.js';
import { trimSpace } from '../../model/ids.js';
import type { LogOutline, OutlinedPayload } from '../../model/log-outline.js';
import { usedTwice } from '../../model/used-twice.js';
import type { ChangeVerdict } from './change-rule.js';
import { foldersAbove, foldersThatGo } from './changed-shape.js';
import { type FileAction, type FileChange, hasContent, hasState, type PresentState } from './file-change.js';
import type { CutCalls, OpenCall } from './whole-positions.js';

/** How the reference names the target of a rewind. */
export interface RewindTargetOptions {
  readonly targetSequence?: number | undefined;
  readonly targetEventId?: string | undefined;
  /** Whether the target itself is kept. */
  readonly keepTarget?: boolean | undefined;
}

/** Which events a rewind keeps and drops: the plan of the reference, about the log alone. */
export interface RewindOutline {
  readonly sessionId: string;
  readonly targetSequence: number;
  readonly targetEventId: string;
  readonly keepTarget: boolean;
  readonly keptCount: number;
  readonly droppedCount: number;
  readonly lastKeptEventId?: string;
  readonly keptEvents: readonly EventRef[];
  readonly droppedEvents: readonly EventRef[];
}

/**
 * Finds the target by sequence, by event id, or by both, and tells which events are kept and which dropped.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the log has no such event, or none at all.
 * @throws SelectorMismatchError (`SELECTOR_MISMATCH`) when sequence and id name different events.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when neither is given.
 * @see FORMAT.md, 4, planRewind
 */
export function outlineRewind(outline: LogOutline, options: RewindTargetOptions): RewindOutline {
  const at = findTarget(outline, options);
  const target = outline.events[at] as EventRef;
  const keepTarget = options.keepTarget ?? false;
  const cut = keepTarget ? at + 1 : at;
  const keptEvents = outline.events.slice(0, cut);
  const droppedEvents = outline.events.slice(cut);
  const lastKept = keptEvents.at(-1);
  return {
    sessionId: outline.sessionId,
    targetSequence: target.sequence,
    targetEventId: target.id,
    keepTarget,
    keptCount: keptEvents.length,
    droppedCount: droppedEvents.length,
    ...(lastKept === undefined || trimSpace(lastKept.id) === '' ? {} : { lastKeptEventId: lastKept.id }),
    keptEvents,
    droppedEvents,
  };
}

function findTarget(outline: LogOutline, options: RewindTargetOptions): number {
  const { sessionId, events } = outline;
  const sequence = options.targetSequence ?? 0;
  const eventId = trimSpace(options.targetEventId ?? '');
  if (typeof sequence !== 'number' || (sequence <= 0 && eventId === '')) {
    throw new InvalidArgumentError('targetSequence', 'A rewind needs a target', 'Give a sequence or an event id.');
  }
  const bySequence = sequence > 0 ? indexOfSequence(outline, sequence) : undefined;
  if (eventId === '') return bySequence as number;
  const byId = events.findIndex((event) => event.id === eventId);
  if (byId < 0) throw new EventNotFoundError(sessionId, eventId);
  if (bySequence !== undefined && bySequence !== byId) throw new SelectorMismatchError(sequence, eventId);
  return byId;
}

// Where a sequence stands twice, plan and cut would disagree on what it means (FAULTS.md, 27).
function indexOfSequence(outline: LogOutline, sequence: number): number {
  const { sessionId, events } = outline;
  const at = events.findIndex((event) => event.sequence === sequence);
  if (at < 0) throw new EventNotFoundError(sessionId, sequence, nearestSequences(events, sequence));
  refuseRepeated(outline, sequence);
  return at;
}

/** Refuses a sequence that stands twice: nobody can tell which event is meant. `LOG_DAMAGED` names both lines. */
export function refuseRepeated({ sessionId, repeated }: LogOutline, sequence: number): void {
  const lines = repeated?.get(sequence);
  if (lines !== undefined) throw usedTwice(sessionId, `the sequence ${sequence}`, ...lines);
}

/** Gives the sequences next to one that is not there: the one below and the one above, as far as they exist. */
export function nearestSequences(events: readonly EventRef[], sequence: number): readonly number[] {
  const below = events.findLast((event) => event.sequence < sequence)?.sequence;
  const above = events.find((event) => event.sequence > sequence)?.sequence;
  return [below, above].filter((found) => found !== undefined);
}

/** What a rewind is to do beside its target. */
interface RewindScope {
  /** `all` by default. */
  readonly part?: 'all' | 'events' | 'files' | undefined;
  readonly workspace?: string | undefined;
}

/** What a rewind will do: plain data, which `--dry-run` prints and `rewind` obeys (STYLE.md, 6). */
export interface RewindPlan {
  readonly sessionId: string;
  /** The last event when planned; 0 in an empty log. */
  readonly head: number;
  /** The last event kept; 0 for none. */
  readonly target: number;
  /** Empty when the target is 0 or lies beyond the end. */
  readonly targetEventId: string;
  readonly keepTarget: boolean;
  /** The folder that the files are in, without links; undefined where no file is concerned, or none will do. */
  readonly workspace?: string | undefined;
  readonly dropped: readonly EventRef[];
  /** What an undo returns to the log; none of it where a rewind is planned. */
  readonly returned?: readonly EventRef[] | undefined;
  readonly files: readonly FileChange[];
  /** What the dropped events may have changed without a checkpoint: it stays as it is. */
  readonly uncovered: readonly UncoveredWork[];
  /** Calls among the kept events whose results are dropped, oldest first. */
  readonly openCalls: readonly OpenCall[];
  /** The nearest targets at which no call is open: at or before this one, and at or after it. */
  readonly wholeTargets: readonly [number, number];
  /** Why nobody can tell what all there is to undo; it needs force then. */
  readonly doubt?: string | undefined;
  /** Whether all of it can be done without force. What is uncovered does not count. */
  readonly complete: boolean;
}

/** Something that events changed, or may have changed, and that no checkpoint can restore. */
export interface UncoveredWork {
  /** A file that a result names, a shell call, or a child session whose files are not as they were. */
  readonly kind: 'file' | 'shell' | 'child';
  /** The event that tells of it. */
  readonly sequence: number;
  /** Of a file, as the event has it. */
  readonly path?: string | undefined;
  /** Of a child. */
  readonly sessionId?: string | undefined;
}

/** A file that some checkpoint after the target names: its state nearest the target, and what was seen of it later. */
export interface TouchedFile {
  readonly path: string;
  readonly resolved: string;
  /** The state in the first checkpoint after the target. */
  readonly wanted: FileState;
  /** The states in the checkpoints that follow: what the session itself made of the file. */
  readonly later: readonly FileState[];
  /** The modes of the folders that it was in then, as {@link FileChange} has them. */
  readonly folderModes?: readonly number[] | undefined;
  /** Sequence of the first checkpoint that names it. */
  readonly firstNamedAt: number;
  /** Sequence of the last checkpoint that names it. */
  readonly lastNamedAt: number;
}

/** What is known of a touched file at the moment. */
export interface FileFacts {
  readonly present: PresentState;
  /** Why its wanted content cannot be had, or undefined. */
  readonly unavailable: string | undefined;
  /** Why its folder cannot be changed, or undefined. */
  readonly unwritable: string | undefined;
  /** Whose work it is, where it is there with another content (FORMAT.md, 6). */
  readonly change: ChangeVerdict | undefined;
  /** Whether it is as a rewind of ours left it, so that nobody wrote through a link which it put there. */
  readonly isAsLeft?: boolean | undefined;
}

/**
 * Lists the files that checkpoints name, each once, oldest checkpoint first; the first entry of a file wins.
 * @param resolve - The one name that a file has, whatever the checkpoint with this sequence calls it.
 */
export function touchedFiles(
  checkpoints: readonly OutlinedPayload[],
  resolve: (path: string, sequence: number) => string,
): readonly TouchedFile[] {
  const files = new Map<string, { -readonly [Key in keyof TouchedFile]: TouchedFile[Key] } & { later: FileState[] }>();
  for (const checkpoint of checkpoints) {
    for (const { path, state, folderModes } of decodeCheckpoint(checkpoint).files) {
      const { sequence } = checkpoint;
      const resolved = resolve(path, sequence);
      const known = files.get(resolved);
      if (known === undefined) {
        const named = { firstNamedAt: sequence, lastNamedAt: sequence };
        const modes = folderModes === undefined ? {} : { folderModes };
        files.set(resolved, { path, resolved, wanted: state, later: [], ...named, ...modes });
      } else {
        known.later.push(state);
        known.lastNamedAt = sequence;
      }
    }
  }
  return [...files.values()];
}

/**
 * Takes those as absent that could not be captured since a folder of theirs was a file, which the same checkpoint
 * captured.
 */
export function withNothingBelowFiles(files: readonly TouchedFile[]): readonly TouchedFile[] {
  const byPath = new Map(files.map((file) => [file.resolved, file]));
  const wasFile = (folder: string, sequence: number): boolean => {
    const found = byPath.get(folder);
    return found?.wanted.kind === 'stored' && found.firstNamedAt === sequence;
  };
  return files.map((file) => {
    if (file.wanted.kind !== 'skipped' || file.wanted.bytes > 0) return file;
    const isBelow = foldersAbove(file.resolved).some((folder) => wasFile(folder, file.firstNamedAt));
    return isBelow ? { ...file, wanted: { kind: 'absent', newDirs: 0 } } : file;
  });
}

/** Decides what is done about one file; where a folder is in its way, {@link settleShapes} has the last word. */
export function planFileChange(file: TouchedFile, facts: FileFacts): FileChange {
  const { path, resolved, wanted, folderModes } = file;
  const { present } = facts;
  const change = (action: FileAction, reason: string, forced?: 'restore' | 'delete'): FileChange => ({
    path,
    resolved,
    wanted,
    present,
    action,
    reason,
    ...(forced === undefined ? {} : { forced }),
    ...(folderModes === undefined ? {} : { folderModes }),
  });
  const obstacle = whyImpossible(wanted, facts);
  if (obstacle !== undefined) return change('impossible', obstacle);
  if (hasState(present, wanted))
    return change('leave', wanted.kind === 'absent' ? 'is not there, as then' : 'is as it was then');
  if (present.kind === 'folder') return change(wanted.kind === 'absent' ? 'leave' : 'restore', 'is a folder now');
  const action = wanted.kind === 'absent' ? 'delete' : 'restore';
  if (wanted.kind === 'stored' && present.kind === 'link' && facts.isAsLeft !== true) {
    // Nobody can tell whether a tool wrote through the link or put it there (FORMAT.md, 5, paths).
    return change('conflict', 'is a symbolic link now', action);
  }
  if (facts.change?.by === 'other') return change('conflict', facts.change.reason, action);
  return change(action, facts.change?.reason ?? whyChanged(present, wanted));
}

/**
 * Counts every folder that goes with a deleted file: one that the session made is empty only once the last file in it
 * is gone, whichever file it was made for (FORMAT.md, 5).
 */
export function withMadeFolders(files: readonly FileChange[]): readonly FileChange[] {
  const made = new Set<string>();
  for (const { resolved, wanted } of files) {
    if (wanted.kind === 'absent')
      for (const folder of foldersAbove(resolved).slice(0, wanted.newDirs)) made.add(folder);
  }
  const going = foldersThatGo(files);
  const isMade = (folder: string): boolean =>
    made.has(folder) || going.has(folder) || foldersAbove(folder).some((above) => going.has(above));
  return files.map((file) => {
    if (file.wanted.kind !== 'absent') return file;
    const above = foldersAbove(file.resolved);
    const stays = above.findIndex((folder) => !isMade(folder));
    return { ...file, wanted: { kind: 'absent', newDirs: stays < 0 ? above.length : stays } };
  });
}

/** What the log tells beside its events and checkpoints. */
interface LogFacts {
  readonly uncovered: readonly UncoveredWork[];
  readonly cut: CutCalls;
}

/** Puts the parts of a rewind together. */
export function planRewind(
  outline: LogOutline,
  target: number,
  keepTarget: boolean,
  files: readonly FileChange[],
  scope: RewindScope = {},
  { uncovered, cut }: LogFacts = nothingElse(target),
): RewindPlan {
  const { events, sessionId } = outline;
  const dropped = scope.part === 'files' ? [] : events.filter((event) => event.sequence > target);
  return {
    sessionId,
    head: events.at(-1)?.sequence ?? 0,
    target,
    targetEventId: events.find((event) => event.sequence === target)?.id ?? '',
    keepTarget,
    ...(scope.workspace === undefined ? {} : { workspace: scope.workspace }),
    dropped,
    files,
    uncovered,
    openCalls: cut.openCalls,
    wholeTargets: [cut.whole.before, cut.whole.after],
    complete: files.every(({ action }) => action !== 'impossible' && action !== 'conflict'),
  };
}

/** Gives the changes that a plan makes when it is carried out, conflicts forced or left alone. */
export function effectiveChanges(plan: RewindPlan, force: boolean): readonly FileChange[] {
  return plan.files.flatMap((file) => {
    if (file.action === 'restore' || file.action === 'delete') return [file];
    return force && file.action === 'conflict' && file.forced !== undefined ? [{ ...file, action: file.forced }] : [];
  });
}

/** Tells whether a plan changes nothing: then nothing is written when it is carried out. */
export function isNothingToDo(plan: RewindPlan, force: boolean): boolean {
  const { dropped, returned = [] } = plan;
  return dropped.length === 0 && returned.length === 0 && effectiveChanges(plan, force).length === 0;
}

function nothingElse(target: number): LogFacts {
  return { uncovered: [], cut: { openCalls: [], whole: { before: target, after: target } } };
}

function whyImpossible(wanted: FileState, { present, unavailable, unwritable }: FileFacts): string | undefined {
  if (present.kind === 'outside') return 'leads out of the workspace';
  if (present.kind === 'blocked') return 'cannot be reached: something that is no folder is in the way';
  if (wanted.kind === 'skipped') {
    return wanted.bytes > 0 ? `was not captured (${wanted.bytes} bytes)` : 'was not captured';
  }
  if (unavailable !== undefined) return unavailable;
  if (present.kind === 'unreadable') return `cannot be read (${present.reason})`;
  if (hasState(present, wanted)) return undefined;
  if (present.kind === 'folder' && present.holds === undefined) return 'is a folder now';
  if (present.kind === 'special') return 'is a special file now';
  return unwritable;
}

// Of what is there with another content the rule of changes tells more.
function whyChanged(present: PresentState, wanted: FileState): string {
  if (wanted.kind === 'absent') return 'was made later';
  if (present.kind === 'absent') return 'was deleted later';
  if (wanted.kind === 'link' || present.kind === 'link') return 'is something else now';
  return hasContent(present, wanted) ? 'has another mode now' : 'has other content now';
}
