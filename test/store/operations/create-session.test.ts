import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../src/index.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const code = (expected: ErrorCode) => expect.objectContaining({ code: expected });
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

describe('a session that is made', () => {
  test('given an id, then it has metadata and an empty log, and nothing else is there', async () => {
    const { store, text, tree } = tempStore();

    const session = await store.create({ sessionId: 's', title: 't' });

    expect(session).toEqual({
      sessionId: 's',
      title: 't',
      createdAt: '2026-07-09T12:00:00Z',
      updatedAt: '2026-07-09T12:00:00Z',
      eventCount: 0,
    });
    expect(JSON.parse(text('metadata.json'))).toEqual(session);
    expect(text('events.jsonl')).toBe('');
    expect(tree()).toEqual(['s', 's/events.jsonl', 's/metadata.json']);
  });

  test.each([undefined, '', ' \u2003'])('given the id %j, then it gets a ULID', async (sessionId) => {
    const { store } = tempStore();

    expect((await store.create({ sessionId })).sessionId).toMatch(ULID);
  });

  test('given many in one instant, then their ids rise in the order in which they were made', async () => {
    const { store } = tempStore();
    const ids: string[] = [];

    for (let count = 0; count < 20; count += 1) ids.push((await store.create()).sessionId);

    expect(ids).toEqual([...new Set(ids)].sort());
    expect((await store.latest())?.sessionId).toBe(ids.at(-1));
  });

  test('given text in space, then every field is trimmed, and blank ones are left out', async () => {
    const { store } = tempStore();

    const session = await store.create({
      sessionId: ' s\n',
      title: '\u0085t\u2028',
      cwd: ' /w ',
      tag: ' \t',
      provider: '',
    });

    expect(session).toMatchObject({ sessionId: 's', title: 't', cwd: '/w' });
    expect(session).not.toHaveProperty('tag');
    expect(session).not.toHaveProperty('provider');
  });

  test('given a kind in space, then it is stored as it is: it is another kind', async () => {
    const { store } = tempStore();

    expect((await store.create({ sessionKind: ' fork ' })).sessionKind).toBe(' fork ');
    expect(await store.listResumable()).toEqual([]);
  });

  test.each([
    [' Approved ', 'approved'],
    ['DRAFT', 'draft'],
    ['rejected', 'rejected'],
    ['done', undefined],
  ])('given the spec status %j, then it is %j', async (specStatus, expected) => {
    const { store } = tempStore();

    expect((await store.create({ specStatus })).specStatus).toBe(expected);
  });

  test('given times and counts in untyped input, then they are the store’s to give', async () => {
    const { store } = tempStore();
    const input = { sessionId: 's', createdAt: 'then', eventCount: 9, lastEventType: 'error', future: 1 };

    const session = await store.create(input as object);

    expect(session).toMatchObject({ createdAt: '2026-07-09T12:00:00Z', eventCount: 0 });
    expect(session).not.toHaveProperty('lastEventType');
    expect(session).not.toHaveProperty('future');
  });

  test.each([0o000, 0o022, 0o077])('54. given the mask %o, then all is private to the user', async (mask) => {
    const before = process.umask(mask);
    try {
      const { store, root, mode } = tempStore();

      await store.create({ sessionId: 's' });

      expect(lstatSync(root).mode & 0o7777).toBe(0o700);
      expect([mode(), mode('metadata.json'), mode('events.jsonl')]).toEqual([0o700, 0o600, 0o600]);
    } finally {
      process.umask(before);
    }
  });

  test('given a root that is missing with the folders above it, then they are made, and those that were there stay', async () => {
    const { root } = tempStore();
    const deep = join(root, 'a', 'b', 'sessions');
    mkdirSync(root, { mode: 0o755 });
    const { store } = tempStore([], { root: deep });

    await store.create({ sessionId: 's' });

    const modes = [root, join(root, 'a'), dirname(deep), deep].map((path) => lstatSync(path).mode & 0o777);
    expect(modes).toEqual([0o755, 0o700, 0o700, 0o700]);
  });
});

describe('a session that is not made', () => {
  test.each([-1, 1.5, Number.NaN, 2 ** 60])('given the depth %d, then it is refused', async (depth) => {
    const { store, root } = tempStore();

    await expect(store.create({ depth })).rejects.toEqual(code('INVALID_ARGUMENT'));

    expect(lstatSync(root, { throwIfNoEntry: false })).toBeUndefined();
  });

  test.each(['../x', 'a/b', '-x', '.zs-new-x', 'a\0', 'é', 'con', 'LPT1', 'a'.repeat(129)])(
    '34. given the id %j, then it is refused before anything is made',
    async (sessionId) => {
      const { store, root } = tempStore();

      await expect(store.create({ sessionId })).rejects.toEqual(code('INVALID_ID'));

      expect(lstatSync(root, { throwIfNoEntry: false })).toBeUndefined();
    },
  );

  test.each([
    ['a session', aSession('x')],
    ['a session without metadata', aSession('x').withoutMetadata()],
    ['a session without log', aSession('x').withoutLog()],
    ['a session with damaged metadata', aSession('x').withMetadataText('{')],
  ])('given %s under the id, then it is in use and keeps its bytes', async (_, session) => {
    const { store, tree } = tempStore(session);
    const before = tree();

    await expect(store.create({ sessionId: ' x ' })).rejects.toEqual(code('SESSION_EXISTS'));

    expect(tree()).toEqual(before);
  });

  test.each<[string, (path: string) => void]>([
    ['a file', (path) => writeFileSync(path, 'x')],
    ['a link to nothing', (path) => symlinkSync('/nowhere', path)],
  ])('given %s under the id, then it is in use', async (_, put) => {
    const { store, root } = tempStore(aSession('other'));
    put(join(root, 's'));

    await expect(store.create({ sessionId: 's' })).rejects.toEqual(code('SESSION_EXISTS'));
  });

  test('57. given an id that differs in case only, then it is another one', async () => {
    const { store } = tempStore(aSession('abc'));

    await store.create({ sessionId: 'Abc' });

    expect((await store.list()).map(({ sessionId }) => sessionId)).toEqual(['Abc', 'abc']);
  });
});
