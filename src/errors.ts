/**
 * Everything that can go wrong, one class per stable code.
 *
 * A message names the thing and what was found; the same facts are fields. `hint` says what to do next.
 * @see STYLE.md, 5
 */
export type ErrorCode =
  | 'INVALID_ID'
  | 'INVALID_ARGUMENT'
  | 'USAGE'
  | 'NOT_YET'
  | 'AMBIGUOUS_NAME'
  | 'SELECTOR_MISMATCH'
  | 'PLAN_MISMATCH'
  | 'SESSION_NOT_FOUND'
  | 'EVENT_NOT_FOUND'
  | 'FILE_NOT_FOUND'
  | 'REWIND_NOT_FOUND'
  | 'NOTHING_TO_RESUME'
  | 'NOT_RESUMABLE'
  | 'GOAL_NOT_FOUND'
  | 'SESSION_BUSY'
  | 'LOCK_LOST'
  | 'LOCK_UNAVAILABLE'
  | 'LOG_DAMAGED'
  | 'LOG_MISSING'
  | 'METADATA_DAMAGED'
  | 'METADATA_MISSING'
  | 'PAYLOAD_DAMAGED'
  | 'PATH_REFUSED'
  | 'CYCLE'
  | 'SEQUENCE_EXHAUSTED'
  | 'INCOMPLETE'
  | 'CONFLICT'
  | 'STALE_PLAN'
  | 'SESSION_EXISTS'
  | 'GOAL_EXISTS'
  | 'INTERRUPTED_REWIND'
  | 'WORKSPACE_REFUSED'
  | 'FOREIGN_OWNER'
  | 'DURABILITY_UNKNOWN'
  | 'SYSTEM'
  | 'PROC_MISSING'
  | 'ANSWER_LOST'
  | 'INTERRUPTED';

/** The parent of every error that this library throws on purpose; anything else is a bug. */
export abstract class ZeroSessionsError extends Error {
  /** For scripts: never changes its meaning. */
  abstract readonly code: ErrorCode;
  /** For people: what to do next. */
  abstract readonly hint: string;
}

/** A session id is not of the form that FORMAT.md, 1 gives. Code `INVALID_ID`. */
export class InvalidIdError extends ZeroSessionsError {
  override readonly name = 'InvalidIdError';
  readonly code = 'INVALID_ID';
  readonly hint: string;
  readonly id: string;
  constructor(id: string, reason = 'is not a session id') {
    super(`${quote(id)} ${reason}`);
    this.id = id;
    this.hint = 'An id is 1 to 128 letters, digits, - or _, and begins with a letter or a digit.';
  }
}

/** An argument is missing, blank, out of range, or does not go with the others. Code `INVALID_ARGUMENT`. */
export class InvalidArgumentError extends ZeroSessionsError {
  override readonly name = 'InvalidArgumentError';
  readonly code = 'INVALID_ARGUMENT';
  readonly hint: string;
  readonly argument: string;
  constructor(argument: string, message: string, hint = `Give another value for ${argument}.`, options?: ErrorOptions) {
    super(message, options);
    this.argument = argument;
    this.hint = hint;
  }
}

/** A name fits more than one session. Code `AMBIGUOUS_NAME`. */
export class AmbiguousNameError extends ZeroSessionsError {
  override readonly name = 'AmbiguousNameError';
  readonly code = 'AMBIGUOUS_NAME';
  readonly hint = 'Give more of the id, or the full id as id:ID.';
  readonly selector: string;
  readonly candidates: readonly string[];
  constructor(selector: string, candidates: readonly string[]) {
    super(`${quote(selector)} fits ${candidates.length} sessions: ${listed(candidates)}`);
    this.selector = selector;
    this.candidates = candidates;
  }
}

