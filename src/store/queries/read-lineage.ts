import { parseSessionId, sessionIdOfFolder } from '../../model/ids.js';
import type { SessionMetadata } from '../../model/metadata.js';
import { childrenOf, lineageOf, type TreeNode, treeOf } from '../../plan/lineage.js';
import type { StoreDeps } from '../base/deps.js';
import { requireMetadata } from '../parts/metadata-file.js';
import { requireSession, sessionExists } from '../parts/session-folder.js';
import { listSessions } from './list-sessions.js';

/** Reads a session and its ancestors, the first ancestor first. */
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

/** Reads a session with its children of kind `child`, and theirs. */
export function readTree(deps: StoreDeps, rootId: string): TreeNode {
  const id = parseSessionId(rootId);
  requireSession(deps, id);
  return treeOf(requireMetadata(deps, id).metadata, listSessions(deps).sessions);
}
