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
 * {@link SessionNotFoundError} (`SESSION_NOT_FOUND`), every one that writes {@link SessionBusyError} (`SESSION_BUSY`).
 * What the system refuses is a {@link SystemError} (`SYSTEM`).
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

  /** Makes a session. See {@link createSession}. */
  create(input: CreateInput = {}): Promise<SessionMetadata> {
    return withStoreErrors(() => createSession(this.#deps, givenOptions(input, 'input')));
  }

  /**
   * Reads the metadata of a session, or null when there are none. The id is taken as it is: {@link resolve} finds a
   * session by a name, the beginning of an id, or `latest`.
   */
  get(sessionId: string): Promise<SessionMetadata | null> {
    return withStoreErrors(() => getSession(this.#deps, sessionId));
  }

  /**
   * Reads the metadata of a session that has to be there.
   * @throws {@link SessionNotFoundError} (`SESSION_NOT_FOUND`), {@link MetadataMissingError} (`METADATA_MISSING`),
   *   {@link MetadataDamagedError} (`METADATA_DAMAGED`)
   */
  require(sessionId: string): Promise<SessionMetadata> {
    return withStoreErrors(() => requireMetadata(this.#deps, parseSessionId(sessionId)).metadata);
  }

  /** Lists the sessions that can be read, newest activity first. It leaves damaged ones out: {@link listWithFaults} has both. */
  list(): Promise<readonly SessionMetadata[]> {
    return withStoreErrors(() => listAndTell(this.#deps).sessions);
  }

  /** Lists the sessions that can be read, newest activity first, and beside them those that cannot, with the reason. */
  listWithFaults(): Promise<SessionList> {
    return withStoreErrors(() => listAndTell(this.#deps));
  }

  /** Gives the id of the session that a name means: an id, a beginning of one, a title, `latest`, `parent:…` (CLI.md). */
  resolve(name: string, options: NamingOptions = {}): Promise<SessionId> {
    return withStoreErrors(() => resolveSession(this.#deps, name, givenOptions(options, 'options')));
  }

  /** Gives the session with the newest activity, or null. */
  async latest(): Promise<SessionMetadata | null> {
    return (await this.list())[0] ?? null;
  }

  /** Gives the sessions that can be resumed on their own, newest activity first. */
  async listResumable(): Promise<readonly SessionMetadata[]> {
    return (await this.list()).filter((session) => isResumableKind(session.sessionKind));
  }

  /** Gives the resumable session with the newest activity, or null. */
  async latestResumable(): Promise<SessionMetadata | null> {
    return (await this.listResumable())[0] ?? null;
  }

  /** Gives a session another title; `updatedAt` stays. */
  async updateTitle(sessionId: string, title: string): Promise<SessionMetadata> {
    return (await withStoreErrors(() => updateTitle(this.#deps, sessionId, { title }))).session;
  }

  /** Gives a session another title if it still has the expected one. */
  updateTitleIfCurrent(
    sessionId: string,
    expected: string,
    title: string,
  ): Promise<{ readonly session: SessionMetadata; readonly applied: boolean }> {
    return withStoreErrors(() => updateTitle(this.#deps, sessionId, { title, expected: trimSpace(expected) }));
  }

  /** Gives a session another model, or none; `updatedAt` stays. */
  updateModel(sessionId: string, modelId: string): Promise<SessionMetadata> {
    return withStoreErrors(() => updateModel(this.#deps, sessionId, modelId));
  }

  /** Appends one event. See {@link appendEvents}. */
  async appendEvent(sessionId: string, input: EventInput): Promise<StoredEvent> {
    const [event] = await this.appendEvents(sessionId, [input]);
    return event as StoredEvent;
  }

  /** Appends a batch: all of it or nothing, in one write, synced. */
  appendEvents(sessionId: string, inputs: readonly EventInput[]): Promise<readonly StoredEvent[]> {
    return withStoreErrors(() => appendEvents(this.#deps, sessionId, givenInputs(inputs)));
  }

  /** Appends an event unless the condition holds for the events that are there. */
  appendEventUnlessExists(
    sessionId: string,
    input: EventInput,
    exists?: (events: readonly StoredEvent[]) => boolean,
  ): Promise<AppendUnlessExists> {
    const unless = (events: Iterable<StoredEvent>) => exists?.([...events]) ?? false;
    return withStoreErrors(() =>
      appendEventUnless(this.#deps, sessionId, { input: givenOptions(input, 'input'), unless }),
    );
  }

  /** As {@link appendEventUnlessExists}, with a condition on single events: no log is held in memory. */
  appendEventUnlessAny(
    sessionId: string,
    input: EventInput,
    matches: (event: StoredEvent) => boolean,
  ): Promise<AppendUnlessExists> {
    return withStoreErrors(() =>
      appendEventUnless(this.#deps, sessionId, {
        input: givenOptions(input, 'input'),
        unless: anyEvent(givenFunction(matches, 'matches')),
      }),
    );
  }

  /** As {@link appendEventUnlessAny}, for a batch. */
  appendEventsUnlessAny(
    sessionId: string,
    inputs: readonly EventInput[],
    matches: (event: StoredEvent) => boolean,
  ): Promise<AppendBatchUnlessAny> {
    return withStoreErrors(() =>
      appendEventsUnless(this.#deps, sessionId, {
        inputs: givenInputs(inputs),
        unless: anyEvent(givenFunction(matches, 'matches')),
      }),
    );
  }

  /**
   * Reads all events, oldest first. For a long log use {@link events}.
   * @throws {@link LogDamagedError} (`LOG_DAMAGED`)
   */
  readEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return withStoreErrors(() => readAllEvents(this.#deps, sessionId));
  }

  /** Reads the events as a model should see them, compactions honoured. {@link readReplayEvents} is the same. */
  readRehydratedEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return withStoreErrors(() => replayEvents(readAllEvents(this.#deps, sessionId)));
  }

  /** The twin of {@link readRehydratedEvents}, under the other name that it has in Zero. */
  readReplayEvents(sessionId: string): Promise<readonly StoredEvent[]> {
    return this.readRehydratedEvents(sessionId);
  }

  /** The same as a stream: the log is read twice and never held. See {@link streamReplay}. */
  replayEvents(sessionId: string, options: Pick<ReadOptions, 'signal'> = {}): AsyncIterable<StoredEvent> {
    return streamReplay(this.#deps, sessionId, options);
  }

  /** Gives the events as a stream: forwards or backwards, from a position or to one. */
  events(sessionId: string, options: ReadOptions = {}): AsyncIterable<StoredEvent> {
    return streamEvents(this.#deps, sessionId, options);
  }

  /** Gives the events as a stream, with damaged lines reported among them. */
  scanEvents(sessionId: string, options: ReadOptions = {}): AsyncIterable<ScannedLine> {
    return streamScan(this.#deps, sessionId, options);
  }

  /** Gives the lines of the log as they stand. */
  rawLines(sessionId: string, options: Pick<ReadOptions, 'signal'> = {}): AsyncIterable<RawLogLine> {
    return streamRawLines(this.#deps, sessionId, options);
  }

  /** Makes a session that starts with the events of another. See {@link forkSession}. */
  fork(parentId: string, input: ForkInput = {}): Promise<SessionMetadata> {
    return withStoreErrors(() => forkSession(this.#deps, parentId, givenOptions(input, 'input')));
  }

  /** Tells which calls a cut behind an event leaves without their results, and where it would leave none. */
  cutCalls(sessionId: string, position: number): Promise<CutCalls> {
    return withStoreErrors(() => readCutCalls(openLog(this.#deps, sessionId), position));
  }

  /** Makes a child session and links it in its parent. See {@link createChild}. */
  createChild(parentId: string, input: ChildInput = {}): Promise<SessionMetadata> {
    return withStoreErrors(() => createChild(this.#deps, parentId, givenOptions(input, 'input')));
  }

  /** Gives the sessions of kind `child` that a session has, latest spawn first. */
  listChildren(parentId: string): Promise<readonly SessionMetadata[]> {
    return withStoreErrors(() => readChildren(this.#deps, parentId));
  }

  /** Gives a session and its ancestors, the first ancestor first. */
  lineage(sessionId: string): Promise<readonly SessionMetadata[]> {
    return withStoreErrors(() => readLineage(this.#deps, sessionId));
  }

  /** Gives a session with its children of kind `child`, and theirs. */
  tree(rootId: string): Promise<TreeNode> {
    return withStoreErrors(() => readTree(this.#deps, rootId));
  }

  /** Stores the files at these paths as they are, before a tool changes them, and records that as an event. */
  captureToolCheckpoint(
    sessionId: string,
    workspaceRoot: string,
    tool: string,
    paths: readonly string[],
  ): Promise<StoredEvent | null> {
    return withStoreErrors(() =>
      captureToolCheckpoint(this.#deps, sessionId, { workspaceRoot, tool, paths: givenTexts(paths, 'paths') }),
    );
  }

  /** As {@link captureToolCheckpoint} without the event, which the caller must append soon. */
  snapshotForCheckpoint(
    sessionId: string,
    workspaceRoot: string,
    tool: string,
    paths: readonly string[],
  ): Promise<{ readonly ok: boolean; readonly payload: CheckpointPayload | null }> {
    return withStoreErrors(() =>
      snapshotForCheckpoint(this.#deps, sessionId, { workspaceRoot, tool, paths: givenTexts(paths, 'paths') }),
    );
  }

  /** Brings files back to what they were just after an event; the log and the metadata keep their bytes. */
  restoreToSequence(sessionId: string, workspaceRoot: string, targetSequence: number): Promise<RestoreReport> {
    return withStoreErrors(() => restoreToSequence(this.#deps, sessionId, { workspaceRoot, targetSequence }));
  }

  /** Drops the events after a sequence; they are kept for undo. */
  truncateEvents(sessionId: string, keepThroughSequence: number): Promise<void> {
    return withStoreErrors(() => truncateEvents(this.#deps, sessionId, keepThroughSequence));
  }

  /** Tells which events a rewind would keep and drop. Files: {@link previewRewind}. */
  planRewind(sessionId: string, options: RewindTargetOptions): Promise<RewindOutline> {
    return withStoreErrors(() => {
      const log = openLog(this.#deps, sessionId);
      return outlineRewind(log.outline(0), givenOptions(options, 'options'));
    });
  }

  /** Goes back to a sequence, log and files, all or nothing. */
  applyRewind(sessionId: string, workspaceRoot: string, targetSequence: number): Promise<RestoreReport> {
    return withStoreErrors(() => applyRewind(this.#deps, sessionId, { workspaceRoot, targetSequence }));
  }

  /** Tells what {@link rewind} would do, file by file, and does nothing. */
  previewRewind(sessionId: string, options: RewindOptions): Promise<RewindPlan> {
    return withStoreErrors(() => previewRewind(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Goes back to a sequence as the options say; refuses what would be half or would overwrite. */
  rewind(sessionId: string, options: RewindOptions): Promise<RewindResult> {
    return withStoreErrors(() => rewind(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Tells what {@link undoRewind} would do, and does nothing. */
  previewUndo(sessionId: string, options: UndoOptions = {}): Promise<RewindPlan> {
    return withStoreErrors(() => previewUndo(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Undoes a rewind, a restore or an undo. */
  undoRewind(sessionId: string, options: UndoOptions = {}): Promise<RewindResult> {
    return withStoreErrors(() => undoRewind(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Takes back an interrupted rewind that something was written after. */
  abortRewind(sessionId: string, options: SettleOptions = {}): Promise<SettledRewind> {
    return withStoreErrors(() => abortRewind(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Carries out an interrupted rewind after all, whole. */
  continueRewind(sessionId: string, options: ContinueOptions = {}): Promise<ContinuedRewind> {
    return withStoreErrors(() => continueRewind(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Gives the checkpoints of a session, oldest first. */
  listCheckpoints(sessionId: string): Promise<readonly CheckpointSummary[]> {
    return withStoreErrors(() => listCheckpoints(this.#deps, sessionId));
  }

  /** Gives the files that checkpoints name, as they were just after an event. */
  filesAt(sessionId: string, sequence: number, workspace?: string): Promise<readonly FileAt[]> {
    return withStoreErrors(() => filesAt(this.#deps, sessionId, { sequence, workspace }));
  }

  /** Reads what a file held at the point that {@link filesAt} gave it for. */
  readFileAt(sessionId: string, file: FileAt, workspace?: string): Promise<FileContent> {
    return withStoreErrors(() => readFileAt(this.#deps, sessionId, { file, workspace }));
  }

  /** Gives what can be undone, newest first. */
  rewindHistory(sessionId: string): Promise<readonly RewindRecord[]> {
    return withStoreErrors(() => rewindHistory(this.#deps, sessionId));
  }

  /** Tells which events a summary would stand for, and gives the prompt for it. */
  planCompaction(sessionId: string, options: CompactionOptions = {}): Promise<CompactionPlan> {
    return withStoreErrors(() => planSessionCompaction(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Plans a summary that sees all that it is to stand for, in as many parts as it takes. */
  planSummary(sessionId: string, options: SummaryOptions = {}): Promise<SummaryPlan> {
    return withStoreErrors(() => planSessionSummary(this.#deps, sessionId, givenOptions(options, 'options')));
  }

  /** Records a summary in place of the events of a plan. */
  recordCompaction(
    sessionId: string,
    input: { readonly plan: CompactionPlan; readonly summary: string },
  ): Promise<StoredEvent> {
    return withStoreErrors(() => recordCompaction(this.#deps, sessionId, givenOptions(input, 'input')));
  }

  /** Takes the latest compaction out of the log; undone like a rewind. See {@link undoCompaction}. */
  undoCompaction(sessionId: string): Promise<RewindReport> {
    return withStoreErrors(() => undoCompaction(this.#deps, sessionId));
  }

  /** Merges spec fields into the metadata and records the status as an event. */
  recordSpec(sessionId: string, input: RecordSpecInput): Promise<SessionAndEvent> {
    return withStoreErrors(() => recordSpec(this.#deps, sessionId, givenOptions(input, 'input')));
  }

  /** Gives the session that implements a spec of a source session, or null. */
  findSpecImplementation(specId: string, sourceSessionId: string): Promise<SessionMetadata | null> {
    return withStoreErrors(() => findSpecImplementation(this.#deps, specId, sourceSessionId));
  }

  /** Gives the session that implements a spec, made on the first call. */
  ensureSpecImplementation(
    input: EnsureSpecImplementationInput,
  ): Promise<{ readonly session: SessionMetadata; readonly events: readonly StoredEvent[] }> {
    return withStoreErrors(() => ensureSpecImplementation(this.#deps, givenOptions(input, 'input')));
  }

  /** Finds, forks or makes the session for a run, and gives its context. */
  prepareExec(options: PrepareExecOptions = {}): Promise<PreparedExec> {
    return withStoreErrors(() => prepareExec(this.#deps, givenOptions(options, 'options')));
  }

  /**
   * Gives of the context that {@link prepareExec} gives what `formatShownContext` shows of it, for a log of any length.
   * See {@link readExecContext}.
   */
  execContext(sessionId: string): Promise<ExecContext> {
    return withStoreErrors(() => readExecContext(this.#deps, sessionId));
  }

  /** Finds what in the store is no session and no part of one, as far as a listing sees it. */
  leftOvers(): Promise<readonly LeftOver[]> {
    return withStoreErrors(() => findLeftOvers(this.#deps));
  }

  /** Finds that as well in the folders of all sessions. */
  allLeftOvers(): Promise<readonly LeftOver[]> {
    return withStoreErrors(() => findAllLeftOvers(this.#deps));
  }

  /** Measures what a session takes on disk, in bytes; what is not there counts as nothing. */
  measure(sessionId: string): Promise<SessionSizes> {
    return withStoreErrors(() => measureSession(this.#deps, parseSessionId(sessionId)));
  }

  /** Tells where the log of a session is, how long it is, and whether its last line is cut short. */
  logFile(sessionId: string): Promise<LogFile> {
    return withStoreErrors(() => describeLog(this.#deps, sessionId));
  }

  /** Reads a log as it is stored, byte for byte, in pieces; what is appended meanwhile is left out. */
  rawLog(sessionId: string): Iterable<Uint8Array> {
    return eachOrStoreError(copyOfLog(this.#deps, sessionId));
  }

  /**
   * Gives an absolute path as its name from a folder, as it is written and with the links of its folders followed;
   * undefined where it leads outside.
   */
  nameInFolder(folder: string, path: string): NameInWorkspace | undefined {
    return orStoreError(() => nameInWorkspace(this.#deps, givenText(folder, 'folder'), givenText(path, 'path')));
  }

  /** Gives a test of whether a folder lies in the git work tree of this one, or below it. */
  workTreeTest(folder: string, options: { readonly exact?: boolean } = {}): (other: string | undefined) => boolean {
    return orStoreError(() => inWorkTreeOf(this.#deps, givenText(folder, 'folder'), givenOptions(options, 'options')));
  }

  /** Tells which sessions other processes have open or locked right now. See {@link readLiveSessions}. */
  liveSessions(): Promise<LiveSessions> {
    return withStoreErrors(() => readLiveSessions(this.#deps));
  }

  /** Tells whether checkpoints are captured. */
  checkpointsEnabled(): boolean {
    return this.#deps.checkpoints.enabled;
  }

  /** Gives a session a goal; without a budget, or with 0, it has none. */
  createGoal(sessionId: string, objective: string, tokenBudget = 0): Promise<GoalResult> {
    return withStoreErrors(() => createGoal(this.#deps, sessionId, { objective, tokenBudget }));
  }

  /** Gives the goal of a session another objective and budget. */
  editGoal(sessionId: string, objective: string, tokenBudget = 0): Promise<GoalResult> {
    return withStoreErrors(() => editGoal(this.#deps, sessionId, { objective, tokenBudget }));
  }

  /** Gives the goal of a session another status. */
  updateGoal(sessionId: string, status: GoalStatus, reason = ''): Promise<GoalResult> {
    return withStoreErrors(() => updateGoal(this.#deps, sessionId, { status, reason }));
  }

  /** Takes the goal of a session away. */
  clearGoal(sessionId: string): Promise<GoalResult> {
    return withStoreErrors(() => clearGoal(this.#deps, sessionId));
  }

  /** Adds tokens to what a goal has used; reaching the budget stops it. */
  addGoalUsage(sessionId: string, tokens: number): Promise<GoalResult> {
    return withStoreErrors(() => addGoalUsage(this.#deps, sessionId, tokens));
  }

  /** Pauses the goal of a session if it has one that is active. */
  pauseGoalIfActive(sessionId: string, reason: string): Promise<GoalResult> {
    return withStoreErrors(() => pauseGoalIfActive(this.#deps, sessionId, reason));
  }

  /** Counts one automatic continuation; at the limit the goal is paused instead. */
  reserveGoalContinuation(sessionId: string): Promise<GoalResult & { readonly reserved: boolean }> {
    return withStoreErrors(() => reserveGoalContinuation(this.#deps, sessionId));
  }

  /** Starts the count of automatic continuations again. */
  resetGoalContinuations(sessionId: string): Promise<SessionMetadata> {
    return withStoreErrors(() => resetGoalContinuations(this.#deps, sessionId));
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
