import { describe, expect, test } from 'vitest';
import type { SessionMetadata } from '../../src/index.js';
import { childrenOf, treeOf } from '../../src/plan/lineage.js';
import { sortedByRecency } from '../../src/plan/session-order.js';

const NOW = '2026-07-09T12:00:00Z';
// 2026-07-09T12:00:00.123Z as a ULID, and in nanoseconds.
const OURS = '01KX3BZGKV0000000000000000';
const NS = '1783598400123000000';

const aSession = (sessionId: string, parts: Partial<SessionMetadata> = {}): SessionMetadata => ({
  sessionId,
  createdAt: NOW,
  updatedAt: NOW,
  eventCount: 0,
  ...parts,
});
const order = (...sessions: readonly SessionMetadata[]): readonly string[] =>
  sortedByRecency(sessions).map(({ sessionId }) => sessionId);

describe('finding 28: sessions with one time', () => {
  test('given a fork of a session of Zero made in the same second, then the fork comes first', () => {
    const parent = 'zero_20260709120000_1783598400000000000_7';

    expect(order(aSession(parent), aSession(OURS))).toEqual([OURS, parent]);
  });

  test('given ids of Zero, then their nanoseconds decide, and not their texts', () => {
    const [early, late] = ['zero_20260709120000_999_9', 'zero_20260709120000_1783598400123000000_1'];

    expect(order(aSession(early), aSession(late))).toEqual([late, early]);
  });

  test('given the same time in ids of both kinds, then the higher id comes first; a nanosecond more wins', () => {
    const [same, later] = [`zero_1_${NS}_1`, `zero_1_${NS.slice(0, -1)}1_1`];

    expect(order(aSession(OURS), aSession(later), aSession(same))).toEqual([later, same, OURS]);
  });

  test('given ids that nobody generated, then createdAt decides, to the nanosecond, then the id', () => {
    const at = (id: string, createdAt: string) => aSession(id, { createdAt });

    expect(
      order(
        at('z', '2026-07-09T12:00:00.000000001Z'),
        at('a', '2026-07-09T12:00:00.000000002Z'),
        at('b', 'never'),
        at('c', 'never'),
      ),
    ).toEqual(['a', 'z', 'c', 'b']);
  });

  test('given a name that only looks generated, then createdAt decides', () => {
    const names = ['zero_x_1783598400123000000_1', '81KX3BZGKV0000000000000000', OURS.toLowerCase()];
    const early = names.map((name) => aSession(name, { createdAt: '2026-07-09T11:00:00Z' }));

    for (const session of early) expect(order(session, aSession('a'))).toEqual(['a', session.sessionId]);
  });

  test('given children of one spawn, then they are ordered like a list, and so are those of a tree', () => {
    const kin = { sessionKind: 'child', parentSessionId: 'p', spawnedFromSequence: 3 };
    const sessions = ['zero_20260709120000_1783598400000000000_7', OURS].map((id) => aSession(id, kin));

    expect(childrenOf('p', sessions).map(({ sessionId }) => sessionId)).toEqual([OURS, sessions[0]?.sessionId]);
    expect(treeOf(aSession('p'), sessions).children.map(({ session }) => session.sessionId)[0]).toBe(OURS);
  });
});
