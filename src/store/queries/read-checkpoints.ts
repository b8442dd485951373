import { EventNotFoundError, WorkspaceRefusedError } from '../../errors.js';
import { readWholeFile } from '../../fs/durable-file.js';
import { decodeCheckpoint } from '../../model/checkpoint-codec.js';
import { type CheckpointFile, type FileState, OWN_TOOL_PREFIX } from '../../model/event.js';
import { eventName, parseSessionId, type SessionId } from '../../model/ids.js';
import type { LogOutline } from '../../model/log-outline.js';
import type { PresentState } from '../../plan/rewind/file-change.js';
import { nearestSequences, refuseRepeated, touchedFiles } from '../../plan/rewind/rewind.js';
import type { StoreDeps } from '../base/deps.js';
import { BlobStore, whyUnavailable } from '../parts/blob-store.js';
import { pathsOf } from '../parts/metadata-file.js';
import { openLog } from '../parts/read-session.js';
import { pathFinder } from '../workspace/checkpoint-paths.js';
import { openWorkspace, readRecordedWorkspace } from '../workspace/open-workspace.js';
import type { Workspace } from '../workspace/workspace.js';

/** One checkpoint of a session, decoded. */
export interface CheckpointSummary {
  readonly sequence: number;
  /** As in a stored event. */
  readonly exactSequence?: string | undefined;
  readonly eventId: string;
  /** RFC 3339 as stored. */
  readonly createdAt: string;
  readonly tool: string;
  readonly files: readonly CheckpointFile[];
}

/** A file at a point of the log. */
export interface FileAt {
  readonly path: string;
  /** Its one name in the workspace; the path as recorded where there is no workspace. */
  readonly resolved: string;
  /** `current`: no later checkpoint names it, so it is what it is now. */
  readonly state: FileState | { readonly kind: 'current' };
  /** Whether `resolved` is a path in the workspace, with no link above it that would have to be followed. */
  readonly isInside: boolean;
}

interface WantedFile {
  readonly file: FileAt;
  readonly workspace: string | undefined;
}

/** What a file holds. */
export type FileContent =
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** Lists the checkpoints of a session, oldest first; those that announce a rewind are not among them. */
export function listCheckpoints(deps: StoreDeps, sessionId: string): readonly CheckpointSummary[] {
  const outline = openLog(deps, sessionId).outline(0);
  const times = new Map(outline.events.map((event) => [event.sequence, event.createdAt ?? '']));
  return outline.checkpoints.flatMap((checkpoint) => {
    const { tool, files } = decodeCheckpoint(checkpoint);
    if (tool.startsWith(OWN_TOOL_PREFIX)) return [];
    const createdAt = times.get(checkpoint.sequence) ?? '';
    const { sequence, exactSequence } = checkpoint;
    return [{ sequence, exactSequence, eventId: eventName(checkpoint, outline.sessionId), createdAt, tool, files }];
  });
}

/**
 * Lists every file that some checkpoint names, as it was just after the event with this sequence. A checkpoint holds what
 * a file was before a change, so the first one after the event tells what it was then.
 */
export function filesAt(
  deps: StoreDeps,
  sessionId: string,
  { sequence, workspace }: { readonly sequence: number; readonly workspace: string | undefined },
): readonly FileAt[] {
  const id = parseSessionId(sessionId);
  const outline = openLog(deps, id).outline(0);
  requireEvent(outline, sequence);
  const root = workspaceOrNone(deps, id, workspace);
  const find = root === undefined ? undefined : pathFinder(root, outline.checkpoints);
  const resolve = (path: string, named: number): string => find?.(path, named).resolved ?? path;
  const later = outline.checkpoints.filter((checkpoint) => checkpoint.sequence > sequence);
  const states = new Map(touchedFiles(later, resolve).map(({ resolved, wanted }) => [resolved, wanted]));
  return touchedFiles(outline.checkpoints, resolve).map(({ path, resolved, firstNamedAt }) => ({
    path,
    resolved,
    state: states.get(resolved) ?? { kind: 'current' },
    isInside: find?.(path, firstNamedAt).where.kind === 'inside',
  }));
}

/** Reads what a file held at a point: from its blob, verified, or from the workspace where it is unchanged since. */
export function readFileAt(deps: StoreDeps, sessionId: string, { file, workspace }: WantedFile): FileContent {
  const id = parseSessionId(sessionId);
  const { state } = file;
  switch (state.kind) {
    case 'absent':
      return { kind: 'absent' };
    case 'link':
      return { kind: 'link', target: state.target };
    case 'skipped':
      return { kind: 'unavailable', reason: 'was not captured' };
    case 'stored':
      return readBlob(deps, id, state);
    case 'current':
      return readCurrent(deps, id, { file, workspace });
    default:
      return state satisfies never;
  }
}

function readBlob(deps: StoreDeps, id: SessionId, state: FileState & { kind: 'stored' }): FileContent {
  const blobs = new BlobStore(deps, pathsOf(deps, id));
  const found = state.hash === undefined ? undefined : blobs.check(state.hash);
  if (found?.kind !== 'intact') return { kind: 'unavailable', reason: whyUnavailable(state, found) };
  const bytes = readWholeFile(deps.fs, found.path);
  if (bytes === undefined) return { kind: 'unavailable', reason: 'its blob went away' };
  return { kind: 'file', bytes, mode: state.mode };
}

function readCurrent(deps: StoreDeps, id: SessionId, { file, workspace }: WantedFile): FileContent {
  const { resolved, isInside } = file;
  const root = workspaceOrNone(deps, id, workspace);
  if (root === undefined) throw new WorkspaceRefusedError(workspace ?? '', 'is not there');
  // Below a file, or below a link that took the place of its folder, a file is no longer there.
  const located = root.locate(resolved, () => isInside);
  const present = root.present(located);
  if (present.kind === 'absent') return { kind: 'absent' };
  if (present.kind === 'link') return { kind: 'link', target: present.target };
  if (present.kind !== 'file') return { kind: 'unavailable', reason: reasonOf(present) };
  const bytes = root.inFolderOf(located.resolved, (folder, name) => readWholeFile(deps.fs, `${folder.path}/${name}`));
  return bytes === undefined ? { kind: 'absent' } : { kind: 'file', bytes, mode: present.mode };
}

const REASONS: { readonly [Kind in PresentState['kind']]?: string } = {
  folder: 'is a folder now',
  outside: 'leads out of the workspace',
  blocked: 'cannot be reached: something that is no folder is in the way',
};

function reasonOf(present: PresentState): string {
  if (present.kind === 'unreadable') return `cannot be read (${present.reason})`;
  return REASONS[present.kind] ?? 'is a special file now';
}

function requireEvent(outline: LogOutline, sequence: number): void {
  const { sessionId, events } = outline;
  refuseRepeated(outline, sequence);
  if (sequence === 0 || events.some((event) => event.sequence === sequence)) return;
  throw new EventNotFoundError(sessionId, sequence, nearestSequences(events, sequence));
}

function workspaceOrNone(deps: StoreDeps, id: SessionId, workspace: string | undefined): Workspace | undefined {
  if (workspace !== undefined) return openWorkspace(deps, workspace);
  const cwd = readRecordedWorkspace(deps, id);
  return cwd.startsWith('/') && deps.fs.stat(cwd)?.kind === 'directory' ? openWorkspace(deps, cwd) : undefined;
}
