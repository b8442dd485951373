import { describe, expect, test } from 'vitest';
import { growForest } from '../../../src/cli/render/session-forest.js';
import type { SessionMetadata } from '../../../src/index.js';

describe('the forest of sessions', () => {
  test('given an implementation of a spec without a parent, then it stands under the session that had the spec', () => {
    const forest = growForest([
      session('source'),
      session('impl', { sessionKind: 'spec-impl', specSourceSessionId: 'source' }),
    ]);

    expect(forest.roots.map(({ session: { sessionId } }) => sessionId)).toEqual(['source']);
    expect(forest.nodes.get('source')?.children.map((node) => node.session.sessionId)).toEqual(['impl']);
  });

  test('given a conversation that only mentions a spec source, then it is a root of its own', () => {
    const forest = growForest([session('source'), session('other', { specSourceSessionId: 'source' })]);

    expect(forest.roots).toHaveLength(2);
  });
});

function session(sessionId: string, more: Partial<SessionMetadata> = {}): SessionMetadata {
  const time = '2026-07-09T12:00:00Z';
  return { sessionId, createdAt: time, updatedAt: time, eventCount: 0, ...more };
}