/** Two ways to name one event name different events. Code `SELECTOR_MISMATCH`. */
export class SelectorMismatchError extends ZeroSessionsError {
  override readonly name = 'SelectorMismatchError';
  readonly code = 'SELECTOR_MISMATCH';
  readonly hint = 'Name the event by its sequence or by its id, not by both.';
  constructor(sequence: number, eventId: string) {
    super(`Sequence ${sequence} and event id ${quote(eventId)} name different events`);
  }
}

/** A plan was made for another session. Code `PLAN_MISMATCH`. */
export class PlanMismatchError extends ZeroSessionsError {
  override readonly name = 'PlanMismatchError';
  readonly code = 'PLAN_MISMATCH';
  readonly hint = 'Make the plan anew for this session.';
  constructor(planned: string, given: string) {
    super(`The plan is for session ${quote(planned)}, not for ${quote(given)}`);
  }
}

/** No session has this id: neither metadata nor log. Code `SESSION_NOT_FOUND`. */
export class SessionNotFoundError extends ZeroSessionsError {
  override readonly name = 'SessionNotFoundError';
  readonly code = 'SESSION_NOT_FOUND';
  readonly hint: string;
  readonly id: string;
  readonly candidates: readonly string[];
  constructor(
    id: string,
    candidates: readonly string[] = [],
    options?: ErrorOptions & { readonly reason?: string | undefined },
  ) {
    super(`No session named ${quote(id)}${options?.reason === undefined ? '' : `: ${options.reason}`}`, options);
    this.id = id;
    this.candidates = candidates;
    this.hint =
      candidates.length > 0
        ? `Did you mean: ${listed(candidates)}?`
        : 'List the sessions with: zero-sessions list --all';
  }
}

/** The log has no such event. Code `EVENT_NOT_FOUND`. */
export class EventNotFoundError extends ZeroSessionsError {
  override readonly name = 'EventNotFoundError';
  readonly code = 'EVENT_NOT_FOUND';
  readonly hint: string;
  readonly position: string;
  readonly nearest: readonly number[];
  constructor(sessionId: string, position: string | number, nearest: readonly number[] = []) {
    super(`Session ${sessionId} has no event ${quote(String(position))}`);
    this.position = String(position);
    this.nearest = nearest;
    this.hint =
      nearest.length > 0
        ? `The nearest that exist: ${nearest.join(', ')}.`
        : `See the events with: zero-sessions show ${sessionId} --events`;
  }
}

/** A checkpoint has no such file, or a folder or file that was named is not there. Code `FILE_NOT_FOUND`. */
export class FileNotFoundError extends ZeroSessionsError {
  override readonly name = 'FileNotFoundError';
  readonly code = 'FILE_NOT_FOUND';
  readonly hint: string;
  readonly path: string;
  constructor(path: string, message = `No file ${quote(path)}`, hint = 'Check the path.') {
    super(message);
    this.path = path;
    this.hint = hint;
  }
}

/** No rewind has this id, or there is none to undo, to settle or to take a compaction back. Code `REWIND_NOT_FOUND`. */
export class RewindNotFoundError extends ZeroSessionsError {
  override readonly name = 'RewindNotFoundError';
  readonly code = 'REWIND_NOT_FOUND';
  readonly hint: string;
  /** @param nothing - What the session has none of, where no id is meant. */
  constructor(sessionId: string, rewindId: string | undefined, nothing = 'nothing to undo') {
    super(`Session ${sessionId} has ${rewindId === undefined ? nothing : `no rewind ${quote(rewindId)}`}`);
    this.hint = `See what can be undone with: zero-sessions rewind ${sessionId} --history`;
  }
}

/** There is no session that could be resumed. Code `NOTHING_TO_RESUME`. */
export class NothingToResumeError extends ZeroSessionsError {
  override readonly name = 'NothingToResumeError';
  readonly code = 'NOTHING_TO_RESUME';
  readonly hint = 'See all sessions with: zero-sessions list --all';
  constructor() {
    super('There is no session to resume');
  }
}

