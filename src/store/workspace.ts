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
