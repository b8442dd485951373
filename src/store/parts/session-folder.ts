import { PathRefusedError, SessionNotFoundError } from '../../errors.js';
import { describeKind } from '../../fs/file-system.js';
import type { SessionId } from '../../model/ids.js';
import type { StoreDeps } from '../base/deps.js';
import type { SessionPaths } from '../base/layout.js';
import { pathsOf } from './metadata-file.js';

/**
 * Tells whether a session is there: a real folder with metadata, a log, or both.
 * @throws PathRefusedError (`PATH_REFUSED`) when its folder is a link: links are never followed (RELIABILITY.md, 4).
 */
export function sessionExists(deps: StoreDeps, id: SessionId): boolean {
  const paths = pathsOf(deps, id);
  const stat = deps.fs.lstat(paths.folder);
  if (stat === undefined) return false;
  if (stat.kind === 'link') throw new PathRefusedError(paths.folder, describeKind(stat.kind));
  if (stat.kind !== 'directory') return false;
  return deps.fs.lstat(paths.metadata) !== undefined || deps.fs.lstat(paths.events) !== undefined;
}

/**
 * Gives the paths of a session that has to be there.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`) when there is neither metadata nor log.
 */
export function requireSession(deps: StoreDeps, id: SessionId): SessionPaths {
  if (!sessionExists(deps, id)) throw new SessionNotFoundError(id);
  return pathsOf(deps, id);
}
