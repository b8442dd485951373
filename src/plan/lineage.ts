import { CycleError, SessionNotFoundError } from '../errors.js';
import type { SessionMetadata } from '../model/metadata.js';
import { compareRecency, recencyOf } from './session-order.js';

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
    if (seen.has(id)) throw cycleAt(id, [...seen]);
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

/** Names only the sessions of the ring, without those that lead to it. */
function cycleAt(id: string, way: readonly string[]): CycleError {
  return new CycleError(way.slice(way.indexOf(id)));
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
  const keyed = children.map((session) => ({ session, recency: recencyOf(session) }));
  keyed.sort((a, b) => spawnOf(b.session) - spawnOf(a.session) || compareRecency(a.recency, b.recency));
  return keyed.map(({ session }) => session);
}

function spawnOf({ spawnedFromSequence }: SessionMetadata): number {
  return spawnedFromSequence ?? 0;
}
