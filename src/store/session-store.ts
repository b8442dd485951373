import type { CheckpointPayload, EventInput, StoredEvent } from '../model/event.js';
import { givenFunction, givenList, givenOptions, givenText, givenTexts } from '../model/given.js';
import type { GoalStatus } from '../model/goal.js';
import { parseSessionId, type SessionId, trimSpace } from '../model/ids.js';
import type { RewindRecord } from '../model/kept-record.js';
import { isResumableKind, type SessionMetadata } from '../model/metadata.js';
import type { RestoreReport } from '../model/rewind-record.js';
import type { CompactionOptions, CompactionPlan } from '../plan/compaction/compaction.js';
import { replayEvents } from '../plan/compaction/replay.js';
import type { PreparedExec } from '../plan/exec-prompt.js';
import type { TreeNode } from '../plan/lineage.js';
import { outlineRewind, type RewindOutline, type RewindPlan, type RewindTargetOptions } from '../plan/rewind/rewind.js';
import type { CutCalls } from '../plan/rewind/whole-positions.js';
import type { StoreDeps } from './base/deps.js';
import { eachOrStoreError, orStoreError, withStoreErrors } from './base/system-errors.js';
import { type LiveSessions, readLiveSessions } from './holding/live-sessions.js';
import {
  type AppendBatchUnlessAny,
  type AppendUnlessExists,
  anyEvent,
  appendEvents,
  appendEventsUnless,
  appendEventUnless,
  updateModel,
  updateTitle,
} from './operations/append-events.js';
import { captureToolCheckpoint, snapshotForCheckpoint } from './operations/capture-checkpoint.js';
import {
  addGoalUsage,
  clearGoal,
  createGoal,
  editGoal,
  type GoalResult,
  pauseGoalIfActive,
  reserveGoalContinuation,
  resetGoalContinuations,
  updateGoal,
} from './operations/change-goal.js';
import { type ChildInput, createChild } from './operations/create-child.js';
import { type CreateInput, createSession } from './operations/create-session.js';
import { type ForkInput, forkSession } from './operations/fork-session.js';
import { type PrepareExecOptions, prepareExec } from './operations/prepare-exec.js';
import { planSessionCompaction, recordCompaction } from './operations/record-compaction.js';
import {
  type EnsureSpecImplementationInput,
  ensureSpecImplementation,
  findSpecImplementation,
  type RecordSpecInput,
  recordSpec,
  type SessionAndEvent,
} from './operations/record-spec.js';
import { undoCompaction } from './operations/undo-compaction.js';
import { readCutCalls } from './parts/cut-turn.js';
import { requireMetadata } from './parts/metadata-file.js';
import { getSession, openLog, readAllEvents } from './parts/read-session.js';
import { findAllLeftOvers, findLeftOvers, type LeftOver } from './queries/left-overs.js';
import { listSessions, type SessionList, tellOfTimesAhead } from './queries/list-sessions.js';
import { planSessionSummary, type SummaryOptions, type SummaryPlan } from './queries/plan-summary.js';
import {
  type CheckpointSummary,
  type FileAt,
  type FileContent,
  filesAt,
  listCheckpoints,
  readFileAt,
} from './queries/read-checkpoints.js';
import {
  copyOfLog,
  describeLog,
  type LogFile,
  type RawLogLine,
  type ReadOptions,
  type ScannedLine,
  streamEvents,
  streamRawLines,
  streamScan,
} from './queries/read-events.js';
import { readChildren, readLineage, readTree } from './queries/read-lineage.js';
import { type ExecContext, readExecContext, streamReplay } from './queries/read-replay.js';
import { type NamingOptions, resolveSession } from './queries/resolve-session.js';
import { measureSession, type SessionSizes } from './queries/session-sizes.js';
import {
  applyRewind,
  previewRewind,
  type RewindReport,
  type RewindResult,
  restoreToSequence,
  rewind,
  truncateEvents,
} from './rewind/apply-rewind.js';
import type { RewindOptions } from './rewind/plan-from-disk.js';
import { rewindHistory } from './rewind/rewind-history.js';
import {
  abortRewind,
  type ContinuedRewind,
  type ContinueOptions,
  continueRewind,
  type SettledRewind,
  type SettleOptions,
} from './rewind/settle-rewind.js';
import { previewUndo, type UndoOptions, undoRewind } from './rewind/undo-rewind.js';
import { type NameInWorkspace, nameInWorkspace } from './workspace/name-in-workspace.js';
import { inWorkTreeOf } from './workspace/work-tree.js';

