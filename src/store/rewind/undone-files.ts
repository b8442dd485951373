import { WorkspaceRefusedError } from '../../errors.js';
import type { SessionId } from '../../model/ids.js';
import { mayLoseContent } from '../../plan/rewind/change-rule.js';
import { isInState } from '../../plan/rewind/changed-shape.js';
import { type FileChange, hasContent, type PresentState } from '../../plan/rewind/file-change.js';
import type { FileFacts, TouchedFile, UncoveredWork } from '../../plan/rewind/rewind.js';
import type { LogWork } from '../../plan/rewind/session-work.js';
import { uncoveredWork } from '../../plan/rewind/uncovered.js';
import { type LeftState, leftStates, type WorkSince } from '../../plan/rewind/undo.js';
import type { StoreDeps } from '../base/deps.js';
import type { SessionPaths } from '../base/layout.js';
import { BlobStore } from '../parts/blob-store.js';
import type { EventLog } from '../parts/event-log.js';
import { noTraceIn, openWorkspaceOfUndo, readRecordedWorkspace, refuseEmpty } from '../workspace/open-workspace.js';
import type { Workspace } from '../workspace/workspace.js';
import { FileWork } from './file-work.js';
import { type Refusal, workspaceRefusal } from './planned-rewind.js';
import { TouchedFiles } from './touched-files.js';

/** What is undone, and where it is read. */
interface UndoSubject {
  readonly deps: StoreDeps;
  readonly sessionId: SessionId;
  readonly paths: SessionPaths;
  readonly log: EventLog;
  /** The logs of the records that were kept after the one that is undone. */
  readonly keptLater: readonly EventLog[];
  readonly since: WorkSince;
}

/** What an undo does to files, and what it leaves. */
interface UndoneFiles {
  /** None where no file is concerned. */
  readonly workspace: Workspace | undefined;
  readonly files: readonly FileChange[];
  readonly uncovered: readonly UncoveredWork[];
  /** Set where files are concerned and the workspace will not do. */
  readonly refusal?: Refusal;
}

/** Where an undo may bring files back. */
interface WhereTo {
  readonly workspace?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Plans how files go back to what they were before a rewind: what it did to them, and all that the session did since.
 */
export function planUndoneFiles(subject: UndoSubject, options: WhereTo): UndoneFiles {
  const { deps, sessionId, log, since } = subject;
  const { target } = since;
  if (since.work.length === 0) {
    const cwd = readRecordedWorkspace(deps, sessionId);
    const work = new FileWork(deps, { sessionId, log, target, cwd, files: undefined });
    return { workspace: undefined, files: [], uncovered: uncovered(work, subject, () => undefined) };
  }
  try {
    return planInWorkspace(subject, options);
  } catch (error) {
    if (!(error instanceof WorkspaceRefusedError)) throw error;
    return { workspace: undefined, files: [], uncovered: [], refusal: workspaceRefusal(error) };
  }
}

function planInWorkspace(subject: UndoSubject, options: WhereTo): UndoneFiles {
  const { deps, sessionId, log, since } = subject;
  const { target } = since;
  const cwd = readRecordedWorkspace(deps, sessionId);
  const keptIn = since.work.flatMap(({ intent }) => (intent === undefined ? [] : [intent.workspace]));
  const { workspace, isOwn } = openWorkspaceOfUndo(deps, { recorded: cwd, keptIn }, options);
  const checkpoints = since.work.map(({ event }) => event);
  const files = new TouchedFiles(workspace, checkpoints, new BlobStore(deps, subject.paths));
  const { all, find } = files;
  const work = new FileWork(deps, { sessionId, log, target, cwd, files: { workspace, find } });
  const left = new FilesLeft(
    work,
    leftStates(since, (path, sequence) => find(path, sequence).resolved),
  );
  if (!isOwn && !all.some((file) => left.isTrace(file, files.present(file)))) throw noTraceIn(workspace, sessionId);
  const changes = files.plan(all, (file, present) => left.whose(file, present));
  // A rewind that left nothing in it is no volume that is not mounted.
  if (options.workspace === undefined && !all.every((file) => left.isAbsent(file))) {
    refuseEmpty(deps, workspace, changes);
  }
  const firstNamed = new Map(all.map((file) => [file.resolved, file.firstNamedAt]));
  return { workspace, files: changes, uncovered: uncovered(work, subject, (path) => firstNamed.get(path)) };
}

/** What rewinds left of files, against what is there now. */
class FilesLeft {
  readonly #work: FileWork;
  readonly #leftAt: (path: string) => LeftState;

  constructor(work: FileWork, leftAt: (path: string) => LeftState) {
    this.#work = work;
    this.#leftAt = leftAt;
  }

  /** Tells whether what is at a path now shows that the session, or a rewind of it, worked there. */
  isTrace({ resolved, wanted }: TouchedFile, present: PresentState): boolean {
    if (present.kind !== 'file' && present.kind !== 'link') return false;
    const { all } = this.#leftAt(resolved);
    return [wanted, ...all].some((state) => hasContent(present, state)) || this.#work.isTrace(resolved, present);
  }

  isAbsent({ resolved }: TouchedFile): boolean {
    const { last, isToolsSince } = this.#leftAt(resolved);
    return last?.kind === 'absent' && !isToolsSince;
  }

  /** What a rewind of ours left is known exactly; what a tool made of it since is judged as in a rewind. */
  whose({ resolved, wanted }: TouchedFile, present: PresentState): Pick<FileFacts, 'change' | 'isAsLeft'> {
    if (!mayLoseContent(present, wanted)) return { change: undefined };
    const { last, all, isToolsSince } = this.#leftAt(resolved);
    if (all.some((state) => hasContent(present, state) || isInState(present, state, true))) {
      return { change: { by: 'session', row: 2, reason: 'was changed by the rewind' }, isAsLeft: true };
    }
    const isRewindLast = last !== undefined && !isToolsSince;
    return {
      change: isRewindLast ? this.#work.verdictSinceRewind(resolved, present) : this.#work.verdict(resolved, present),
    };
  }
}

function uncovered(
  work: FileWork,
  { keptLater, since }: UndoSubject,
  firstCheckpointOf: (path: string) => number | undefined,
): readonly UncoveredWork[] {
  const logs = [...keptLater.flatMap((log) => work.workOf(log) ?? []), work.present];
  const children = work.children.filter((child) =>
    work.leavesChanges(child, (path) => firstCheckpointOf(path) !== undefined),
  );
  const all = logs.flatMap((log: LogWork, at) =>
    uncoveredWork(log, since.target, firstCheckpointOf, at === logs.length - 1 ? children : []),
  );
  // An event can stand in several logs.
  const found = new Map(all.map((each) => [JSON.stringify(each), each]));
  return [...found.values()].toSorted((a, b) => a.sequence - b.sequence);
}
