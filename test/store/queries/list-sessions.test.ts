import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SessionMetadata } from '../../../src/index.js';
import { sortedByRecency } from '../../../src/plan/session-order.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';
import { contents } from '../../support/temp-workspace.js';

const ids = (sessions: readonly SessionMetadata[]): readonly string[] => sessions.map(({ sessionId }) => sessionId);
const at = (id: string, updatedAt: string): SessionBuilder => aSession(id).withMetadata({ updatedAt });

describe('the order of a list', () => {
  test('given different times, then the newest comes first, as instants and not as texts', async () => {
    const { store } = tempStore([
      at('a', '2026-07-09T13:00:00Z'),
      at('b', '2026-07-09T15:00:00+05:00'),
      at('c', '2026-07-09T13:00:00.5Z'),
      at('d', '2026-07-09T09:30:00-04:00'),
    ]);

    expect(ids(await store.list())).toEqual(['d', 'c', 'a', 'b']);
  });

  test('given the same instant, then the higher id comes first, by bytes', async () => {
    const time = '2026-07-09T12:00:00Z';
    const { store } = tempStore(['a', 'B', 'a-1', 'a_1', '0', 'Z', 'aa'].map((id) => at(id, time)));

    expect(ids(await store.list())).toEqual(['aa', 'a_1', 'a-1', 'a', 'Z', 'B', '0']);
  });

  test.each(['', 'yesterday', '2026-07-09', '9999'])(
    'given the malformed time %j, then it sorts last',
    async (time) => {
      const { store } = tempStore([at('z', time), at('b', '0001-01-01T00:00:00Z'), at('a', '2026-07-09T12:00:00Z')]);

      expect(ids(await store.list())).toEqual(['a', 'b', 'z']);
    },
  );

  test('given any sessions, then the order does not hang on the order in which they come', () => {
    const session = fc.record({
      sessionId: fc.string({ minLength: 1, maxLength: 3 }),
      updatedAt: fc.constantFrom('', '2026-07-09T12:00:00Z', '2026-07-09T14:00:00+02:00', '2026-07-09T12:00:01Z'),
    });
    fc.assert(
      fc.property(fc.uniqueArray(session, { selector: ({ sessionId }) => sessionId }), (sessions) => {
        const list = sessions.map((one) => ({ ...one, createdAt: '', eventCount: 0 }));

        expect(sortedByRecency(list.toReversed())).toEqual(sortedByRecency(list));
      }),
    );
  });
});

describe('finding 28: a time that is yet to come', () => {
  const ahead = '2026-07-10T12:00:01Z';
  const sessions = [at('far', ahead), at('near', '2026-07-10T12:00:00Z'), at('now', '2026-07-09T12:00:00Z')];

  test('given a list, then a session more than a day ahead comes first and is told of', async () => {
    const { store, warnings } = tempStore(sessions);

    expect(ids(await store.list())).toEqual(['far', 'near', 'now']);
    expect(warnings).toMatchObject([
      { code: 'TIME_IN_FUTURE', sessionId: 'far', message: expect.stringContaining(ahead) },
    ]);
  });

  test.each(['latest', 'fa'])('given the name %s, then it means that session, and it is told of', async (name) => {
    const { store, warnings } = tempStore(sessions);

    expect(await store.resolve(name)).toBe('far');
    expect(warnings).toMatchObject([{ code: 'TIME_IN_FUTURE', sessionId: 'far' }]);
  });

  test('given the name of another session, then nothing is told', async () => {
    const { store, warnings } = tempStore(sessions);

    expect(await store.resolve('nea')).toBe('near');
    expect(warnings).toEqual([]);
  });

  test('given the latest that is to be resumed, then it is told of', async () => {
    const { store, warnings } = tempStore(sessions);

    expect((await store.prepareExec({ resumeLatest: true })).session.sessionId).toBe('far');
    expect(warnings).toMatchObject([{ code: 'TIME_IN_FUTURE', sessionId: 'far' }]);
  });
});

