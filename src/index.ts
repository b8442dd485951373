/** The public surface of the library, and the only file that re-exports. */
export {
  AmbiguousNameError,
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
  SystemError,
  WorkspaceRefusedError,
  ZeroSessionsError,
} from './errors.js';
export type { FileKind, FileStat, FileSystem, FolderEntry, FolderHandle } from './fs/file-system.js';
export type { WhyFixed } from './fs/fixed-entry.js';
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
export {
  type ExactIntegers,
  isResumableKind,
  type SessionKind,
  type SessionMetadata,
  type SpecStatus,
} from './model/metadata.js';
export type { RestoreReport } from './model/rewind-record.js';
export {
  type CompactionOptions,
  type CompactionPayload,
  type CompactionPlan,
  compactionPayloadFromPlan,
} from './plan/compaction/compaction.js';
export { rehydrateEvents, replayEvents } from './plan/compaction/replay.js';
export type { FilledPart, PartPrompt, SummaryPart } from './plan/compaction/summary-parts.js';
export { type ExecMode, formatExecPrompt, type PreparedExec } from './plan/exec-prompt.js';
export type { TreeNode } from './plan/lineage.js';
export type { Position } from './plan/position.js';
export type { FileAction, FileChange, PresentState } from './plan/rewind/file-change.js';
export type { RewindOutline, RewindPlan, RewindTargetOptions, UncoveredWork } from './plan/rewind/rewind.js';
export type { CutCalls, OpenCall } from './plan/rewind/whole-positions.js';
export type { LockHold, LockProvider, StoreWarning } from './store/base/deps.js';
export { CHECKPOINTS_DIR, EVENTS_FILE, METADATA_FILE } from './store/base/layout.js';
export type { LiveSessions, OpenSessions } from './store/holding/live-sessions.js';
export { checkpointsEnabled, defaultRoot, openStore, type StoreOptions } from './store/open-store.js';
export type { AppendBatchUnlessAny, AppendUnlessExists } from './store/operations/append-events.js';
export type { GoalResult } from './store/operations/change-goal.js';
export type { ChildInput } from './store/operations/create-child.js';
export type { CreateInput } from './store/operations/create-session.js';
export type { ForkInput } from './store/operations/fork-session.js';
export type { PrepareExecOptions } from './store/operations/prepare-exec.js';
export type {
  EnsureSpecImplementationInput,
  RecordSpecInput,
  SessionAndEvent,
} from './store/operations/record-spec.js';
export type { LeftOver } from './store/queries/left-overs.js';
export type { SessionList, UnreadableSession } from './store/queries/list-sessions.js';
export type { SummaryOptions, SummaryPlan } from './store/queries/plan-summary.js';
export type { CheckpointSummary, FileAt, FileContent } from './store/queries/read-checkpoints.js';
export type { LogFile, RawLogLine, ReadOptions, ScannedLine } from './store/queries/read-events.js';
export type { ExecContext } from './store/queries/read-replay.js';
export type { NamingOptions } from './store/queries/resolve-session.js';
export type { SessionSizes } from './store/queries/session-sizes.js';
export type { RewindReport, RewindResult } from './store/rewind/apply-rewind.js';
export type { RewindOptions } from './store/rewind/plan-from-disk.js';
export type {
  ContinuedRewind,
  ContinueOptions,
  RewindWork,
  SettledRewind,
  SettleOptions,
  SkippedFile,
} from './store/rewind/settle-rewind.js';
export type { UndoOptions } from './store/rewind/undo-rewind.js';
export type { SessionStore } from './store/session-store.js';
export type { NameInWorkspace } from './store/workspace/name-in-workspace.js';
