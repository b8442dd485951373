import { EventNotFoundError, LogMissingError, StalePlanError, WorkspaceRefusedError } from '../errors.js';
import type { ConfinedRoot } from '../fs/confined-path.js';
import type { FileState } from '../model/event.js';
import { viewEvent } from '../model/event-codec.js';
import type { BlobHash, SessionId } from '../model/ids.js';
import { isRecord } from '../model/json.js';
import type { LogOutline } from '../model/log-outline.js';
import type { SessionMetadata } from '../model/metadata.js';
import { parseInstant } from '../model/time.js';
import { type FileChange, hasContent, hasState, type PresentState } from '../plan/file-change.js';
import {
  nearestSequences,
  planFileChange,
  planRewind,
  type RewindPlan,
  type TouchedFile,
  touchedFiles,
} from '../plan/rewind.js';
import { BlobStore, hashText } from './blob-store.js';
import type { StoreDeps } from './deps.js';
import type { EventLog } from './event-log.js';
import { pathsOf } from './metadata-file.js';
import { openWorkspaceToChange, relatedFolders } from './workspace.js';
import { locate, readPresent } from './workspace-state.js';

/** How a rewind is asked for. */
export interface RewindOptions {
  /** The last sequence kept; 0 keeps none. */
  readonly target: number;
  /** Drops the target as well, and undoes it if it is a checkpoint. */
  readonly excludeTarget?: boolean | undefined;
  /** `all` (the default), the log alone, or the files alone. */
  readonly part?: 'all' | 'events' | 'files' | undefined;
  /** Absolute; else the recorded cwd. */
  readonly workspace?: string | undefined;
  /** Files to restore, as paths in the workspace; all when left out. */
  readonly paths?: readonly string[] | undefined;
  /** Overwrites what somebody else changed; the present content is kept. */
  readonly force?: boolean | undefined;
  /** Does what can be done, and reports the rest. */
  readonly allowPartial?: boolean | undefined;
  /** The sequence that the last event must have. */
  readonly expectHead?: number | undefined;
}

/** A plan, and the workspace that it is for; none when no file is named. */
export interface PlannedRewind {
  readonly plan: RewindPlan;
  readonly workspace: ConfinedRoot | undefined;
  readonly outline: LogOutline;
}

const SETTLING_MS = 2000;

/**
 * Plans a rewind over what is there now: log, blobs and files. Reads only.
 * @throws EventNotFoundError (`EVENT_NOT_FOUND`) when the target is in a gap or beyond the end.
 * @throws PayloadDamagedError (`PAYLOAD_DAMAGED`) when a checkpoint after the target cannot be decoded.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when files are concerned and the workspace will not do.
 * @throws StalePlanError (`STALE_PLAN`) when the head is not the expected one.
 */
export function planFromDisk(
  deps: StoreDeps,
  id: SessionId,
  log: EventLog,
  metadata: SessionMetadata | undefined,
  options: RewindOptions,
  lenientTarget = false,
): PlannedRewind {
  const eventCount = metadata?.eventCount ?? 0;
  if (eventCount > 0 && !log.exists()) throw new LogMissingError(id, log.path, eventCount);
  const outline = log.outline(eventCount);
  const head = outline.events.at(-1)?.sequence ?? 0;
  if (options.expectHead !== undefined && options.expectHead !== head) {
    throw new StalePlanError(`Session ${id} ends with event ${head}, not ${options.expectHead}`, {
      planned: options.expectHead,
      found: head,
    });
  }
  if (!lenientTarget) requireTarget(outline, options.target);
  const target = options.excludeTarget === true ? lastBefore(outline, options.target) : options.target;
  const checkpoints = options.part === 'events' ? [] : outline.checkpoints.filter(({ sequence }) => sequence > target);
  // Decoded before the workspace is looked at: a damaged checkpoint stops everything.
  const named = touchedFiles(checkpoints, (path) => path);
  const workspace = named.length === 0 ? undefined : workspaceFor(deps, metadata, options);
  const files = workspace === undefined ? [] : fileChanges(deps, id, log, outline, checkpoints, workspace, options);
  const plan = planRewind(outline, target, options.excludeTarget !== true, files, { part: options.part });
  return { plan, workspace, outline };
}

function requireTarget({ sessionId, events }: LogOutline, target: number): void {
  if (target === 0) return;
  if (events.some(({ sequence }) => sequence === target)) return;
  throw new EventNotFoundError(sessionId, target, nearestSequences(events, target));
}

function lastBefore({ events }: LogOutline, target: number): number {
  return events.findLast(({ sequence }) => sequence < target)?.sequence ?? 0;
}