/** The session is of a kind that is not a conversation of its own. Code `NOT_RESUMABLE`. */
export class NotResumableError extends ZeroSessionsError {
  override readonly name = 'NotResumableError';
  readonly code = 'NOT_RESUMABLE';
  readonly hint: string;
  readonly id: string;
  constructor(id: string, kind: string) {
    super(`Session ${id} is of kind ${quote(kind)} and cannot be resumed`);
    this.id = id;
    this.hint = `Go on from a copy: zero-sessions fork ${id}`;
  }
}

/** The session has no goal. Code `GOAL_NOT_FOUND`. */
export class GoalNotFoundError extends ZeroSessionsError {
  override readonly name = 'GoalNotFoundError';
  readonly code = 'GOAL_NOT_FOUND';
  readonly hint = 'Create a goal first.';
  constructor(sessionId: string) {
    super(`Session ${sessionId} has no goal`);
  }
}

/** Somebody else is writing to the session, or it could not be found out in time. Code `SESSION_BUSY`. */
export class SessionBusyError extends ZeroSessionsError {
  override readonly name = 'SessionBusyError';
  readonly code = 'SESSION_BUSY';
  readonly hint = 'Try again in a moment, or wait longer with --lock-timeout.';
  readonly id: string;
  readonly owner: string | undefined;
  /** @param trouble - What kept it from being found out whether anybody holds it, where that is so. */
  constructor(
    id: string,
    owner: string | undefined,
    waitedMs: number,
    { trouble, ...options }: ErrorOptions & { readonly trouble?: string } = {},
  ) {
    const held = `is held by ${owner ?? 'another process'}`;
    const what = trouble === undefined ? held : `could not be locked, and nobody is known to hold it: ${trouble}`;
    super(`Session ${id} ${what}; gave up after ${waitedMs} ms`, options);
    this.id = id;
    this.owner = owner;
  }
}

/** The lock was taken away while the work went on. Code `LOCK_LOST`. */
export class LockLostError extends ZeroSessionsError {
  override readonly name = 'LockLostError';
  readonly code = 'LOCK_LOST';
  readonly hint = 'Nothing was committed after the lock was lost. Try again.';
  readonly path: string;
  constructor(path: string, options?: ErrorOptions) {
    super(`The lock ${path} was lost`, options);
    this.path = path;
  }
}

/** This platform or file system has no working flock. Code `LOCK_UNAVAILABLE`. */
export class LockUnavailableError extends ZeroSessionsError {
  override readonly name = 'LockUnavailableError';
  readonly code = 'LOCK_UNAVAILABLE';
  readonly hint: string;
  constructor(
    reason: string,
    {
      hint = 'Give --no-flock to work without it, when nothing else writes to this store.',
      ...options
    }: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super(`Files cannot be locked here as Zero locks them: ${reason}`, options);
    this.hint = hint;
  }
}

/** A line of the log is malformed. Code `LOG_DAMAGED`. */
export class LogDamagedError extends ZeroSessionsError {
  override readonly name = 'LogDamagedError';
  readonly code = 'LOG_DAMAGED';
  readonly hint: string;
  readonly sessionId: string;
  readonly path: string;
  /** 1-based; undefined when the line was met from the end of the file. */
  readonly line: number | undefined;
  readonly reason: string;
  constructor(sessionId: string, path: string, line: number | undefined, reason: string) {
    super(`Session ${sessionId}: ${path}${line === undefined ? ', last line' : `:${line}`}: ${reason}`);
    this.sessionId = sessionId;
    this.path = path;
    this.line = line;
    this.reason = reason;
    this.hint = `The other events can be read with: zero-sessions show ${sessionId} --events`;
  }
}

/** The log is gone although the metadata count events. Code `LOG_MISSING`. */
export class LogMissingError extends ZeroSessionsError {
  override readonly name = 'LogMissingError';
  readonly code = 'LOG_MISSING';
  readonly hint = 'Put events.jsonl back from a backup; nothing is written until then.';
  readonly sessionId: string;
  constructor(sessionId: string, path: string, eventCount: number | string) {
    super(`Session ${sessionId}: ${path} is missing, but its metadata count ${eventCount} events`);
    this.sessionId = sessionId;
  }
}

