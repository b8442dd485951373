/** The public surface of the library, and the only file that re-exports. */
export {
  AmbiguousNameError,
  AnswerLostError,
  ConflictError,
  CycleError,
  DurabilityUnknownError,
  type ErrorCode,
  EventNotFoundError,
  FileNotFoundError,
  ForeignOwnerError,
  GoalExistsError,
  GoalNotFoundError,
  IncompleteError,
  InterruptedError,
  InterruptedRewindError,
  InvalidArgumentError,
  InvalidIdError,
  LockLostError,
  LockUnavailableError,
  LogDamagedError,
  LogMissingError,
  MetadataDamagedError,
  MetadataMissingError,
  NothingToResumeError,
  NotResumableError,
  NotYetError,
  PathRefusedError,
  PayloadDamagedError,
  PlanMismatchError,
  ProcMissingError,
  RewindNotFoundError,
  SelectorMismatchError,
  SequenceExhaustedError,
  SessionBusyError,
  SessionExistsError,
  SessionNotFoundError,
  StalePlanError,
  SummarizerFailedError,
  SystemError,
  UsageError,
  WorkspaceRefusedError,
  ZeroSessionsError,
} from './errors.js';
export { decodeCheckpoint } from './model/checkpoint-codec.js';
export {
  type CheckpointEntry,
  type CheckpointFile,
  type CheckpointPayload,
  EVENT_TYPES,
  type EventInput,
  type EventRef,
  type EventType,
  type EventView,
  type FileState,
  type KnownEventType,
  type LineDamage,
  RESTORE_TOOL,
  REWIND_INTENT_TOOL,
  type StoredEvent,
} from './model/event.js';
export { viewEvent } from './model/event-view.js';
export type { Goal, GoalStatus } from './model/goal.js';
export {
  type BlobHash,
  type EventId,
  parseSessionId,
  type Sequence,
  type SessionId,
  validSessionId,
} from './model/ids.js';
export { parseRawJson, type RawJson, rawJson, rawJsonText } from './model/json.js';
export type { RewindRecord } from './model/kept-record.js';
export { isResumableKind, type SessionKind, type SessionMetadata, type SpecStatus } from './model/metadata.js';
export type { RestoreReport } from './model/rewind-record.js';
export {
  type CompactionOptions,
  type CompactionPayload,
  type CompactionPlan,
  compactionPayloadFromPlan,
} from './plan/compaction.js';
export { type ExecMode, formatExecPrompt, formatShownContext, type PreparedExec } from './plan/exec-prompt.js';
export type { FileAction, FileChange, PresentState } from './plan/file-change.js';
export type { TreeNode } from './plan/lineage.js';
export { rehydrateEvents, replayEvents } from './plan/replay.js';
export type { RewindOutline, RewindPlan, RewindTargetOptions, UncoveredWork } from './plan/rewind.js';
export type { FilledPart, PartPrompt, SummaryPart } from './plan/summary-parts.js';
export type { CutCalls, OpenCall } from './plan/whole-positions.js';
export type { AppendBatchUnlessAny, AppendUnlessExists } from './store/append-events.js';
export type { RewindReport, RewindResult } from './store/apply-rewind.js';
export type { GoalResult } from './store/change-goal.js';
export type { ChildInput } from './store/create-child.js';
export type { CreateInput } from './store/create-session.js';
export type { LockHold, LockProvider, StoreWarning } from './store/deps.js';
export type { ForkInput } from './store/fork-session.js';
export { CHECKPOINTS_DIR, EVENTS_FILE, METADATA_FILE } from './store/layout.js';
export type { LeftOver } from './store/left-overs.js';
export type { SessionList, UnreadableSession } from './store/list-sessions.js';
export type { LiveSessions } from './store/live-sessions.js';
export { checkpointsEnabled, defaultRoot, openStore, type StoreOptions } from './store/open-store.js';
export type { SummaryOptions, SummaryPlan } from './store/plan-summary.js';
export type { PrepareExecOptions } from './store/prepare-exec.js';
export type { RewindOptions } from './store/preview-rewind.js';
export type { CheckpointSummary, FileAt, FileContent } from './store/read-checkpoints.js';
export type { RawLogLine, ReadOptions, ScannedLine } from './store/read-events.js';
export type { ExecContext } from './store/read-replay.js';
export type { EnsureSpecImplementationInput, RecordSpecInput, SessionAndEvent } from './store/record-spec.js';
export type { NamingOptions } from './store/resolve-session.js';
export type { SessionStore } from './store/session-store.js';
export type { ContinuedRewind, ContinueOptions, SettledRewind, SettleOptions } from './store/settle-rewind.js';
export type { UndoOptions } from './store/undo-rewind.js';