/**
 * The sessions under one root.
 *
 * Reading takes no lock, changes nothing and works on a read-only store. Writing takes the session's lock, Zero's
 * included, and first puts right what a crash left. Ids are trimmed and checked before a path is made of them: every
 * method that takes one can throw {@link InvalidIdError} (`INVALID_ID`), every one that needs the session
 * {@link SessionNotFoundError} (`SESSION_NOT_FOUND`), its metadata {@link MetadataMissingError} (`METADATA_MISSING`)
 * and {@link MetadataDamagedError} (`METADATA_DAMAGED`), its events {@link LogDamagedError} (`LOG_DAMAGED`), and every
 * one that writes {@link SessionBusyError} (`SESSION_BUSY`). What the system refuses is a {@link SystemError} (`SYSTEM`).
 */
export class SessionStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  /** The folder that holds the sessions; it need not exist yet. */
  get root(): string {
    return this.#deps.root;
  }

  /**
   * Makes a session with an empty log. Text is trimmed; without an id it gets a fresh ULID.
   * @throws `SESSION_EXISTS`, `INVALID_ARGUMENT` for a negative depth.
   * @see FORMAT.md, 4, create
   */
  create(input: CreateInput = {}): Promise<SessionMetadata> {
    return this.#run((deps) => createSession(deps, givenOptions(input, 'input')));
  }

  /**
   * Reads the metadata of a session, or null when there are none. The id is taken as it is: {@link resolve} finds a
   * session by a name, the beginning of an id, or `latest`.
   */
  get(sessionId: string): Promise<SessionMetadata | null> {
    return this.#run((deps) => getSession(deps, sessionId));
  }

  /** Reads the metadata of a session that has to be there. */
  require(sessionId: string): Promise<SessionMetadata> {
    return this.#run((deps) => requireMetadata(deps, parseSessionId(sessionId)).metadata);
  }

  /** Lists the sessions that can be read, newest activity first. {@link listWithFaults} has the damaged ones as well. */
  list(): Promise<readonly SessionMetadata[]> {
    return this.#run((deps) => listAndTell(deps).sessions);
  }

  /**
   * Lists the sessions that can be read, newest activity first, and beside them those that cannot, with the reason.
   * @see FORMAT.md, 4, list; FAULTS.md, 8, 24, 25
   */
  listWithFaults(): Promise<SessionList> {
    return this.#run(listAndTell);
  }

  /**
   * Finds the session that a name means: an id or its beginning, a title, `latest`, `here`, `parent:S` and the like. A
   * damaged session is found by its id.
   * @throws `INVALID_ARGUMENT` when the name is blank; `AMBIGUOUS_NAME`, with the candidates.
   * @see CLI.md, "Sessions are named"
   */
  resolve(name: string, options: NamingOptions = {}): Promise<SessionId> {
    return this.#run((deps) => resolveSession(deps, name, givenOptions(options, 'options')));
  }

  /** The session with the newest activity, or null. */
  async latest(): Promise<SessionMetadata | null> {
    return (await this.list())[0] ?? null;
  }

  /** Lists the sessions that can be resumed on their own, newest activity first. */
  async listResumable(): Promise<readonly SessionMetadata[]> {
    return (await this.list()).filter((session) => isResumableKind(session.sessionKind));
  }

  /** The resumable session with the newest activity, or null. */
  async latestResumable(): Promise<SessionMetadata | null> {
    return (await this.listResumable())[0] ?? null;
  }

  /**
   * Gives a session another title, trimmed. `updatedAt` stays: a new title is no activity.
   * @throws `INVALID_ARGUMENT` when it is blank.
   */
  async updateTitle(sessionId: string, title: string): Promise<SessionMetadata> {
    return (await this.#run((deps) => updateTitle(deps, sessionId, { title }))).session;
  }

  /** As {@link updateTitle}, if the session still has the expected title; `applied` tells whether the new one is in force. */
  updateTitleIfCurrent(
    sessionId: string,
    expected: string,
    title: string,
  ): Promise<{ readonly session: SessionMetadata; readonly applied: boolean }> {
    return this.#run((deps) => updateTitle(deps, sessionId, { title, expected: trimSpace(expected) }));
  }

  /** Gives a session another model, or none when it is blank; `updatedAt` stays. */
  updateModel(sessionId: string, modelId: string): Promise<SessionMetadata> {
    return this.#run((deps) => updateModel(deps, sessionId, modelId));
  }

  /** Appends one event. See {@link appendEvents}. */
  async appendEvent(sessionId: string, input: EventInput): Promise<StoredEvent> {
    const [event] = await this.appendEvents(sessionId, [input]);
    return event as StoredEvent;
  }

  /**
   * Appends a batch, all of it or nothing, in one write, synced. An empty batch touches nothing.
   * @throws `LOG_MISSING` when the log is gone although events were counted; `SEQUENCE_EXHAUSTED`
   * @see FORMAT.md, 3, "Appending"
   */
  appendEvents(sessionId: string, inputs: readonly EventInput[]): Promise<readonly StoredEvent[]> {
    return this.#run((deps) => appendEvents(deps, sessionId, givenInputs(inputs)));
  }

  /**
   * Appends an event unless the condition holds for the events that are there; the look and the append are one step.
   * @param exists - Sees all events, oldest first. Without it the event is always appended.
   */
  appendEventUnlessExists(
    sessionId: string,
    input: EventInput,
    exists?: (events: readonly StoredEvent[]) => boolean,
  ): Promise<AppendUnlessExists> {
    const unless = (events: Iterable<StoredEvent>) => exists?.([...events]) ?? false;
    return this.#run((deps) => appendEventUnless(deps, sessionId, { input: givenOptions(input, 'input'), unless }));
  }

  /** As {@link appendEventUnlessExists}, with a condition on single events: no log is held in memory. */
  appendEventUnlessAny(
    sessionId: string,
    input: EventInput,
    matches: (event: StoredEvent) => boolean,
  ): Promise<AppendUnlessExists> {
    return this.#run((deps) => {
      const given = givenOptions(input, 'input');
      return appendEventUnless(deps, sessionId, { input: given, unless: anyEvent(givenFunction(matches, 'matches')) });
    });
  }

  /** As {@link appendEventUnlessAny}, for a batch: all of it or nothing. */
  appendEventsUnlessAny(
    sessionId: string,
    inputs: readonly EventInput[],
    matches: (event: StoredEvent) => boolean,
  ): Promise<AppendBatchUnlessAny> {
    return this.#run((deps) => {
      const given = givenInputs(inputs);
      return appendEventsUnless(deps, sessionId, {
        inputs: given,
        unless: anyEvent(givenFunction(matches, 'matches')),
      });
    });
  }

  /** Reads all events, oldest first. For a long log use {@link events}. */
  readEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return this.#run((deps) => readAllEvents(deps, sessionId));
  }

  /**
   * Reads the events as a model should see them, compactions honoured. For a long log use {@link replayEvents}.
   * @throws `PAYLOAD_DAMAGED` when the last compaction is malformed.
   * @see FORMAT.md, 4, rehydrate
   */
  readRehydratedEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return this.#run((deps) => replayEvents(readAllEvents(deps, sessionId)));
  }

  /** The twin of {@link readRehydratedEvents}, under the other name that it has in Zero. */
  readReplayEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return this.readRehydratedEvents(sessionId);
  }

  /** The same as a stream: the log is read twice and never held. */
  replayEvents(sessionId: string, options: Pick<ReadOptions, 'signal'> = {}): AsyncIterable<StoredEvent> {
    return streamReplay(this.#deps, sessionId, options);
  }

  /**
   * Streams the events, forwards or backwards, from a position or to one. A torn tail is left out.
   * @throws `LOG_DAMAGED`, naming the line, at a malformed line; `PATH_REFUSED` when the log is no regular file.
   * @see FORMAT.md, 3, "Reading"
   */
  events(sessionId: string, options: ReadOptions = {}): AsyncIterable<StoredEvent> {
    return streamEvents(this.#deps, sessionId, options);
  }

  /** As {@link events}, with damaged lines reported among the events instead of ending the stream. */
  scanEvents(sessionId: string, options: ReadOptions = {}): AsyncIterable<ScannedLine> {
    return streamScan(this.#deps, sessionId, options);
  }

  /** Streams the lines of the log as they stand, blank ones left out, damaged and torn ones marked. */
  rawLines(sessionId: string, options: Pick<ReadOptions, 'signal'> = {}): AsyncIterable<RawLogLine> {
    return streamRawLines(this.#deps, sessionId, options);
  }

  /**
   * Makes a session that starts with the events of another, renumbered from 1, and with the blobs that they name. The
   * parent's files keep their bytes. A blob that is missing or altered is left out, with a warning.
   * @throws `SESSION_EXISTS`; `INVALID_ARGUMENT` for a kind that is no fork, or a point that is none; `EVENT_NOT_FOUND`
   *   when the event to end at is not in the log; `LOG_MISSING` when the log is gone although events were counted.
   * @see FORMAT.md, 4, fork; 5
   */
  fork(parentId: string, input: ForkInput = {}): Promise<SessionMetadata> {
    return this.#run((deps) => forkSession(deps, parentId, givenOptions(input, 'input')));
  }

  /** Tells which calls a cut behind an event leaves without their results, and where it would leave none. */
  cutCalls(sessionId: string, position: number): Promise<CutCalls> {
    return this.#run((deps) => readCutCalls(openLog(deps, sessionId), position));
  }

  /**
   * Makes a session of kind `child` and links it in its parent: the same event stands in both. The child appears first;
   * when the parent could not be linked, the same call again does that and nothing else.
   * @throws `SESSION_EXISTS`, `INVALID_ARGUMENT` for a negative depth.
   * @see FORMAT.md, 4, createChild; RELIABILITY.md, 2.2
   */
  createChild(parentId: string, input: ChildInput = {}): Promise<SessionMetadata> {
    return this.#run((deps) => createChild(deps, parentId, givenOptions(input, 'input')));
  }

  /** Lists the sessions of kind `child` that a session has, latest spawn first. */
  listChildren(parentId: string): Promise<readonly SessionMetadata[]> {
    return this.#run((deps) => readChildren(deps, parentId));
  }

  /**
   * Reads a session and its ancestors, the first ancestor first.
   * @throws `CYCLE`; for an ancestor as for the session itself when it is gone or damaged.
   */
  lineage(sessionId: string): Promise<readonly SessionMetadata[]> {
    return this.#run((deps) => readLineage(deps, sessionId));
  }

  /** Reads a session with its children of kind `child`, and theirs. */
  tree(rootId: string): Promise<TreeNode> {
    return this.#run((deps) => readTree(deps, rootId));
  }

  /**
   * Stores the files at these paths as they are, before a tool changes them, and appends a `session_checkpoint` event
   * that names them. What is outside, too large, special or unreadable is recorded as skipped; a folder is left out.
   * @returns The event, or null when checkpoints are off or nothing was left to record.
   * @throws `WORKSPACE_REFUSED`, `INVALID_ARGUMENT` for the workspace.
   * @see FORMAT.md, 4 and 5; FAULTS.md, 10, 16, 20
   */
  captureToolCheckpoint(
    sessionId: string,
    workspaceRoot: string,
    tool: string,
    paths: readonly string[],
  ): Promise<StoredEvent | null> {
    return this.#run((deps) =>
      captureToolCheckpoint(deps, sessionId, { workspaceRoot, tool, paths: givenTexts(paths, 'paths') }),
    );
  }

  /** As {@link captureToolCheckpoint} without the event, which the caller must append soon. `ok` is false for nothing. */
  snapshotForCheckpoint(
    sessionId: string,
    workspaceRoot: string,
    tool: string,
    paths: readonly string[],
  ): Promise<{ readonly ok: boolean; readonly payload: CheckpointPayload | null }> {
    return this.#run((deps) =>
      snapshotForCheckpoint(deps, sessionId, { workspaceRoot, tool, paths: givenTexts(paths, 'paths') }),
    );
  }

  /** Brings files back to what they were just after an event; the log and the metadata keep their bytes. */
  restoreToSequence(sessionId: string, workspaceRoot: string, targetSequence: number): Promise<RestoreReport> {
    return this.#run((deps) => restoreToSequence(deps, sessionId, { workspaceRoot, targetSequence }));
  }

  /** Drops the events after a sequence; they are kept for undo. */
  truncateEvents(sessionId: string, keepThroughSequence: number): Promise<void> {
    return this.#run((deps) => truncateEvents(deps, sessionId, keepThroughSequence));
  }

  /** Tells which events a rewind would keep and drop. Files: {@link previewRewind}. */
  planRewind(sessionId: string, options: RewindTargetOptions): Promise<RewindOutline> {
    return this.#run((deps) => outlineRewind(openLog(deps, sessionId).outline(0), givenOptions(options, 'options')));
  }

  /** Goes back to a sequence, log and files, all or nothing. */
  applyRewind(sessionId: string, workspaceRoot: string, targetSequence: number): Promise<RestoreReport> {
    return this.#run((deps) => applyRewind(deps, sessionId, { workspaceRoot, targetSequence }));
  }

  /** Tells what {@link rewind} would do, file by file, and does nothing. */
  previewRewind(sessionId: string, options: RewindOptions): Promise<RewindPlan> {
    return this.#run((deps) => previewRewind(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Goes back to a sequence as the options say; refuses what would be half or would overwrite. */
  rewind(sessionId: string, options: RewindOptions): Promise<RewindResult> {
    return this.#run((deps) => rewind(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Tells what {@link undoRewind} would do, and does nothing. */
  previewUndo(sessionId: string, options: UndoOptions = {}): Promise<RewindPlan> {
    return this.#run((deps) => previewUndo(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Undoes a rewind, a restore or an undo. */
  undoRewind(sessionId: string, options: UndoOptions = {}): Promise<RewindResult> {
    return this.#run((deps) => undoRewind(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Rolls back an interrupted rewind that something was written after. */
  abortRewind(sessionId: string, options: SettleOptions = {}): Promise<SettledRewind> {
    return this.#run((deps) => abortRewind(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Carries out an interrupted rewind after all, whole. */
  continueRewind(sessionId: string, options: ContinueOptions = {}): Promise<ContinuedRewind> {
    return this.#run((deps) => continueRewind(deps, sessionId, givenOptions(options, 'options')));
  }

  /** Lists the checkpoints of a session, oldest first. */
  listCheckpoints(sessionId: string): Promise<readonly CheckpointSummary[]> {
    return this.#run((deps) => listCheckpoints(deps, sessionId));
  }

  /**
   * Lists the files that checkpoints name, as they were just after the event with this sequence (0: before the first).
   * @param workspace - Absolute; else the recorded cwd, and where that is gone the paths are taken as recorded.
   * @throws `EVENT_NOT_FOUND` when the log has no such event.
   */
  filesAt(sessionId: string, sequence: number, workspace?: string): Promise<readonly FileAt[]> {
    return this.#run((deps) => filesAt(deps, sessionId, { sequence, workspace }));
  }

  /**
   * Reads what a file of {@link filesAt} held at that point: from its blob, verified, or the workspace if unchanged.
   * @throws `WORKSPACE_REFUSED` when the workspace is needed and is not there.
   */
  readFileAt(sessionId: string, file: FileAt, workspace?: string): Promise<FileContent> {
    return this.#run((deps) => readFileAt(deps, sessionId, { file, workspace }));
  }

  /** Lists what can be undone, newest first. */
  rewindHistory(sessionId: string): Promise<readonly RewindRecord[]> {
    return this.#run((deps) => rewindHistory(deps, sessionId));
  }

  /**
   * Tells which events a summary would stand for, with the prompt for it.
   * @throws `STALE_PLAN` when the session was rewound while it was read.
   * @see FORMAT.md, 4, planCompaction
   */
  planCompaction(sessionId: string, options: CompactionOptions = {}): Promise<CompactionPlan> {
    return this.#run((deps) => planSessionCompaction(deps, sessionId, givenOptions(options, 'options')));
  }

  /**
   * Plans a summary that sees all that it is to stand for, in parts. What is appended meanwhile is not covered.
   * @throws `STALE_PLAN` when the session was rewound while it was read.
   * @see CLI.md, compact
   */
  planSummary(sessionId: string, options: SummaryOptions = {}): Promise<SummaryPlan> {
    return this.#run((deps) => planSessionSummary(deps, sessionId, givenOptions(options, 'options')));
  }

  /**
   * Records a summary in place of the events of a plan.
   * @throws `INVALID_ARGUMENT` without a summary, or when the plan is empty or names no session; `PLAN_MISMATCH` when
   *   it is for another session; `STALE_PLAN` when its events are no longer in the log.
   * @see FORMAT.md, 4 and 5
   */
  recordCompaction(
    sessionId: string,
    input: { readonly plan: CompactionPlan; readonly summary: string },
  ): Promise<StoredEvent> {
    return this.#run((deps) => recordCompaction(deps, sessionId, givenOptions(input, 'input')));
  }

  /**
   * Takes the latest compaction out of the log: what it stood for is in force again. The log with it is kept, so that
   * this can be undone like a rewind.
   * @returns A report whose target is the last event that is left; no file is touched.
   * @throws `REWIND_NOT_FOUND` when the log has no compaction; `INTERRUPTED_REWIND` when a rewind is unfinished.
   * @see FORMAT.md, 6, the keep area; CLI.md, compact
   */
  undoCompaction(sessionId: string): Promise<RewindReport> {
    return this.#run((deps) => undoCompaction(deps, sessionId));
  }

  /**
   * Merges spec fields into the metadata and appends `spec_<status>` with the whole state.
   * @throws `INVALID_ARGUMENT` when the status is none of draft, approved, rejected.
   * @see FORMAT.md, 4, recordSpec; FAULTS.md, 44
   */
  recordSpec(sessionId: string, input: RecordSpecInput): Promise<SessionAndEvent> {
    return this.#run((deps) => recordSpec(deps, sessionId, givenOptions(input, 'input')));
  }

  /** Finds the session that implements a spec of a source session, of several the one with the newest activity; or null. */
  findSpecImplementation(specId: string, sourceSessionId: string): Promise<SessionMetadata | null> {
    return this.#run((deps) => findSpecImplementation(deps, specId, sourceSessionId));
  }

  /**
   * Finds the session that implements a spec, with its events; it is made on the first call, and a prompt is added once.
   * @throws `INVALID_ARGUMENT` without spec id, source or prompt, or for a session as its own source (FAULTS.md, 41).
   * @see FORMAT.md, 4, ensureSpecImplementation; RELIABILITY.md, 2.2
   */
  ensureSpecImplementation(
    input: EnsureSpecImplementationInput,
  ): Promise<{ readonly session: SessionMetadata; readonly events: readonly StoredEvent[] }> {
    return this.#run((deps) => ensureSpecImplementation(deps, givenOptions(input, 'input')));
  }

  /**
   * Finds, forks or makes the session for a run, with what a model should know of it: the events as logged, with a
   * warning, where the last compaction cannot be decoded.
   * @throws `INVALID_ARGUMENT` for resume and fork together; `NOT_RESUMABLE`, `NOTHING_TO_RESUME`, `SESSION_EXISTS`
   * @see FORMAT.md, 4, prepareExec
   */
  prepareExec(options: PrepareExecOptions = {}): Promise<PreparedExec> {
    return this.#run((deps) => prepareExec(deps, givenOptions(options, 'options')));
  }

  /**
   * The context that {@link prepareExec} gives, less the events that a prompt does not show: for a log of any length.
   * @see FORMAT.md, 4, prepareExec and formatExecPrompt
   */
  execContext(sessionId: string): Promise<ExecContext> {
    return this.#run((deps) => readExecContext(deps, sessionId));
  }

  /** Finds what in the store is no session and no part of one, as far as a listing sees it. */
  leftOvers(): Promise<readonly LeftOver[]> {
    return this.#run(findLeftOvers);
  }

  /** Finds that as well in the folders of all sessions. */
  allLeftOvers(): Promise<readonly LeftOver[]> {
    return this.#run(findAllLeftOvers);
  }

  /** Measures what a session takes on disk, in bytes; what is not there counts as nothing. */
  measure(sessionId: string): Promise<SessionSizes> {
    return this.#run((deps) => measureSession(deps, parseSessionId(sessionId)));
  }

  /** Tells where the log of a session is, how long it is, and whether its last line is cut short. */
  logFile(sessionId: string): Promise<LogFile> {
    return this.#run((deps) => describeLog(deps, sessionId));
  }

  /** Reads a log as it is stored, byte for byte, in pieces; what is appended meanwhile is left out. */
  rawLog(sessionId: string): Iterable<Uint8Array> {
    return eachOrStoreError(copyOfLog(this.#deps, sessionId));
  }

  /** Names a path from a folder, as written and with the links of its folders followed; undefined for one outside. */
  nameInFolder(folder: string, path: string): NameInWorkspace | undefined {
    return orStoreError(() => nameInWorkspace(this.#deps, givenText(folder, 'folder'), givenText(path, 'path')));
  }

  /** Makes a test of whether a folder lies in the git work tree of this one, or below it. */
  workTreeTest(folder: string, options: { readonly exact?: boolean } = {}): (other: string | undefined) => boolean {
    return orStoreError(() => inWorkTreeOf(this.#deps, givenText(folder, 'folder'), givenOptions(options, 'options')));
  }

  /** Tells which sessions other processes have open or locked right now; nothing is locked or created for it. */
  liveSessions(): Promise<LiveSessions> {
    return this.#run(readLiveSessions);
  }

  /** Whether checkpoints are captured. */
  checkpointsEnabled(): boolean {
    return this.#deps.checkpoints.enabled;
  }

  /** Gives a session a goal; a budget of 0 tokens is no limit. @throws `GOAL_EXISTS`, `INVALID_ARGUMENT` */
  createGoal(sessionId: string, objective: string, tokenBudget = 0): Promise<GoalResult> {
    return this.#run((deps) => createGoal(deps, sessionId, { objective, tokenBudget }));
  }

  /** Gives the goal of a session another objective and budget. @throws `GOAL_NOT_FOUND`, `INVALID_ARGUMENT` */
  editGoal(sessionId: string, objective: string, tokenBudget = 0): Promise<GoalResult> {
    return this.#run((deps) => editGoal(deps, sessionId, { objective, tokenBudget }));
  }

  /** Gives the goal of a session another status. @throws `GOAL_NOT_FOUND`, `INVALID_ARGUMENT` */
  updateGoal(sessionId: string, status: GoalStatus, reason = ''): Promise<GoalResult> {
    return this.#run((deps) => updateGoal(deps, sessionId, { status, reason }));
  }

  /** Takes the goal of a session away. @throws `GOAL_NOT_FOUND` */
  clearGoal(sessionId: string): Promise<GoalResult> {
    return this.#run((deps) => clearGoal(deps, sessionId));
  }

  /**
   * Adds tokens to what a goal has used; reaching the budget stops it. Without a goal nothing happens.
   * @throws `INVALID_ARGUMENT` for a number that is negative or no whole number.
   */
  addGoalUsage(sessionId: string, tokens: number): Promise<GoalResult> {
    return this.#run((deps) => addGoalUsage(deps, sessionId, tokens));
  }

  /** Pauses the goal of a session if it has one that is active. */
  pauseGoalIfActive(sessionId: string, reason: string): Promise<GoalResult> {
    return this.#run((deps) => pauseGoalIfActive(deps, sessionId, reason));
  }

  /** Counts one automatic continuation of an active goal; at the limit the goal is paused instead. */
  reserveGoalContinuation(sessionId: string): Promise<GoalResult & { readonly reserved: boolean }> {
    return this.#run((deps) => reserveGoalContinuation(deps, sessionId));
  }

  /** Starts the count of automatic continuations again, as input of the user does. */
  resetGoalContinuations(sessionId: string): Promise<SessionMetadata> {
    return this.#run((deps) => resetGoalContinuations(deps, sessionId));
  }

  #run<T>(work: (deps: StoreDeps) => T | Promise<T>): Promise<T> {
    return withStoreErrors(() => work(this.#deps));
  }
}

function listAndTell(deps: StoreDeps): SessionList {
  const list = listSessions(deps);
  tellOfTimesAhead(deps, list.sessions);
  return list;
}

function givenInputs(inputs: readonly EventInput[]): readonly EventInput[] {
  return givenList(inputs, 'inputs').map((input) => givenOptions(input, 'input'));
}
