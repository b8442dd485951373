import { parseSessionId, sessionIdOfFolder } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { childrenOf, lineageOf, type TreeNode, treeOf } from '../../plan/lineage.js';
import type { StoreDeps } from '../base/deps.js';
import { requireMetadata } from '../parts/metadata-file.js';
import { requireSession, sessionExists } from '../parts/session-folder.js';
import { listSessions } from './list-sessions.js';

/**
 * Reads a session and its ancestors, the first ancestor first.
 * @throws SessionNotFoundError (`SESSION_NOT_FOUND`) when it or an ancestor is gone; CycleError (`CYCLE`)
 * @throws InvalidIdError (`INVALID_ID`) when its id, or that of an ancestor, is malformed.
 * @throws MetadataDamagedError (`METADATA_DAMAGED`), MetadataMissingError (`METADATA_MISSING`) for it or an ancestor.
 */
export function readLineage(deps: StoreDeps, sessionId: string): readonly SessionMetadata[] {
  return lineageOf(parseSessionId(sessionId), (text) => {
    parseSessionId(text);
    const id = sessionIdOfFolder(text); // what metadata name is taken exactly, space and all
    return id === undefined || !sessionExists(deps, id) ? undefined : requireMetadata(deps, id).metadata;
  });
}

/** Reads the children of kind `child` of a session, latest spawn first. */
export function readChildren(deps: StoreDeps, parentId: string): readonly SessionMetadata[] {
  const id = parseSessionId(parentId);
  requireSession(deps, id);
  return childrenOf(id, listSessions(deps).sessions);
}

/**
 * Reads a session with its children of kind `child`, and theirs.
 * @throws MetadataDamagedError (`METADATA_DAMAGED`) when those of the root cannot be read.
 */
export function readTree(deps: StoreDeps, rootId: string): TreeNode {
  const id = parseSessionId(rootId);
  requireSession(deps, id);
  return treeOf(requireMetadata(deps, id).metadata, listSessions(deps).sessions);
}
