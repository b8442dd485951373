import { describe, expect, test } from 'vitest';
import { CycleError, type SessionMetadata, SessionNotFoundError, type TreeNode } from '../../src/index.js';
import { childrenOf, lineageOf, treeOf } from '../../src/plan/lineage.js';
import { random } from '../support/random.js';

function session(sessionId: string, members: Partial<SessionMetadata> = {}): SessionMetadata {
  const times = { createdAt: '2026-07-09T10:00:00Z', updatedAt: '2026-07-09T10:00:00Z', eventCount: 0 };
  return { sessionId, ...times, ...members };
}

const child = (sessionId: string, parentSessionId: string, members: Partial<SessionMetadata> = {}): SessionMetadata =>
  session(sessionId, { sessionKind: 'child', parentSessionId, ...members });

const finder = (sessions: readonly SessionMetadata[]) => (id: string) =>
  sessions.find(({ sessionId }) => sessionId === id);

const idsOf = (sessions: readonly SessionMetadata[]): readonly string[] => sessions.map(({ sessionId }) => sessionId);

function ringOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof CycleError) return error.path;
    throw error;
  }
  throw new Error('there was no cycle');
}

describe('the lineage of a session', () => {
  test('given parents of any kind, then it runs from the first ancestor to the session', () => {
    const sessions = [
      session('top'),
      session('f', { sessionKind: 'fork', parentSessionId: 'top' }),
      child('c', 'f'),
      session('i', { sessionKind: 'spec-impl', parentSessionId: 'c' }),
    ];

    expect(idsOf(lineageOf('i', finder(sessions)))).toEqual(['top', 'f', 'c', 'i']);
  });

  test('given an ancestor that is gone, then that one is named', () => {
    const sessions = [child('c', 'gone'), child('g', 'c')];

    expect(() => lineageOf('g', finder(sessions))).toThrow(expect.objectContaining({ id: 'gone' }));
    expect(() => lineageOf('g', finder(sessions))).toThrow(SessionNotFoundError);
  });

  test('given a session that hangs below a ring, then the ring is named, and not what hangs below it', () => {
    const sessions = [child('a', 'c'), child('b', 'a'), child('c', 'b'), child('into', 'a')];

    expect(ringOf(() => lineageOf('into', finder(sessions)))).toEqual(['a', 'c', 'b']);
    expect(ringOf(() => lineageOf('self', finder([child('self', 'self')])))).toEqual(['self']);
  });
});

describe('the children of a session', () => {
  test('then the latest spawn comes first, then the newest as an instant, then the higher id', () => {
    const sessions = [
      child('a', 'p', { spawnedFromSequence: 2, updatedAt: '2026-07-09T12:00:00Z' }),
      child('b', 'p', { spawnedFromSequence: 2, updatedAt: '2026-07-09T12:00:00Z' }),
      child('c', 'p', { spawnedFromSequence: 2, updatedAt: '2026-07-09T13:00:00+02:00' }),
      child('d', 'p', { spawnedFromSequence: 9 }),
      child('e', 'p', { updatedAt: '2026-07-09T14:00:00Z' }),
    ];

    expect(idsOf(childrenOf('p', sessions))).toEqual(['d', 'b', 'a', 'c', 'e']);
  });

  test('given forks and children of others, then they are none', () => {
    const sessions = [session('f', { sessionKind: 'fork', parentSessionId: 'p' }), child('x', 'q'), child('y', 'p')];

    expect(idsOf(childrenOf('p', sessions))).toEqual(['y']);
  });
});

describe('the tree of a session', () => {
  test('given a session among its own descendants, then the ring is named', () => {
    const sessions = [child('a', 'c'), child('b', 'a'), child('c', 'b')];

    expect(new Set(ringOf(() => treeOf(sessions[0] as SessionMetadata, sessions)))).toEqual(new Set(['a', 'b', 'c']));
  });

  test('given a ring elsewhere, then it does not matter', () => {
    const top = session('top');
    const sessions = [top, child('k', 'top'), child('a', 'b'), child('b', 'a')];

    expect(treeOf(top, sessions)).toEqual({ session: top, children: [{ session: sessions[1], children: [] }] });
  });

  test('given 5,000 levels, then they are all there', () => {
    const top = session('s0');
    const sessions = [top, ...Array.from({ length: 5000 }, (_, at) => child(`s${at + 1}`, `s${at}`))];

    let depth = 0;
    for (let node: TreeNode | undefined = treeOf(top, sessions); node !== undefined; node = node.children[0])
      depth += 1;

    expect(depth).toBe(5001);
    expect(lineageOf('s5000', (id) => sessions[Number(id.slice(1))])).toHaveLength(5001);
  });

  test('given any sessions, then it is what asking for children again and again gives', () => {
    const naive = (top: SessionMetadata, sessions: readonly SessionMetadata[]): TreeNode => ({
      session: top,
      children: childrenOf(top.sessionId, sessions).map((each) => naive(each, sessions)),
    });
    for (let seed = 1; seed <= 100; seed += 1) {
      const { below, chance } = random(seed);
      const sessions = [session('s0')];
      for (let at = 1; at < 30; at += 1) {
        const kind = chance(0.8) ? 'child' : 'fork';
        sessions.push(child(`s${at}`, `s${below(at)}`, { sessionKind: kind, spawnedFromSequence: below(4) }));
      }

      expect({ seed, tree: treeOf(sessions[0] as SessionMetadata, sessions) }).toEqual({
        seed,
        tree: naive(sessions[0] as SessionMetadata, sessions),
      });
    }
  });
});