describe('what is in a list', () => {
  test('given no store, then nothing is, and none is made', async () => {
    const { store, root } = tempStore();

    expect(await store.listWithFaults()).toEqual({ sessions: [], unreadable: [] });
    expect(await store.latest()).toBeNull();
    expect(() => rmSync(root)).toThrow(/ENOENT/);
  });

  test('given what is no session, then it is passed over', async () => {
    const { store, root } = tempStore([aSession('s'), aSession('empty').withoutLog().withoutMetadata()]);
    writeFileSync(join(root, 'file'), 'x');
    mkdirSync(join(root, '.zs-new-x'));
    mkdirSync(join(root, 'not an id'));
    writeFileSync(join(root, 'not an id', 'metadata.json'), '{}');
    mkdirSync(join(root, 'files'));
    writeFileSync(join(root, 'files', 'notes'), 'x');
    symlinkSync('/nowhere', join(root, 'dangling'));

    expect(await store.listWithFaults()).toMatchObject({ sessions: [{ sessionId: 's' }], unreadable: [] });
  });

  test('given metadata without an id, then the name of the folder is it', async () => {
    const { store } = tempStore(aSession('s').withMetadataText('{"title":"t"}'));

    expect(await store.list()).toEqual([{ sessionId: 's', title: 't', createdAt: '', updatedAt: '', eventCount: 0 }]);
  });

  test('given children and specs, then they are in the list and not among those to resume', async () => {
    const kinds = [undefined, 'fork', 'child', 'side', 'spec-draft', 'spec-impl', 'new-kind'];
    const { store } = tempStore(kinds.map((sessionKind, index) => aSession(`s${index}`).withMetadata({ sessionKind })));

    expect(await store.list()).toHaveLength(7);
    expect(ids(await store.listResumable())).toEqual(['s1', 's0']);
    expect((await store.latest())?.sessionId).toBe('s6');
    expect((await store.latestResumable())?.sessionId).toBe('s1');
  });
});

describe('a damaged session', () => {
  const damaged: readonly [string, string, SessionBuilder][] = [
    ['malformed metadata', 'METADATA_DAMAGED', aSession('x').withMessages(2).withMetadataText('{')],
    ['empty metadata', 'METADATA_DAMAGED', aSession('x').withMessages(2).withMetadataText('')],
    [
      'metadata cut short',
      'METADATA_DAMAGED',
      aSession('x').withMessages(2).withMetadataText('{"sessionId": "x", "eve'),
    ],
    ['a count of 3.5', 'METADATA_DAMAGED', aSession('x').withMessages(2).withMetadata({ eventCount: 3.5 })],
    ['a count of 3.0', 'METADATA_DAMAGED', aSession('x').withMessages(2).withMetadataText('{"eventCount": 3.0}')],
    ['the id of another session', 'METADATA_DAMAGED', aSession('x').withMessages(2).withMetadata({ sessionId: 'y' })],
    ['a log and no metadata', 'METADATA_MISSING', aSession('x').withMessages(2).withoutMetadata()],
  ];

  test.each(damaged)(
    '24. given %s, then it is reported with %s and what its log tells, the rest is listed, and no file changes',
    async (_, code, session) => {
      const { store, root } = tempStore([aSession('s'), session]);
      const before = contents(root);

      const { sessions, unreadable } = await store.listWithFaults();

      expect(ids(sessions)).toEqual(['s']);
      expect(unreadable).toEqual([
        { sessionId: 'x', code, message: expect.stringContaining('event 2, message') as string },
      ]);
      expect(ids(await store.list())).toEqual(['s']);
      await expect(store.appendEvent('x', { type: 'error' })).rejects.toMatchObject({ code });
      expect(await store.readEvents('x')).toHaveLength(2);
      expect(contents(root)).toEqual(before);
    },
  );

  test('given a damaged log as well, then the reason is told without it', async () => {
    const { store } = tempStore(aSession('x').withMetadataText('{').withLine('broken'));

    expect((await store.listWithFaults()).unreadable[0]?.message).toContain('is not JSON');
  });

  test('given a damaged log beside sound metadata, then the session is whole', async () => {
    const { store } = tempStore(aSession('x').withLine('broken'));

    expect((await store.listWithFaults()).unreadable).toEqual([]);
  });

  test.each<[string, (path: string) => void]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    ['a link', (path) => symlinkSync('/etc/passwd', path)],
    ['a folder', (path) => mkdirSync(path)],
  ])('42. given %s for its metadata, then it is refused at once, and the rest is listed', async (_, put) => {
    const { store, root } = tempStore([aSession('s'), aSession('x').withoutMetadata().withMessages(1)]);
    put(join(root, 'x', 'metadata.json'));

    const { sessions, unreadable } = await store.listWithFaults();

    expect(ids(sessions)).toEqual(['s']);
    expect(unreadable).toEqual([expect.objectContaining({ sessionId: 'x', code: 'PATH_REFUSED' })]);
    await expect(store.get('x')).rejects.toMatchObject({ code: 'PATH_REFUSED' });
  });

  test('given a folder that is a link to a session, then it is refused everywhere', async () => {
    const { store, root } = tempStore([aSession('s').withMessages(1)]);
    symlinkSync('s', join(root, 'x'));

    expect((await store.listWithFaults()).unreadable).toEqual([
      expect.objectContaining({ sessionId: 'x', code: 'PATH_REFUSED' }),
    ]);
    for (const use of [
      store.get('x'),
      store.readEvents('x'),
      store.updateTitle('x', 't'),
      store.appendEvent('x', { type: 'error' }),
    ]) {
      await expect(use).rejects.toMatchObject({ code: 'PATH_REFUSED' });
    }
  });
});
