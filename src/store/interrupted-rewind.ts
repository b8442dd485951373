import { InterruptedRewindError, LogDamagedError, ZeroSessionsError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import { readFully } from '../fs/jsonl.js';
import { REWIND_INTENT_TOOL } from '../model/event.js';
import { parseSessionId } from '../model/ids.js';
import { decodeIntent, type RewindIntent } from '../model/rewind-record.js';
import type { StoreDeps } from './deps.js';
import type { EventLog } from './event-log.js';
import { pathsOf, readMetadata } from './metadata-file.js';
import { openWorkspaceToChange, relatedFolders } from './workspace.js';

/** How far back from the end of a log an append looks for a rewind that nobody settled. */
const GLANCE_BYTES = 64 * 1024;
const INTENT_END = '"rewind":{"id":';

/** An unfinished rewind of a session, as its log tells of it. */
export interface FoundIntent {
  readonly intent: RewindIntent;
  readonly sequence: number;
  /** The event before it; 0 when there is none. */
  readonly before: number;
  /** Whether nothing was written after it. */
  readonly isLast: boolean;
}

/** Gives the unfinished rewind that a log tells of, wherever it stands. */
export function findIntent(log: EventLog): FoundIntent | undefined {
  let found: FoundIntent | undefined;
  let before = 0;
  for (const event of log.events()) {
    const intent = decodeIntent(event, log.sessionId);
    if (intent !== undefined) found = { intent, sequence: event.sequence, before, isLast: true };
    // Not by its number, which Zero may have used for what came after.
    else if (found?.isLast) found = { ...found, isLast: false };
    before = event.sequence;
  }
  return found;
}

/**
 * Refuses to go on where a log tells of an unfinished rewind.
 * @throws InterruptedRewindError (`INTERRUPTED_REWIND`)
 * @see FORMAT.md, 6; RELIABILITY.md, 3.3
 */
export function refuseInterrupted(log: EventLog): void {
  const found = findIntent(log);
  if (found !== undefined) throw new InterruptedRewindError(log.sessionId, found.sequence, whyUnfinished(found));
}

/**
 * Gives the unfinished rewind near the end of a log that something was written after, without reading the whole log
 * unless there seems to be one: every append asks.
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

/** Says what an unfinished rewind waits for, and where to go back to with any program. */
export function whyUnfinished({ isLast, before }: Pick<FoundIntent, 'isLast' | 'before'>): string {
  const what = isLast ? 'its files were not put back yet' : 'something was written after it';
  return `${what}; the last event before it is ${before}`;
}

/**
 * Opens the workspace of an intent, which is written to unasked: it must be one that a rewind would write to.
 * @param anywhere - Whether somebody asked for it, so that it need not be the session's own.
 * @returns the reason where it will not do.
 */
export function openIntendedWorkspace(
  deps: StoreDeps,
  intent: RewindIntent,
  anywhere: boolean,
): ConfinedRoot | { readonly reason: string } {
  const cwd = recordedCwd(deps, intent.sessionId);
  const path = intent.workspace ?? cwd;
  try {
    const workspace = openWorkspaceToChange(deps, path);
    const cwdIsThere = cwd.startsWith('/') && deps.fs.stat(cwd)?.kind === 'directory';
    if (anywhere || !cwdIsThere || relatedFolders(deps, cwd, workspace.real)) return workspace;
    return { reason: `its workspace ${path} is not the session's own` };
  } catch (error) {
    if (error instanceof ZeroSessionsError) return { reason: `its workspace will not do: ${error.message}` };
    throw error;
  }
}

function recordedCwd(deps: StoreDeps, sessionId: string): string {
  try {
    const id = parseSessionId(sessionId);
    return readMetadata(deps, id, pathsOf(deps, id))?.metadata.cwd ?? '';
  } catch (error) {
    if (error instanceof ZeroSessionsError) return ''; // damage is the operation's to report
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
