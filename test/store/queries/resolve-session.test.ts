import { describe, expect, test } from 'vitest';
import { nodeFileSystem } from '../../../src/fs/file-system.js';
import { AmbiguousNameError, InvalidArgumentError, SessionNotFoundError } from '../../../src/index.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('resolving a name', () => {
  const sessions = [
    aSession('s').withMetadata({ title: 'Latest', updatedAt: '2026-07-09T11:30:00Z' }),
    aSession('older').withMetadata({ title: 'The older' }),
    aSession('broken').withMetadataText('nope'),
    aSession('onlylog').withMessages(1).withoutMetadata(),
    aSession('child').withMetadata({ sessionKind: 'child', parentSessionId: 'older', rootSessionId: 'older' }),
  ];

  test.each([
    ['latest', 's'],
    ['@{-1}', 'older'],
    ['parent:child', 'older'],
    ['The older', 'older'],
    ['old', 'older'],
    [' older ', 'older'],
    ['broken', 'broken'],
    ['id:broken', 'broken'],
    ['brok', 'broken'],
    ['onlylog', 'onlylog'],
  ])('given %j, then it is %s', async (name, id) => {
    const { store } = tempStore(sessions);

    expect(await store.resolve(name)).toBe(id);
  });

  test('given names that fit none, several or nothing, then it says which', async () => {
    const { store } = tempStore(sessions);

    await expect(store.resolve('nobody')).rejects.toThrow(SessionNotFoundError);
    await expect(store.resolve('o')).rejects.toThrow(AmbiguousNameError);
    await expect(store.resolve(' ')).rejects.toThrow(InvalidArgumentError);
  });

  test('given a store that is not there, then nothing is found', async () => {
    const { store } = tempStore([], { root: '/nowhere/at/all' });

    await expect(store.resolve('latest')).rejects.toThrow(SessionNotFoundError);
    await expect(store.resolve('s')).rejects.toThrow(SessionNotFoundError);
  });

  test('given a full id, then no metadata are read', async () => {
    const opened: string[] = [];
    const fileSystem = {
      ...nodeFileSystem,
      openRead: (path: string) => {
        opened.push(path);
        return nodeFileSystem.openRead(path);
      },
    };
    const { store } = tempStore(sessions, { fileSystem });

    expect(await store.resolve('older')).toBe('older');
    expect(opened).toEqual([]);
  });

  test('given a file system that takes an id in another case for the same, then it is not found', async () => {
    const fileSystem = {
      ...nodeFileSystem,
      lstat: (path: string) => nodeFileSystem.lstat(path.replace('/OLDER/', '/older/')),
    };
    const { store } = tempStore(sessions, { fileSystem });

    await expect(store.resolve('OLDER')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND', candidates: ['older'] });
  });
});
