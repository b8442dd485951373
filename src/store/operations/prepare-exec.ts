import { InvalidArgumentError, NothingToResumeError, NotResumableError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import { parseSessionId, trimSpace } from '../../model/ids.js';
import { isResumableKind, type SessionMetadata } from '../../model/metadata.js';
import { rehydrateEvents } from '../../plan/compaction/replay.js';
import type { PreparedExec } from '../../plan/exec-prompt.js';
import type { StoreDeps } from '../base/deps.js';
import { requireMetadata } from '../parts/metadata-file.js';
import { readAllEvents } from '../parts/read-session.js';
import { listSessions, tellOfTimesAhead } from '../queries/list-sessions.js';
import { orAsLogged } from '../queries/read-replay.js';
import { createSession } from './create-session.js';
import { forkSession } from './fork-session.js';

export interface PrepareExecOptions {
  readonly sessionId?: string | undefined;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly modelId?: string | undefined;
  readonly provider?: string | undefined;
  readonly tag?: string | undefined;
  readonly depth?: number | undefined;
  /** The session that starts the new one, which is then its child. */
  readonly callingSessionId?: string | undefined;
  readonly callingToolUseId?: string | undefined;
  readonly agentName?: string | undefined;
  readonly taskId?: string | undefined;
  /** The session to go on with; a blank one counts as not given, and not as the latest. */
  readonly resume?: string | undefined;
  readonly resumeLatest?: boolean | undefined;
  /** The session to go on from in a copy. */
  readonly fork?: string | undefined;
}

/** Finds, forks or makes the session for a run, with what a model should know of it. */
export async function prepareExec(deps: StoreDeps, options: PrepareExecOptions): Promise<PreparedExec> {
  const resume = trimSpace(options.resume ?? '');
  const fork = trimSpace(options.fork ?? '');
  const resumes = resume !== '' || options.resumeLatest === true;
  if (resumes && fork !== '') {
    throw new InvalidArgumentError('fork', 'A session is either resumed or forked', 'Give one of resume and fork.');
  }
  if (fork !== '') return forkFor(deps, fork, options);
  if (resumes) return resumed(deps, resume);
  return { mode: 'new', session: newSession(deps, options), contextEvents: [] };
}

function newSession(deps: StoreDeps, options: PrepareExecOptions): SessionMetadata {
  const { sessionId, title, cwd, modelId, provider, tag, depth } = options;
  const given = { sessionId, title, cwd, modelId, provider, tag, depth };
  const caller = trimSpace(options.callingSessionId ?? '');
  if (caller === '') return createSession(deps, given);
  const parent = requireMetadata(deps, parseSessionId(caller)).metadata;
  const id = trimSpace(sessionId ?? '') || deps.newId();
  return createSession(deps, {
    ...given,
    sessionId: id,
    sessionKind: 'child',
    parentSessionId: parent.sessionId,
    rootSessionId: parent.rootSessionId ?? parent.sessionId,
    agentName: options.agentName,
    taskId: trimSpace(options.taskId ?? '') || id,
    spawnedFromEventId: options.callingToolUseId,
  });
}

function resumed(deps: StoreDeps, resume: string): PreparedExec {
  const session = resume === '' ? latestResumable(deps) : requireMetadata(deps, parseSessionId(resume)).metadata;
  if (!isResumableKind(session.sessionKind)) {
    throw new NotResumableError(session.sessionId, session.sessionKind as string);
  }
  return { mode: 'resume', session, contextEvents: contextOf(deps, session.sessionId) };
}

function latestResumable(deps: StoreDeps): SessionMetadata {
  const latest = listSessions(deps).sessions.find((session) => isResumableKind(session.sessionKind));
  if (latest === undefined) throw new NothingToResumeError();
  tellOfTimesAhead(deps, [latest]);
  return latest;
}

async function forkFor(deps: StoreDeps, parentId: string, options: PrepareExecOptions): Promise<PreparedExec> {
  const { sessionId, title, cwd, modelId, provider } = options;
  // Before the fork: a log that cannot be read leaves no fork behind.
  const contextEvents = contextOf(deps, parentId);
  const session = await forkSession(deps, parentId, { sessionId, title, cwd, modelId, provider });
  return { mode: 'fork', session, contextEvents };
}

function contextOf(deps: StoreDeps, sessionId: string): readonly StoredEvent[] {
  const events = readAllEvents(deps, sessionId);
  return orAsLogged({ deps, sessionId: trimSpace(sessionId) }, () => rehydrateEvents(events)) ?? events;
}
