import { CycleError, SessionNotFoundError } from '../errors.js';
import type { SessionMetadata } from '../model/metadata.js';
import { sortedByRecency } from './session-order.js';

/** A session with the sessions that came from it. */
export interface TreeNode {
  readonly session: SessionMetadata;
  readonly children: readonly TreeNode[];
}

/**
 * A session and its ancestors, the first ancestor first (FORMAT.md, 4, lineage).
 * @throws SessionNotFoundError when the session or an ancestor is missing, CycleError when one is its own ancestor.
 */
export function lineageOf(
  sessionId: string,
  read: (id: string) => SessionMetadata | undefined,
): readonly SessionMetadata[] {
  const path: SessionMetadata[] = [];
  const seen = new Set<string>();
  let id: string | undefined = sessionId;
  while (id !== undefined && id !== '') {
    // Only the sessions of the ring, without those that lead to it.
    if (seen.has(id)) throw new CycleError([...seen].slice([...seen].indexOf(id)));
    seen.add(id);
    const session = read(id);
    if (session === undefined) throw new SessionNotFoundError(id);
    path.push(session);
    id = session.parentSessionId;
  }
  return path.reverse();
}

/** The children of kind `child`, latest spawn first, then as a list is ordered. */
export function childrenOf(parentId: string, sessions: readonly SessionMetadata[]): readonly SessionMetadata[] {
  return bySpawn(sessions.filter((session) => session.sessionKind === 'child' && session.parentSessionId === parentId));
}

/** A session with its children of kind `child`, and theirs. A loop, not recursion: lineages can be deep. */
export function treeOf(root: SessionMetadata, sessions: readonly SessionMetadata[]): TreeNode {
  const byParent = new Map<string, SessionMetadata[]>();
  for (const session of sessions) {
    if (session.sessionKind !== 'child' || session.parentSessionId === undefined) continue;
    const siblings = byParent.get(session.parentSessionId);
    if (siblings === undefined) byParent.set(session.parentSessionId, [session]);
    else siblings.push(session);
  }
  const top: { session: SessionMetadata; children: TreeNode[] } = { session: root, children: [] };
  const open = [top];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const session of bySpawn(byParent.get(node.session.sessionId) ?? [])) {
      // Each session has one parent, so only the root can come up again.
      if (session.sessionId === root.sessionId) throw new CycleError(ringThrough(root, sessions));
      const child = { session, children: [] };
      node.children.push(child);
      open.push(child);
    }
  }
  return top;
}

function ringThrough(start: SessionMetadata, sessions: readonly SessionMetadata[]): readonly string[] {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  const ring = [start.sessionId];
  for (let id = start.parentSessionId; id !== undefined && id !== start.sessionId; id = byId.get(id)?.parentSessionId) {
    ring.push(id);
  }
  return ring;
}

function bySpawn(children: readonly SessionMetadata[]): readonly SessionMetadata[] {
  return sortedByRecency(children, (a, b) => (b.spawnedFromSequence ?? 0) - (a.spawnedFromSequence ?? 0));
}
