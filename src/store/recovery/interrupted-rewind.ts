import { InterruptedRewindError, LogDamagedError, ZeroSessionsError } from '../../errors.js';
import { readFully } from '../../fs/jsonl.js';
import { REWIND_INTENT_TOOL } from '../../model/event.js';
import { parseSessionId } from '../../model/ids.js';
import { decodeIntent, type RewindIntent, workOf } from '../../model/rewind-record.js';
import type { StoreDeps } from '../base/deps.js';
import type { EventLog } from '../parts/event-log.js';
import { openWorkspaceToChange, readRecordedWorkspace } from '../workspace/open-workspace.js';
import type { Workspace } from '../workspace/workspace.js';

/** How far back from the end of a log an append looks for a rewind that nobody settled. */
const GLANCE_BYTES = 64 * 1024;
const INTENT_END = '"rewind":{"id":';
/** Why an intent is left alone that was not appended to the log in which it stands. */
const NOT_MADE_HERE =
  'it was not made here: this log is a copy, is from a backup, or was written by an earlier version';

/** An unfinished rewind of a session, as its log tells of it. */
export interface FoundIntent {
  readonly intent: RewindIntent;
  readonly sequence: number;
  /** The event before it; 0 when there is none. */
  readonly before: number;
  /** Whether nothing was written after it. */
  readonly isLast: boolean;
  /**
   * Whether it was appended to this very file. Else it came with a copy, from a backup or from an earlier version, and
   * the folder that it names is what a stranger says.
   */
  readonly madeHere: boolean;
}

/** Gives the unfinished rewind that a log tells of, wherever it stands. */
export function findIntent(log: EventLog): FoundIntent | undefined {
  let found: FoundIntent | undefined;
  let before = 0;
  for (const event of log.events()) {
    const intent = decodeIntent(event, log.sessionId);
    if (intent !== undefined) {
      found = { intent, sequence: event.sequence, before, isLast: true, madeHere: log.isFile(intent.log) };
    }
    // Not by its number, which Zero may have used for what came after.
    else if (found?.isLast) found = { ...found, isLast: false };
    before = event.sequence;
  }
  return found;
}

/**
 * Refuses to go on (`INTERRUPTED_REWIND`) where a log tells of an unfinished rewind (FORMAT.md, 6; RELIABILITY.md,
 * 3.3).
 */
export function refuseInterrupted(log: EventLog): void {
  const found = findIntent(log);
  if (found !== undefined) throw interruptedError(found);
}

/**
 * Finds the unfinished rewind near the end of a log; the whole log is read only if there seems to be one: appends ask.
 */
export function glanceForIntent(deps: StoreDeps, log: EventLog): FoundIntent | undefined {
  if (!endMentionsIntent(deps, log)) return undefined;
  try {
    return findIntent(log);
  } catch (error) {
    if (error instanceof LogDamagedError) return undefined; // the operation's to report
    throw error;
  }
}

/** Gives the error that an unfinished rewind is, for what has to wait until it is settled. */
export function interruptedError(
  found: FoundIntent,
  { reason = whyUnfinished(found), plan }: { readonly reason?: string; readonly plan?: unknown } = {},
): InterruptedRewindError {
  const { intent, sequence, madeHere } = found;
  const { sessionId } = intent;
  return new InterruptedRewindError({ sessionId, work: workOf(intent), sequence, reason, madeHere, plan });
}

/** Says what an unfinished rewind waits for, and where to go back to with any program. */
function whyUnfinished({ isLast, madeHere, before }: FoundIntent): string {
  const files = madeHere ? 'its files were not put back yet' : NOT_MADE_HERE;
  return `${isLast || !madeHere ? files : 'something was written after it'}; the last event before it is ${before}`;
}

/**
 * Opens the workspace of an intent, or says why none will do. Only an intent that was made here says itself where its
 * files are: what any other names is what a stranger says (FORMAT.md, 5).
 * @param named - The folder that somebody named for it; `WORKSPACE_REFUSED` when it will not do.
 */
export function openIntendedWorkspace(
  deps: StoreDeps,
  { intent, madeHere }: Pick<FoundIntent, 'intent' | 'madeHere'>,
  named?: string | undefined,
): Workspace | { readonly reason: string } {
  if (named !== undefined) return openWorkspaceToChange(deps, named);
  if (!madeHere) return { reason: NOT_MADE_HERE };
  try {
    return openWorkspaceToChange(
      deps,
      intent.workspace ?? readRecordedWorkspace(deps, parseSessionId(intent.sessionId)),
    );
  } catch (error) {
    if (error instanceof ZeroSessionsError) return { reason: `its workspace will not do: ${error.message}` };
    throw error;
  }
}

function endMentionsIntent({ fs }: StoreDeps, log: EventLog): boolean {
  const size = log.size();
  if (size === 0) return false;
  const fd = fs.openRead(log.path);
  try {
    const bytes = Buffer.alloc(Math.min(size, GLANCE_BYTES));
    readFully(fs, fd, bytes, size - bytes.length, bytes.length);
    // The one is where an intent begins, which can be long, the other where it ends.
    return bytes.includes(REWIND_INTENT_TOOL) || bytes.includes(INTENT_END);
  } finally {
    fs.close(fd);
  }
}
