import { describe, expect, test } from 'vitest';
import { MetadataDamagedError, MetadataMissingError, SessionNotFoundError } from '../../../src/index.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const child = (id: string, parentSessionId: string): SessionBuilder =>
  aSession(id).withMetadata({ sessionKind: 'child', parentSessionId });

describe('reading a lineage', () => {
  test('given an ancestor whose metadata cannot be read, then it says so', async () => {
    const { store } = tempStore([aSession('top').withMetadataText('nope'), child('c', 'top'), child('g', 'c')]);

    await expect(store.lineage('g')).rejects.toThrow(MetadataDamagedError);
  });

  test('given an ancestor that has only its log, then it says so', async () => {
    const { store } = tempStore([aSession('top').withMessages(1).withoutMetadata(), child('c', 'top')]);

    await expect(store.lineage('c')).rejects.toThrow(MetadataMissingError);
  });

  test.each(['gone', ' top', 'TOP2'])('given %j as its parent, then that is not found', async (parent) => {
    const { store } = tempStore([aSession('top'), child('c', parent)]);

    await expect(store.lineage('c')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', id: parent });
  });

  test.each(['../victim', 'x/y', '-x', 'a'.repeat(129), 'é'])(
    'finding 30: given %j as its parent, then that is malformed',
    async (parent) => {
      const { store } = tempStore([aSession('top'), child('c', parent), child('d', 'c')]);

      await expect(store.lineage('c')).rejects.toMatchObject({ code: 'INVALID_ID' });
      await expect(store.lineage('d')).rejects.toMatchObject({ code: 'INVALID_ID' });
    },
  );

  test('given space around the id that is asked for, then it is no error', async () => {
    const { store } = tempStore([aSession('top'), child('c', 'top')]);

    expect((await store.lineage(' c ')).map(({ sessionId }) => sessionId)).toEqual(['top', 'c']);
  });
});

describe('reading children and trees', () => {
  test('given a parent that cannot be read, then its children are listed, and its tree says so', async () => {
    const { store } = tempStore([aSession('top').withMetadataText('nope'), child('c', 'top')]);

    expect((await store.listChildren('top')).map(({ sessionId }) => sessionId)).toEqual(['c']);
    await expect(store.tree('top')).rejects.toThrow(MetadataDamagedError);
  });

  test('given a session that is not there, then it is not found', async () => {
    const { store } = tempStore(aSession());

    await expect(store.listChildren('x')).rejects.toThrow(SessionNotFoundError);
    await expect(store.tree('x')).rejects.toThrow(SessionNotFoundError);
  });
});
