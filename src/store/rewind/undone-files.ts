import type { ConfinedRoot } from '../../fs/confined-path.js';
import type { SessionId } from '../../model/ids.js';
import { mayLoseContent } from '../../plan/rewind/change-rule.js';
import { isInState, settleShapes } from '../../plan/rewind/changed-shape.js';
import { type FileChange, hasContent, type PresentState } from '../../plan/rewind/file-change.js';
import {
  type FileFacts,
  planFileChange,
  type TouchedFile,
  touchedFiles,
  type UncoveredWork,
  withMadeFolders,
  withNothingBelowFiles,
} from '../../plan/rewind/rewind.js';
import type { LogWork } from '../../plan/rewind/session-work.js';
import { uncoveredWork } from '../../plan/rewind/uncovered.js';
import { type LeftState, leftStates, type WorkSince } from '../../plan/rewind/undo.js';
import type { StoreDeps } from '../base/deps.js';
import type { SessionPaths } from '../base/layout.js';
import { BlobStore, unavailableReason } from '../parts/blob-store.js';
import type { EventLog } from '../parts/event-log.js';
import { type FindPath, pathFinder } from '../workspace/checkpoint-paths.js';
import { noTraceIn, openWorkspaceOfUndo, readRecordedWorkspace, refuseEmpty } from '../workspace/workspace.js';
import { readPresent, unwritableReason, withHolds } from '../workspace/workspace-state.js';
import { FileWork } from './file-work.js';

/** What is undone, and where it is read. */
interface UndoSubject {
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
  readonly workspace: ConfinedRoot | undefined;
  readonly files: readonly FileChange[];
  readonly uncovered: readonly UncoveredWork[];
}

/**
 * Plans how files go back to what they were before a rewind: what the rewind did to them, and all that the session did
 * since. A file that somebody else changed is a conflict, by the rule for rewinds.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when files are concerned and the workspace will not do.
 * @see FORMAT.md, 6, "Undo"
 */
export function planUndoneFiles(
  deps: StoreDeps,
  subject: UndoSubject,
  options: { readonly workspace?: string | undefined; readonly force?: boolean | undefined },
): UndoneFiles {
  const { sessionId, log, since } = subject;
  const { target } = since;
  const cwd = readRecordedWorkspace(deps, sessionId);
  const checkpoints = since.work.map(({ event }) => event);
  const work = (files: { workspace: ConfinedRoot; find: FindPath } | undefined): FileWork =>
    new FileWork(deps, { sessionId, log, target, cwd, files });
  if (checkpoints.length === 0) {
    return { workspace: undefined, files: [], uncovered: uncovered(work(undefined), subject, () => undefined) };
  }
  const keptIn = since.work.flatMap(({ intent }) => (intent === undefined ? [] : [intent.workspace]));
  const { workspace, isOwn } = openWorkspaceOfUndo(deps, cwd, keptIn, options);
  const find = pathFinder(deps, workspace, checkpoints);
  const resolve = (path: string, sequence: number): string => find(path, sequence).resolved;
  const touched = withNothingBelowFiles(touchedFiles(checkpoints, resolve));
  const firstNamed = new Map(touched.map((file) => [file.resolved, file.firstNamedAt]));
  const planned = new FilesOfUndo(deps, subject, { workspace, find, touched }, work({ workspace, find }));
  if (!isOwn && !touched.some((file) => planned.isTrace(file))) throw noTraceIn(workspace, sessionId);
  const files = withMadeFolders(settleShapes(touched.map((file) => planned.change(file))));
  // A rewind that left nothing in it is no volume that is not mounted.
  if (options.workspace === undefined && !touched.every((file) => planned.isLeftAbsent(file))) {
    refuseEmpty(deps, workspace, files);
  }
  return { workspace, files, uncovered: uncovered(planned.work, subject, (path) => firstNamed.get(path)) };
}

/** The files that an undo concerns, each looked at as it is now. */
class FilesOfUndo {
  readonly work: FileWork;
  readonly #deps: StoreDeps;
  readonly #workspace: ConfinedRoot;
  readonly #find: FindPath;
  readonly #blobs: BlobStore;
  readonly #paths: ReadonlySet<string>;
  readonly #leftAt: (path: string) => LeftState;

  constructor(
    deps: StoreDeps,
    { paths, since }: UndoSubject,
    files: { readonly workspace: ConfinedRoot; readonly find: FindPath; readonly touched: readonly TouchedFile[] },
    work: FileWork,
  ) {
    this.work = work;
    this.#deps = deps;
    this.#workspace = files.workspace;
    this.#find = files.find;
    this.#blobs = new BlobStore(deps, paths);
    this.#paths = new Set(files.touched.map(({ resolved }) => resolved));
    this.#leftAt = leftStates(since, (path, sequence) => files.find(path, sequence).resolved);
  }

  change(file: TouchedFile): FileChange {
    const { resolved, wanted } = file;
    const seen = this.#present(file);
    const present = withHolds(this.#deps, this.#workspace, seen, resolved, this.#paths);
    return planFileChange(file, {
      present,
      unavailable: unavailableReason(this.#blobs, wanted),
      unwritable: unwritableReason(this.#deps, this.#workspace, resolved, present),
      ...this.#whose(file, present),
    });
  }

  /** Tells whether what is at a path now shows that the session, or a rewind of it, worked there. */
  isTrace(file: TouchedFile): boolean {
    const present = this.#present(file);
    if (present.kind !== 'file' && present.kind !== 'link') return false;
    const { all } = this.#leftAt(file.resolved);
    if ([file.wanted, ...all].some((state) => hasContent(present, state))) return true;
    return this.work.isTrace(file.resolved, present);
  }

  isLeftAbsent({ resolved }: TouchedFile): boolean {
    const { last, isToolsSince } = this.#leftAt(resolved);
    return last?.kind === 'absent' && !isToolsSince;
  }

  // What a rewind of ours left is known exactly; what a tool made of it since is judged as in a rewind.
  #whose({ resolved, wanted }: TouchedFile, present: PresentState): Pick<FileFacts, 'change' | 'isAsLeft'> {
    if (!mayLoseContent(present, wanted)) return { change: undefined };
    const { last, all, isToolsSince } = this.#leftAt(resolved);
    if (all.some((state) => hasContent(present, state) || isInState(present, state, true))) {
      return { change: { by: 'session', row: 2, reason: 'was changed by the rewind' }, isAsLeft: true };
    }
    const isRewindLast = last !== undefined && !isToolsSince;
    return {
      change: isRewindLast ? this.work.verdictSinceRewind(resolved, present) : this.work.verdict(resolved, present),
    };
  }

  #present({ path, firstNamedAt }: TouchedFile): PresentState {
    return readPresent(this.#deps, this.#workspace, this.#find(path, firstNamedAt));
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