/** The metadata cannot be read, are missing beside a log, or name another session. Code `METADATA_DAMAGED`. */
export class MetadataDamagedError extends ZeroSessionsError {
  override readonly name = 'MetadataDamagedError';
  readonly code = 'METADATA_DAMAGED';
  readonly hint: string;
  readonly sessionId: string;
  readonly path: string;
  readonly reason: string;
  /** The session that they name in place of their own; undefined where they cannot be read at all. */
  readonly names: string | undefined;
  constructor(sessionId: string, path: string, reason: string, options: ErrorOptions & { names?: string } = {}) {
    super(`Session ${sessionId}: ${path}: ${reason}`, options);
    this.sessionId = sessionId;
    this.path = path;
    this.reason = reason;
    this.names = options.names;
    this.hint = `Its events can be read with: zero-sessions show ${sessionId} --events`;
  }
}

/** A log is there and its metadata are not: it can be read, nothing is written to it. Code `METADATA_MISSING`. */
export class MetadataMissingError extends ZeroSessionsError {
  override readonly name = 'MetadataMissingError';
  readonly code = 'METADATA_MISSING';
  readonly hint: string;
  readonly sessionId: string;
  readonly path: string;
  constructor(sessionId: string, path: string) {
    super(`Session ${sessionId}: ${path} is missing beside a log`);
    this.sessionId = sessionId;
    this.path = path;
    this.hint = `Its events can be read with: zero-sessions show ${sessionId} --events`;
  }
}

/** The payload of a checkpoint, compaction or rewind event cannot be decoded. Code `PAYLOAD_DAMAGED`. */
export class PayloadDamagedError extends ZeroSessionsError {
  override readonly name = 'PayloadDamagedError';
  readonly code = 'PAYLOAD_DAMAGED';
  readonly hint: string;
  readonly eventId: string;
  constructor(eventId: string, type: string, reason: string) {
    super(`Event ${eventId} (${type}): ${reason}`);
    this.eventId = eventId;
    this.hint = 'Nothing was changed.';
  }
}

/** A file of the store is a link, a folder or a special file where a regular one belongs. Code `PATH_REFUSED`. */
export class PathRefusedError extends ZeroSessionsError {
  override readonly name = 'PathRefusedError';
  readonly code = 'PATH_REFUSED';
  readonly hint = 'Put a regular file or folder in its place; links are never followed here.';
  readonly path: string;
  constructor(path: string, found: string, options?: ErrorOptions) {
    super(`${path} is ${found}, which is not read or written`, options);
    this.path = path;
  }
}

/** A session is its own ancestor. Code `CYCLE`. */
export class CycleError extends ZeroSessionsError {
  override readonly name = 'CycleError';
  readonly code = 'CYCLE';
  readonly hint = 'Correct parentSessionId in the metadata of one of them.';
  readonly path: readonly string[];
  constructor(path: readonly string[]) {
    super(`Sessions are each other's ancestors: ${listed(path)}`);
    this.path = path;
  }
}

/** The sequence numbers of a session are used up. Code `SEQUENCE_EXHAUSTED`. */
export class SequenceExhaustedError extends ZeroSessionsError {
  override readonly name = 'SequenceExhaustedError';
  readonly code = 'SEQUENCE_EXHAUSTED';
  readonly hint: string;
  /**
   * @param last - The highest sequence, as it is shown.
   * @param isInLog - Whether an event has it: then not even a copy can be made.
   */
  constructor(sessionId: string, last: string, isInLog: boolean) {
    super(`Session ${sessionId} has no sequence left after ${last}`);
    this.hint = isInLog
      ? `It can still be read: zero-sessions show ${sessionId}. Go on in a new one: zero-sessions create`
      : `Go on in a copy: zero-sessions fork ${sessionId}`;
  }
}

