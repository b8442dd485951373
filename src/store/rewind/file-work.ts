import { posix } from 'node:path';
import { ZeroSessionsError } from '../../errors.js';
import type { StoredEvent } from '../../model/event.js';
import { type SessionId, sessionIdOfFolder } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import {
  type ChangeVerdict,
  evidenceOf,
  isIn,
  knownVerdict,
  whoChanged,
  whoChangedSinceRewind,
} from '../../plan/rewind/change-rule.js';
import { hasState, type PresentState } from '../../plan/rewind/file-change.js';
import { type LogWork, readWork, type WorkReading } from '../../plan/rewind/session-work.js';
import type { StoreDeps } from '../base/deps.js';
import { asStoreError } from '../base/system-errors.js';
import { readOpenSessions } from '../holding/live-sessions.js';
import { hashText } from '../parts/blob-store.js';
import { EventLog } from '../parts/event-log.js';
import { KeptRecords } from '../parts/kept-records.js';
import { pathsOf, readMetadata } from '../parts/metadata-file.js';
import type { FindPath } from '../workspace/checkpoint-paths.js';
import type { Workspace } from '../workspace/workspace.js';

/** Whose work on files is asked about, and where the files are. */
interface FileWorkSubject {
  readonly sessionId: SessionId;
  readonly log: EventLog;
  /** Checkpoints after it are what a rewind undoes. */
  readonly target: number;
  /** Recorded with the session; empty where none is. */
  readonly cwd: string;
  /** Undefined where there is none to look at: paths are then taken as they are written. */
  readonly files: { readonly workspace: Workspace; readonly find: FindPath } | undefined;
}

/** A sub-agent's session, and what its log tells. */
interface ChildWork {
  readonly sessionId: string;
  /** The event of the session that is asked about which started it, or the child that it is below of. */
  readonly sequence: number;
  readonly work: LogWork;
}

// Of what was captured after all that is named by then, nothing is known to have been gone.
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * The evidence of whose work files are: from the log of a session, the logs that rewinds kept, and those of sub-agents
 * (FORMAT.md, 6). The kept logs and those of sub-agents are read in full only for a content that is not known
 * otherwise: a kept log is as long as the log was. One that cannot be read tells nothing; the present one has to be
 * whole.
 */
export class FileWork {
  readonly #deps: StoreDeps;
  readonly #subject: FileWorkSubject;
  readonly #kept: readonly EventLog[];
  #present: LogWork | undefined;
  #keptEnds: readonly LogWork[] | undefined;
  #allWork: readonly LogWork[] | undefined;
  #childWork: readonly ChildWork[] | undefined;
  #openSessions: ReturnType<typeof readOpenSessions> | undefined;

  constructor(deps: StoreDeps, subject: FileWorkSubject) {
    this.#deps = deps;
    this.#subject = subject;
    const { sessionId } = subject;
    const records = new KeptRecords(deps, pathsOf(deps, sessionId));
    this.#kept = records
      .ids()
      .filter((record) => records.has(record))
      .map((record) => records.log(record, sessionId))
      .reverse();
  }

  /** Gives what the present log tells. */
  get present(): LogWork {
    this.#present ??= readWork(this.#subject.log.events(), this.#reading());
    return this.#present;
  }

  /** Gives what the logs of sub-agents tell that were started after the target, and those of theirs. */
  get children(): readonly ChildWork[] {
    this.#childWork ??= this.#readChildren([this.present]);
    return this.#childWork;
  }

