import { InvalidArgumentError, WorkspaceRefusedError, ZeroSessionsError } from '../../errors.js';
import { type SessionId, trimSpace } from '../../model/ids.js';
import { recordedWorkspace } from '../../model/metadata.js';
import type { FileChange } from '../../plan/rewind/file-change.js';
import type { StoreDeps } from '../base/deps.js';
import { asStoreError } from '../base/system-errors.js';
import { pathsOf, readMetadata } from '../parts/metadata-file.js';
import { Workspace } from './workspace.js';

/** Opens the folder whose files are captured or restored. A relative one is refused: files would land anywhere. */
export function openWorkspace(deps: StoreDeps, root: string): Workspace {
  requireAbsolute(root);
  if (deps.fs.stat(root)?.kind !== 'directory') throw new WorkspaceRefusedError(root, 'is not there');
  return new Workspace(deps, root);
}

/** Opens a workspace to change files in: never `/`, a home folder, a folder above one, or the store (FAULTS.md, 18). */
export function openWorkspaceToChange(deps: StoreDeps, root: string): Workspace {
  const workspace = openWorkspace(deps, root);
  const reason = whyNeverChanged(deps, workspace.real);
  if (reason !== undefined) throw new WorkspaceRefusedError(root, reason);
  return workspace;
}

/** A workspace to change files in, and whether it is the session's own. */
export interface BoundWorkspace {
  readonly workspace: Workspace;
  /** False where the recorded one is gone and nobody insists: this may be where it is now, or another project. */
  readonly isOwn: boolean;
}

/** Gives the folder that a session says its files are in; empty where it says none, or its metadata cannot be read. */
export function readRecordedWorkspace(deps: StoreDeps, id: SessionId): string {
  try {
    return recordedWorkspace(readMetadata(deps, id, pathsOf(deps, id))?.metadata);
  } catch (error) {
    if (asStoreError(error) instanceof ZeroSessionsError) return ''; // damage is the operation's to report
    throw error;
  }
}

/**
 * Opens the workspace where a session's files are restored: the one named, else the recorded one (FORMAT.md, 5).
 * @param recorded - Absolute; empty where none is.
 */
export function openBoundWorkspace(
  deps: StoreDeps,
  recorded: string,
  { workspace: named, force }: { readonly workspace?: string | undefined; readonly force?: boolean | undefined },
): BoundWorkspace {
  if (named === undefined) {
    if (recorded === '') throw new WorkspaceRefusedError('', 'is not known for this session: none is recorded here');
    return { workspace: openWorkspaceToChange(deps, recorded), isOwn: true };
  }
  const workspace = openWorkspaceToChange(deps, named);
  if (force === true || !recorded.startsWith('/') || relatedFolders(deps, recorded, workspace.real)) {
    return { workspace, isOwn: true };
  }
  if (deps.fs.stat(recorded)?.kind === 'directory') {
    throw new WorkspaceRefusedError(named, `is not the session's own, which is ${recorded}; --force takes it`);
  }
  return { workspace, isOwn: false };
}

/**
 * Refuses a recorded workspace with nothing in it, where a file would be put into it: its volume may not be mounted.
 */
export function refuseEmpty(
  deps: StoreDeps,
  workspace: Workspace,
  files: readonly Pick<FileChange, 'action' | 'wanted'>[],
): void {
  const puts = files.some(({ action, wanted }) => wanted.kind !== 'absent' && action !== 'leave');
  if (!puts || deps.fs.readdir(workspace.real).length > 0) return;
  throw new WorkspaceRefusedError(workspace.named, 'is empty: is its volume mounted?');
}

/**
 * Opens the workspace of an undo as a rewind would: what kept records say is data from a stranger (FORMAT.md, 5). Where
 * a record names another folder, that is named, or the records are undone one by one.
 * @param folders - The recorded one, and those that the records name; undefined means the recorded one.
 */
export function openWorkspaceOfUndo(
  deps: StoreDeps,
  { recorded, keptIn }: { readonly recorded: string; readonly keptIn: readonly (string | undefined)[] },
  options: { readonly workspace?: string | undefined; readonly force?: boolean | undefined },
): BoundWorkspace {
  const folders = [...new Set(keptIn.map((folder) => folder ?? recorded))];
  const { workspace: named, force } = options;
  const bound = openBoundWorkspace(deps, named === undefined ? recorded : (folders[0] ?? recorded), options);
  // What was there may have moved to where it is named now.
  const hasMoved = (folder: string): boolean => named !== undefined && deps.fs.stat(folder)?.kind !== 'directory';
  const other = folders.find((folder) => realOr(deps, folder) !== bound.workspace.real && !hasMoved(folder));
  if (other === undefined || (named !== undefined && force === true)) return bound;
  throw new WorkspaceRefusedError(other, `is where kept files are from, and not ${bound.workspace.named}`);
}

/** Gives what to say of a folder that is named in place of a workspace that is gone, and is not it. */
export function noTraceIn(workspace: Workspace, sessionId: string): WorkspaceRefusedError {
  const reason = `shows no work of session ${sessionId} and may be another project; --force takes it`;
  return new WorkspaceRefusedError(workspace.named, reason);
}

/** Tells whether two folders are the same, or one is in the other. */
function relatedFolders(deps: StoreDeps, a: string, b: string): boolean {
  const first = realOr(deps, a);
  const second = realOr(deps, b);
  return isAtOrAbove(first, second) || isAtOrAbove(second, first);
}

function requireAbsolute(root: string): void {
  if (trimSpace(root) === '') throw new InvalidArgumentError('workspaceRoot', 'A workspace cannot be blank');
  if (!root.startsWith('/')) {
    throw new InvalidArgumentError('workspaceRoot', `The workspace ${JSON.stringify(root)} is not an absolute path`);
  }
}

// Whatever the environment and the list of accounts say.
const HOME_OF_ROOT = '/root';
const HOMES_ARE_BELOW = ['/home', '/Users'];

function whyNeverChanged(deps: StoreDeps, real: string): string | undefined {
  const store = realOr(deps, deps.root);
  if (real === '/') return 'is the root of the file system';
  if (isAtOrAbove(store, real)) return 'is in the store';
  for (const home of [HOME_OF_ROOT, ...deps.homes, ...deps.othersHomes()]) {
    const realHome = realOr(deps, home);
    if (real === realHome) return 'is a home folder';
    if (isAtOrAbove(real, realHome)) return 'is above a home folder';
  }
  const isAboveHomes = HOMES_ARE_BELOW.some((folder) => isAtOrAbove(real, realOr(deps, folder)));
  return isAboveHomes ? 'is above a home folder' : undefined;
}

function isAtOrAbove(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

function realOr(deps: StoreDeps, path: string): string {
  try {
    return deps.fs.realpath(path);
  } catch {
    return path;
  }
}