/** Some of it cannot be done, so nothing was. `plan` says what and why. Code `INCOMPLETE`. */
export class IncompleteError<Plan = unknown> extends ZeroSessionsError {
  override readonly name = 'IncompleteError';
  readonly code = 'INCOMPLETE';
  readonly hint: string;
  readonly plan: Plan;
  constructor(message: string, plan: Plan, hint = 'Nothing was changed. To do the rest, add --allow-partial.') {
    super(message);
    this.plan = plan;
    this.hint = hint;
  }
}

/** It would overwrite what somebody else changed, so nothing was done. Code `CONFLICT`. */
export class ConflictError<Plan = unknown> extends ZeroSessionsError {
  override readonly name = 'ConflictError';
  readonly code = 'CONFLICT';
  readonly hint = 'Nothing was changed. To overwrite (the present content is kept), add --force.';
  readonly plan: Plan;
  constructor(message: string, plan: Plan) {
    super(message);
    this.plan = plan;
  }
}

/** The log has moved on since the plan was made. Code `STALE_PLAN`. */
export class StalePlanError extends ZeroSessionsError {
  override readonly name = 'StalePlanError';
  readonly code = 'STALE_PLAN';
  readonly hint = 'Nothing was changed. Look at the session again and make a new plan.';
  readonly planned: number | undefined;
  readonly found: number | undefined;
  /** What would have been done, as far as it could be seen; undefined where no plan could be made. */
  readonly plan: unknown;
  constructor(
    message: string,
    facts: { planned?: number | undefined; found?: number | undefined; plan?: unknown } = {},
  ) {
    super(message);
    this.planned = facts.planned;
    this.found = facts.found;
    this.plan = facts.plan;
  }
}

/** The id is in use. Code `SESSION_EXISTS`. */
export class SessionExistsError extends ZeroSessionsError {
  override readonly name = 'SessionExistsError';
  readonly code = 'SESSION_EXISTS';
  readonly hint = 'Choose another id, or leave it out to get a fresh one.';
  readonly id: string;
  constructor(id: string, options?: ErrorOptions) {
    super(`Session ${id} exists already`, options);
    this.id = id;
  }
}

/** The session has a goal already. Code `GOAL_EXISTS`. */
export class GoalExistsError extends ZeroSessionsError {
  override readonly name = 'GoalExistsError';
  readonly code = 'GOAL_EXISTS';
  readonly hint = 'Edit or clear the goal that is there.';
  constructor(sessionId: string) {
    super(`Session ${sessionId} has a goal already`);
  }
}

/** A rewind was cut short, and nobody has settled it. Code `INTERRUPTED_REWIND`. */
export class InterruptedRewindError extends ZeroSessionsError {
  override readonly name = 'InterruptedRewindError';
  readonly code = 'INTERRUPTED_REWIND';
  readonly hint: string;
  readonly sessionId: string;
  readonly sequence: number;
  readonly paths: readonly string[];
  /** What would have been done, as far as it could be seen; undefined where no plan could be made. */
  readonly plan: unknown;
  constructor(interrupted: {
    readonly sessionId: string;
    readonly work: 'rewind' | 'undo' | 'restore';
    /** That of its intent. */
    readonly sequence: number;
    readonly reason: string;
    readonly madeHere: boolean;
    readonly paths?: readonly string[];
    readonly plan?: unknown;
  }) {
    const { sessionId, work, sequence, reason, madeHere, paths = [] } = interrupted;
    const files = paths.length > 0 ? ` (${listed(paths)})` : '';
    super(`Session ${sessionId}: the ${work} begun with event ${sequence} was interrupted, and ${reason}${files}`);
    this.sessionId = sessionId;
    this.sequence = sequence;
    this.paths = paths;
    this.plan = interrupted.plan;
    this.hint = howToSettle(sessionId, madeHere);
  }
}

