import type { SessionMetadata } from '../../model/metadata.js';
import { integerText } from '../../model/metadata.js';
import { compareRecency, recencyOf } from '../../plan/session-order.js';

/** A session and the sessions that came from it, of whatever kind. */
export interface ForestNode {
  readonly session: SessionMetadata;
  readonly parent: ForestNode | undefined;
  readonly children: readonly ForestNode[];
}

/** Every session in its place. */
export interface SessionForest {
  /** Sessions without a parent, or whose parent is not among the sessions; in the order of the sessions. */
  readonly roots: readonly ForestNode[];
  readonly nodes: ReadonlyMap<string, ForestNode>;
  /** Sessions that are each other's ancestors, one list for each ring; they and what came from them are under no root. */
  readonly rings: readonly (readonly string[])[];
}

interface GrowingNode extends ForestNode {
  parent: GrowingNode | undefined;
  readonly children: GrowingNode[];
}

/**
 * Puts sessions under the sessions that they came from.
 *
 * Siblings stand as in a list of children: what left the parent latest comes first, then the newest, then the higher id.
 * @see CLI.md, tree; FORMAT.md, 4, listChildren; FAULTS.md, 32
 */
export function growForest(sessions: readonly SessionMetadata[]): SessionForest {
  const nodes = new Map<string, GrowingNode>();
  for (const session of sessions) nodes.set(session.sessionId, { session, parent: undefined, children: [] });
  const roots: GrowingNode[] = [];
  for (const node of nodes.values()) {
    node.parent = nodes.get(originOf(node.session) ?? '');
    if (node.parent === undefined) roots.push(node);
    else node.parent.children.push(node);
  }
  for (const node of nodes.values()) if (node.children.length > 1) sortSiblings(node.children);
  return { roots, nodes, rings: findRings(nodes, roots) };
}

/** Gives the session that one came from: its parent, or for an implementation of a spec the session that had the spec. */
export function originOf({ sessionKind, parentSessionId, specSourceSessionId }: SessionMetadata): string | undefined {
  return parentSessionId ?? (sessionKind === 'spec-impl' ? specSourceSessionId : undefined);
}

/** Gives where a session left its parent: a sequence of the parent's, or undefined when that is not recorded. */
function departure({ forkedFromSequence, spawnedFromSequence }: SessionMetadata): number | undefined {
  return forkedFromSequence ?? spawnedFromSequence;
}

/** As {@link departure}, to be shown. */
export function departureText(session: SessionMetadata): string | undefined {
  if (departure(session) === undefined) return undefined;
  return integerText(session, session.forkedFromSequence === undefined ? 'spawnedFromSequence' : 'forkedFromSequence');
}

/** Gives a node and all below it, parents before children, without recursion: forks of forks go deep. */
export function* walk(top: ForestNode): Generator<{ readonly node: ForestNode; readonly depth: number }> {
  const open = [{ node: top, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    const { node, depth } = next;
    for (let at = node.children.length - 1; at >= 0; at -= 1) {
      open.push({ node: node.children[at] as ForestNode, depth: depth + 1 });
    }
  }
}

/** Gives the nodes from the root to the one above a node. */
export function pathTo(node: ForestNode): readonly ForestNode[] {
  const path: ForestNode[] = [];
  for (let above = node.parent; above !== undefined; above = above.parent) path.push(above);
  return path.reverse();
}

/** Gives a tree with the sessions that pass a test, and those on the way to them; undefined when none does. */
export function prune(top: ForestNode, test: (session: SessionMetadata) => boolean): ForestNode | undefined {
  const copies = new Map<ForestNode, GrowingNode>();
  // Backwards: children before parents.
  for (const { node } of [...walk(top)].reverse()) {
    const children = node.children.flatMap((child) => copies.get(child) ?? []);
    if (children.length === 0 && !test(node.session)) continue;
    const copy: GrowingNode = { session: node.session, parent: undefined, children };
    for (const child of children) child.parent = copy;
    copies.set(node, copy);
  }
  return copies.get(top);
}

function sortSiblings(siblings: GrowingNode[]): void {
  const ranked = siblings.map((node) => ({
    node,
    left: departure(node.session) ?? 0,
    recency: recencyOf(node.session),
  }));
  ranked.sort((a, b) => b.left - a.left || compareRecency(a.recency, b.recency));
  siblings.splice(0, siblings.length, ...ranked.map(({ node }) => node));
}

function findRings(nodes: ReadonlyMap<string, GrowingNode>, roots: readonly GrowingNode[]): readonly string[][] {
  const seen = new Set<ForestNode>();
  for (const root of roots) for (const { node } of walk(root)) seen.add(node);
  const rings: string[][] = [];
  for (const start of nodes.values()) {
    const way = new Set<GrowingNode>();
    let at: GrowingNode | undefined = start;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      way.add(at);
      at = at.parent;
    }
    if (at === undefined || !way.has(at)) continue;
    const ids = [...way].map(({ session }) => session.sessionId);
    rings.push(ids.slice(ids.indexOf(at.session.sessionId)));
  }
  return rings;
}