function workspaceFor(deps: StoreDeps, metadata: SessionMetadata | undefined, options: RewindOptions): ConfinedRoot {
  const cwd = metadata?.cwd ?? '';
  if (options.workspace === undefined) {
    if (cwd === '') throw new WorkspaceRefusedError('', 'is not recorded for this session');
    return openWorkspaceToChange(deps, cwd);
  }
  const workspace = openWorkspaceToChange(deps, options.workspace);
  const recordedIsThere = cwd.startsWith('/') && deps.fs.stat(cwd)?.kind === 'directory';
  if (recordedIsThere && options.force !== true && !relatedFolders(deps, cwd, workspace.real)) {
    throw new WorkspaceRefusedError(options.workspace, `is not the session's own, which is ${cwd}; --force takes it`);
  }
  return workspace;
}

function fileChanges(
  deps: StoreDeps,
  id: SessionId,
  log: EventLog,
  outline: LogOutline,
  checkpoints: LogOutline['checkpoints'],
  workspace: ConfinedRoot,
  options: RewindOptions,
): readonly FileChange[] {
  const blobs = new BlobStore(deps, pathsOf(deps, id));
  const wanted = options.paths?.map((path) => locate(deps, workspace, path).resolved);
  const touched = touchedFiles(checkpoints, (path) => locate(deps, workspace, path).resolved).filter(
    ({ resolved }) =>
      wanted === undefined || wanted.some((path) => resolved === path || resolved.startsWith(`${path}/`)),
  );
  const evidence = new LaterEvidence(log, outline);
  return touched.map((file) => {
    const present = readPresent(deps, workspace, locate(deps, workspace, file.path));
    return planFileChange(file, {
      present,
      unavailable: unavailableReason(blobs, file.wanted),
      unwritable: unwritableReason(deps, workspace, file.resolved, present),
      changedByOthers: changedByOthers(file, present, evidence),
    });
  });
}

/** Says why the content of a state cannot be had, or undefined. */
export function unavailableReason(blobs: BlobStore, wanted: FileState): string | undefined {
  if (wanted.kind !== 'stored') return undefined;
  if (wanted.hash === undefined) return `its blob has the name ${JSON.stringify(wanted.blob)}, which is no hash`;
  const check = blobs.check(wanted.hash);
  switch (check.kind) {
    case 'intact':
      return undefined;
    case 'missing':
      return `its blob ${wanted.hash} is missing`;
    case 'altered':
      return `its blob ${wanted.hash} was altered`;
    case 'refused':
      return `its blob ${wanted.hash} is ${check.found}`;
    default:
      return check satisfies never;
  }
}

/** Says why the folder of a file cannot be changed, or undefined. */
export function unwritableReason(
  deps: StoreDeps,
  workspace: ConfinedRoot,
  resolved: string,
  present: PresentState,
): string | undefined {
  let folder = resolved;
  const missing = present.kind === 'absent' ? present.missingFolders : 0;
  for (let up = 0; up <= missing; up += 1)
    folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  const path = folder === '' ? workspace.real : `${workspace.real}/${folder}`;
  return deps.fs.mayChange(path) ? undefined : 'its folder cannot be written to';
}

/** The rule of FORMAT.md, 6: content that the session did not make, and younger than its last work on the file. */
function changedByOthers(file: TouchedFile, present: PresentState, evidence: LaterEvidence): boolean {
  if (present.kind !== 'file' && present.kind !== 'link') return false;
  if (hasState(present, file.wanted) || hasContent(present, file.wanted)) return false;
  if (file.later.some((state) => hasContent(present, state))) return false;
  const settled = evidence.settledAt(file.lastNamedAt);
  if (settled === undefined || present.mtimeMs <= settled + SETTLING_MS) return false;
  return present.kind === 'link' || !evidence.writtenByTool(present.hash);
}

/** What the log tells of the tools that wrote files; read only when a file's content is not otherwise known. */
class LaterEvidence {
  readonly #log: EventLog;
  readonly #outline: LogOutline;
  #written: ReadonlySet<string> | undefined;

  constructor(log: EventLog, outline: LogOutline) {
    this.#log = log;
    this.#outline = outline;
  }

  /** When the work announced by a checkpoint was done, in milliseconds since 1970; undefined while it may go on. */
  settledAt(checkpoint: number): number | undefined {
    const after = this.#outline.events.filter(({ sequence }) => sequence > checkpoint);
    const done = after.find(({ type }) => type === 'tool_result') ?? after[0];
    return done === undefined ? undefined : (parseInstant(done.createdAt ?? '') ?? Number.NEGATIVE_INFINITY);
  }

  /** Tells whether a tool call of this session had content with this hash to write. */
  writtenByTool(hash: BlobHash): boolean {
    this.#written ??= this.#readWritten();
    return this.#written.has(hash);
  }

  #readWritten(): ReadonlySet<string> {
    const written = new Set<string>();
    for (const event of this.#log.events()) {
      if (event.type !== 'tool_call') continue;
      const view = viewEvent(event);
      if (view.type !== 'tool_call') continue;
      for (const content of contentsOf(view.arguments)) written.add(hashText(content));
    }
    return written;
  }
}

function contentsOf(argumentsText: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(argumentsText);
    return isRecord(value) && typeof value.content === 'string' ? [value.content] : [];
  } catch {
    return [];
  }
}