/** The workspace is not one that files are restored into. Code `WORKSPACE_REFUSED`. */
export class WorkspaceRefusedError extends ZeroSessionsError {
  override readonly name = 'WorkspaceRefusedError';
  readonly code = 'WORKSPACE_REFUSED';
  readonly hint = 'Name the workspace with --workspace, or leave the files alone with --events-only.';
  readonly path: string;
  /** What is the matter with it: `is not there`. */
  readonly reason: string;
  /** What would have been done, as far as it could be seen; undefined where no plan could be made. */
  readonly plan: unknown;
  constructor(path: string, reason: string, plan?: unknown) {
    super(`Workspace ${quote(path)} ${reason}`);
    this.path = path;
    this.reason = reason;
    this.plan = plan;
  }
}

/** The store belongs to another user. Code `FOREIGN_OWNER`. */
export class ForeignOwnerError extends ZeroSessionsError {
  override readonly name = 'ForeignOwnerError';
  readonly code = 'FOREIGN_OWNER';
  readonly hint = 'Work as its owner, or add --as-owner to keep the owner of every file.';
  readonly path: string;
  constructor(path: string, owner: number) {
    super(`${path} belongs to user ${owner}`);
    this.path = path;
  }
}

/** The system could not say whether the bytes reached the disk. Code `DURABILITY_UNKNOWN`. */
export class DurabilityUnknownError extends ZeroSessionsError {
  override readonly name = 'DurabilityUnknownError';
  readonly code = 'DURABILITY_UNKNOWN';
  readonly hint = 'Check the disk. Read the session before trying again.';
  readonly path: string;
  constructor(path: string, options?: ErrorOptions) {
    super(`${path}: durability unknown, the write could not be synced${causeText(options)}`, options);
    this.path = path;
  }
}

/** What the system refused: permission, space, a limit. Code `SYSTEM`. */
export class SystemError extends ZeroSessionsError {
  override readonly name = 'SystemError';
  readonly code = 'SYSTEM';
  readonly hint = 'Nothing was lost. Mend the cause and try again.';
  readonly errno: string;
  readonly path: string | undefined;
  constructor(message: string, errno: string, path: string | undefined, options?: ErrorOptions) {
    super(message, options);
    this.errno = errno;
    this.path = path;
  }
}

/** The file system with which Linux shows open files is not there. Code `PROC_MISSING`. */
export class ProcMissingError extends ZeroSessionsError {
  override readonly name = 'ProcMissingError';
  readonly code = 'PROC_MISSING';
  readonly hint = 'Mount /proc (mount -t proc proc /proc), or work where it is.';
  constructor() {
    super('/proc is not there: without it no path of a workspace can be kept from leading elsewhere');
  }
}

/** The errno (`ENOENT`, …) of an error that the system raised, or undefined. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** For the `catch` of a promise: undefined for an error of the system, or for these of them; the rest is thrown on. */
export function ignoring(...errnos: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    const errno = errnoOf(error);
    if (errno === undefined || (errnos.length > 0 && !errnos.includes(errno))) throw error;
  };
}

/** How an interrupted rewind is settled; where it came with a copy, only the user knows which folder is meant. */
export function howToSettle(sessionId: string, madeHere: boolean): string {
  const command = `zero-sessions rewind ${sessionId}`;
  return madeHere
    ? `Nothing was forced. Take it back with: ${command} --abort (or carry it out with --continue)`
    : `No file was touched. Take it out of the log with: ${command} --abort (with --workspace <dir> its files go back as well, --continue --workspace <dir> carries it out)`;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function listed(items: readonly string[]): string {
  const shown = items.slice(0, 8).join(', ');
  return items.length > 8 ? `${shown} and ${items.length - 8} more` : shown;
}

function causeText(options: ErrorOptions | undefined): string {
  const errno = errnoOf(options?.cause);
  return errno === undefined ? '' : ` (${errno})`;
}
