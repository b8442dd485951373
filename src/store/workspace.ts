import { InvalidArgumentError, WorkspaceRefusedError } from '../errors.js';
import { ConfinedRoot } from '../fs/confined-path.js';
import { trimSpace } from '../model/ids.js';
import type { StoreDeps } from './deps.js';

/**
 * Opens the folder whose files are captured or restored.
 * @throws InvalidArgumentError (`INVALID_ARGUMENT`) when it is blank or relative: files would land anywhere.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) when it is not there.
 * @see FORMAT.md, 5, "The workspace is bound"; FAULTS.md, 18
 */
export function openWorkspace(deps: StoreDeps, root: string): ConfinedRoot {
  requireAbsolute(root);
  if (deps.fs.stat(root)?.kind !== 'directory') throw new WorkspaceRefusedError(root, 'is not there');
  return new ConfinedRoot(deps.fs, root);
}

/**
 * Opens a workspace to change files in: as {@link openWorkspace}, and never `/`, a home folder, a folder above one,
 * or the store.
 */
export function openWorkspaceToChange(deps: StoreDeps, root: string): ConfinedRoot {
  const workspace = openWorkspace(deps, root);
  const reason = whyNeverChanged(deps, workspace.real);
  if (reason !== undefined) throw new WorkspaceRefusedError(root, reason);
  return workspace;
}

/** A workspace to change files in, and whether it is the session's own. */
export interface BoundWorkspace {
  readonly workspace: ConfinedRoot;
  /** False where the recorded one is gone and nobody insists: this may be where it is now, or another project. */
  readonly isOwn: boolean;
}

/**
 * Opens the workspace that a session's files are brought back into: the one named, else the recorded one.
 * @param recorded - Absolute; empty where none is.
 * @throws WorkspaceRefusedError (`WORKSPACE_REFUSED`) as {@link openWorkspaceToChange}, and when the recorded one is
 *   there and another is named without force.
 * @see FORMAT.md, 5, "The workspace is bound"; FAULTS.md, 18
 */
export function openBoundWorkspace(
  deps: StoreDeps,
  recorded: string,
  { workspace: named, force }: { readonly workspace?: string | undefined; readonly force?: boolean | undefined },
): BoundWorkspace {
  if (named === undefined) {
    if (recorded === '') throw new WorkspaceRefusedError('', 'is not recorded for this session');
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

/** Gives what to say of a folder that is named in place of a workspace that is gone, and is not it. */
export function noTraceIn(workspace: ConfinedRoot, sessionId: string): WorkspaceRefusedError {
  const reason = `shows no work of session ${sessionId} and may be another project; --force takes it`;
  return new WorkspaceRefusedError(workspace.named, reason);
}

/** Tells whether two folders are the same, or one is in the other. */
export function relatedFolders(deps: StoreDeps, a: string, b: string): boolean {
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

function whyNeverChanged(deps: StoreDeps, real: string): string | undefined {
  const store = realOr(deps, deps.root);
  if (real === '/') return 'is the root of the file system';
  if (isAtOrAbove(store, real)) return 'is in the store';
  for (const home of deps.homes) {
    const realHome = realOr(deps, home);
    if (real === realHome) return 'is a home folder';
    if (isAtOrAbove(real, realHome)) return 'is above a home folder';
  }
  return undefined;
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