  /** Tells whether what is at a path now, and would be replaced, is the session's own work or somebody else's. */
  verdict(path: string, present: PresentState & { readonly kind: 'file' | 'link' }): ChangeVerdict {
    const { sessionId } = this.#subject;
    const near = evidenceOf(sessionId, [this.present, ...this.#intentsKept()], path);
    return knownVerdict(present, near) ?? whoChanged(present, evidenceOf(sessionId, this.#all(), path));
  }

  /** Tells the same where a rewind of ours is the last that is known to have changed the path. */
  verdictSinceRewind(path: string, present: PresentState & { readonly kind: 'file' | 'link' }): ChangeVerdict {
    return whoChangedSinceRewind(present, evidenceOf(this.#subject.sessionId, this.#all(), path));
  }

  /** Gives what a log tells that a rewind kept; undefined where it cannot be read. */
  workOf(kept: EventLog): LogWork | undefined {
    return this.#readOther(kept.events(), this.#reading());
  }

  /**
   * Tells whether what is at a path now shows that the session worked there: by its content, or by when it was written.
   */
  isTrace(path: string, present: PresentState): boolean {
    if (present.kind !== 'file' && present.kind !== 'link') return false;
    const evidence = evidenceOf(this.#subject.sessionId, this.#all(), path);
    if (knownVerdict(present, evidence)?.by === 'session') return true;
    const { last } = evidence;
    if (last === undefined) return false;
    // Where nobody knows when the work began, any old file would do; and without an end, any new one.
    const { fromMs, toMs } = last.window;
    const began = Math.max(fromMs, last.atMs - TRACE_MS);
    return isIn({ fromMs: fromMs === Number.NEGATIVE_INFINITY ? began : fromMs, toMs }, present.mtimeMs);
  }

  /** Tells whether a sub-agent changed files that are not as they were before it, and that nobody restores. */
  leavesChanges({ work }: ChildWork, isPutBack: (path: string) => boolean): boolean {
    const { files } = this.#subject;
    return [...work.known].some(([path, states]) => {
      const before = states.find(({ by }) => by === 'checkpoint')?.state;
      if (before === undefined || isPutBack(path)) return false;
      if (files === undefined) return true;
      return !hasState(files.workspace.present(files.find(path, LAST)), before);
    });
  }

  #all(): readonly LogWork[] {
    if (this.#allWork === undefined) {
      const kept = this.#kept.flatMap((log) => this.#readOther(log.events(), this.#reading()) ?? []);
      const own = [this.present, ...kept];
      this.#allWork = [...own, ...this.#readChildren(own).map(({ work }) => work)];
    }
    return this.#allWork;
  }

  // A rewind announces itself at the end of the log that it keeps.
  #intentsKept(): readonly LogWork[] {
    this.#keptEnds ??= this.#kept.flatMap((log) => this.#readOther(lastEvent(log), this.#reading()) ?? []);
    return this.#keptEnds;
  }

  #readOther(events: Iterable<StoredEvent>, reading: WorkReading): LogWork | undefined {
    try {
      return readWork(events, reading);
    } catch (error) {
      if (asStoreError(error) instanceof ZeroSessionsError) return undefined;
      throw error;
    }
  }

  #reading(): WorkReading {
    const { sessionId, target, cwd, files } = this.#subject;
    const find = (path: string, sequence: number) => files?.find(relativeIn(cwd, path), sequence);
    return {
      sessionId,
      after: target,
      resolve: (path, sequence) => files?.find(path, sequence).resolved ?? path,
      locate: (path) => {
        if (files === undefined) return relativeIn(cwd, path);
        const found = find(path, LAST);
        return found?.where.kind === 'inside' ? found.resolved : undefined;
      },
      hashText,
      isOpen: this.#isOpen(sessionId),
    };
  }

  #isOpen(sessionId: string): boolean {
    this.#openSessions ??= readOpenSessions(this.#deps);
    return this.#openSessions.processesOf(sessionId).length > 0;
  }

  #readChildren(logs: readonly LogWork[]): readonly ChildWork[] {
    const { sessionId, target, cwd } = this.#subject;
    const found = new Map<string, ChildWork>();
    const read = (parent: LogWork, parentCwd: string, sequence: number | undefined): void => {
      for (const [child, startedAt] of parent.children) {
        if (child === sessionId || found.has(child) || (sequence === undefined && startedAt <= target)) continue;
        const metadata = this.#childMetadata(child, parent.sessionId);
        if (metadata === undefined) continue;
        const childCwd = metadata.cwd === undefined || metadata.cwd === '' ? parentCwd : metadata.cwd;
        const work = this.#readChild(metadata.sessionId, childCwd);
        if (work === undefined) continue;
        found.set(child, { sessionId: child, sequence: sequence ?? startedAt, work });
        read(work, childCwd, sequence ?? startedAt);
      }
    };
    for (const log of logs) read(log, cwd, undefined);
    return [...found.values()];
  }

  #childMetadata(child: string, parent: string): (SessionMetadata & { readonly sessionId: SessionId }) | undefined {
    const id = sessionIdOfFolder(child);
    if (id === undefined) return undefined;
    try {
      const metadata = readMetadata(this.#deps, id, pathsOf(this.#deps, id))?.metadata;
      if (metadata?.sessionKind !== 'child' || metadata.parentSessionId !== parent) return undefined;
      return { ...metadata, sessionId: id };
    } catch (error) {
      if (asStoreError(error) instanceof ZeroSessionsError) return undefined;
      throw error;
    }
  }

  #readChild(id: SessionId, childCwd: string): LogWork | undefined {
    const { files, cwd } = this.#subject;
    const log = new EventLog(this.#deps, id, pathsOf(this.#deps, id));
    const locate = (path: string): string | undefined => {
      const inWorkspace = relativeIn(cwd, childCwd === '' ? path : posix.resolve(childCwd, path));
      if (files === undefined) return inWorkspace;
      const { where, resolved } = files.find(inWorkspace, LAST);
      return where.kind === 'inside' ? resolved : undefined;
    };
    return this.#readOther(log.events(), {
      sessionId: id,
      after: 0,
      resolve: locate,
      locate,
      hashText,
      isOpen: this.#isOpen(id),
    });
  }
}

const TRACE_MS = 2_000;

// A project may have moved: what its tools called by the recorded folder is in the workspace.
function relativeIn(folder: string, path: string): string {
  if (!folder.startsWith('/') || !path.startsWith('/')) return path;
  const relative = posix.relative(folder, path);
  return relative === '' || relative === '..' || relative.startsWith('../') ? path : relative;
}

function* lastEvent(log: EventLog): Generator<StoredEvent> {
  for (const item of log.scanBackwards()) {
    if (item.kind === 'event') yield item.event;
    if (item.kind !== 'torn') return;
  }
}
