import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LogDamagedError, LogMissingError, SequenceExhaustedError, SessionExistsError } from '../../../src/index.js';
import { aLine, aMessage } from '../../support/event-builder.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

const payloadsOf = ({ root }: TempStore, id: string): readonly string[] =>
  readFileSync(join(root, id, 'events.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"session_child"'))
    .map((line) => line.slice(line.indexOf('"payload":')));
const idsIn = async ({ store }: TempStore): Promise<readonly string[]> =>
  (await store.list()).map(({ sessionId }) => sessionId).sort();

/** Gives a store in which a child was published and its parent not linked. */
async function withUnlinkedChild(): Promise<TempStore> {
  const store = tempStore(aSession().withMessages(2));
  const log = store.bytes('events.jsonl');
  const metadata = store.bytes('metadata.json');
  await store.store.createChild('s', { sessionId: 'c', agentName: 'review', prompt: 'Look' });
  writeFileSync(store.path('events.jsonl'), log);
  writeFileSync(store.path('metadata.json'), metadata);
  return store;
}

describe('making a child', () => {
  test('given no such parent and a child that cannot be, then the parent is told first', async () => {
    const { store } = tempStore();

    await expect(store.createChild('nobody', { sessionId: 'a/b', depth: -1 })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
  });

  test('then parent and child have the same link, byte for byte', async () => {
    const store = tempStore(aSession().withMessages(2));

    const child = await store.store.createChild('s', { sessionId: 'c', agentName: 'a <b>', prompt: ' é ' });

    expect(child).toMatchObject({ spawnedFromEventId: 's:2', spawnedFromSequence: 2, eventCount: 1 });
    expect(payloadsOf(store, 'c')).toHaveLength(1);
    expect(payloadsOf(store, 's')).toEqual(payloadsOf(store, 'c'));
  });

  test('given a torn tail in the parent, then it is sealed, and the link comes behind the whole events', async () => {
    const store = tempStore(aSession().withMessages(1).withTail('{"id":"s:2'));

    await store.store.createChild('s', { sessionId: 'c' });

    expect((await store.store.readEvents('s')).map(({ id }) => id)).toEqual(['s:1', 's:2']);
    expect((await store.store.get('c'))?.spawnedFromSequence).toBe(1);
  });

  test.each([
    ['whose last line is damaged', aSession().withMessages(1).withLine('{"broken'), LogDamagedError],
    ['whose log is gone', aSession().withMessages(1).withoutLog(), LogMissingError],
    [
      'that has used up its sequences',
      aSession().withLine(aLine({ sequence: Number.MAX_SAFE_INTEGER - 1 })),
      SequenceExhaustedError,
    ],
  ])('given a parent %s, then there is no child', async (_, parent, error) => {
    const store = tempStore(parent);

    await expect(store.store.createChild('s', { sessionId: 'c' })).rejects.toThrow(error);

    expect(await idsIn(store)).toEqual(['s']);
  });

  test('given the id of the parent, then it is in use', async () => {
    const store = tempStore(aSession().withMessages(1));

    await expect(store.store.createChild('s', { sessionId: 's' })).rejects.toThrow(SessionExistsError);
  });
});

describe('making a child again', () => {
  test('given that the parent was never linked, then it is linked now, and the child stays as it is', async () => {
    const store = await withUnlinkedChild();
    const log = readFileSync(join(store.root, 'c', 'events.jsonl'));
    store.clock.pass(5000);

    const child = await store.store.createChild('s', { sessionId: 'c', agentName: 'other' });

    expect(child.agentName).toBe('review');
    expect(readFileSync(join(store.root, 'c', 'events.jsonl'))).toEqual(log);
    expect(payloadsOf(store, 's')).toEqual(payloadsOf(store, 'c'));
    expect((await store.store.get('s'))?.eventCount).toBe(3);
  });

  test('given events that came into the parent meanwhile, then it is linked all the same', async () => {
    const store = await withUnlinkedChild();
    await store.store.appendEvent('s', aMessage('meanwhile'));

    await store.store.createChild('s', { sessionId: 'c' });

    expect(payloadsOf(store, 's')).toHaveLength(1);
  });

  test('given that the parent is linked, then the id is in use, and there is no second link', async () => {
    const store = await withUnlinkedChild();
    await store.store.createChild('s', { sessionId: 'c' });

    await expect(store.store.createChild('s', { sessionId: 'c' })).rejects.toThrow(SessionExistsError);

    expect(payloadsOf(store, 's')).toHaveLength(1);
  });

  test('given that a rewind dropped the link, then the id is in use, and the link stays dropped', async () => {
    const store = tempStore(aSession().withMessages(2));
    await store.store.createChild('s', { sessionId: 'c' });
    const marker = aLine({ sequence: 4, type: 'session_rewind', payload: '{"targetSequence":2}' });
    const kept = store.text('events.jsonl').split('\n').slice(0, 2);
    writeFileSync(store.path('events.jsonl'), `${[...kept, marker].join('\n')}\n`);

    await expect(store.store.createChild('s', { sessionId: 'c' })).rejects.toThrow(SessionExistsError);
    expect(payloadsOf(store, 's')).toEqual([]);
  });

  test.each([
    ['a child of another', aSession('c').withMetadata({ sessionKind: 'child', parentSessionId: 'x' }).withMessages(1)],
    ['a conversation', aSession('c').withMessages(1)],
    ['damaged', aSession('c').withMetadataText('nope')],
    ['a child without a link', aSession('c').withMetadata({ sessionKind: 'child', parentSessionId: 's' })],
    [
      'a child with a damaged log',
      aSession('c').withMetadata({ sessionKind: 'child', parentSessionId: 's' }).withLine('{"broken'),
    ],
  ])('given that the session with the id is %s, then the id is in use', async (_, other) => {
    const store = tempStore([aSession().withMessages(1), other]);
    const before = store.bytes('events.jsonl');

    await expect(store.store.createChild('s', { sessionId: 'c' })).rejects.toThrow(SessionExistsError);

    expect(store.bytes('events.jsonl')).toEqual(before);
  });
});

test('9, 19. given a disk that fails at any call, then a second try gives one child and one link', async () => {
  let tries = 0;
  for (let nth = 1; nth < 60; nth += 1) {
    const fileSystem = faultyFileSystem({ nth, as: nth % 2 === 0 ? 'half' : 'EIO' });
    const store = tempStore(aSession().withMessages(2), { fileSystem });

    const first = await store.store.createChild('s', { sessionId: 'c' }).catch(() => undefined);
    if (first === undefined) await store.store.createChild('s', { sessionId: 'c' }).catch(inUse);

    expect(await idsIn(store)).toEqual(['c', 's']);
    expect(payloadsOf(store, 's')).toEqual(payloadsOf(store, 'c'));
    expect(payloadsOf(store, 's')).toHaveLength(1);
    tries += 1;
    if (!fileSystem.hit) break;
  }
  expect(tries).toBeGreaterThan(10);
});

// The first call may have done all of it and have failed to tell.
function inUse(error: unknown): void {
  expect(error).toBeInstanceOf(SessionExistsError);
}
