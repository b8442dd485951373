import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { LockProvider } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const wish = { specId: 'x', specSourceSessionId: 's', prompt: 'Implement it.' };
const implementation = (id: string) =>
  aSession(id).withMetadata({ sessionKind: 'spec-impl', specId: 'x', specSourceSessionId: 's' });

/** Locks of one process that notice when a session is held while another is taken, and wait for ever for none. */
function watchedLocks(): LockProvider & { readonly held: Set<string>; readonly taken: string[] } {
  const held = new Set<string>();
  const taken: string[] = [];
  return {
    held,
    taken,
    async withLock(id, _folder, work) {
      if (held.size > 0) throw new Error(`${id} is wanted while ${[...held].join()} is held`);
      held.add(id);
      taken.push(id);
      try {
        return await work({ assertHeld: () => {}, appendOnly: undefined });
      } finally {
        held.delete(id);
      }
    },
  };
}

describe('looking for the implementation of a spec', () => {
  test.each([
    ['x', ''],
    ['x', ' \u00a0'],
    ['', 'bad id!'],
    [' ', '../d'],
  ])(
    'finding 30: given the spec %j and the source %j, then there is none, and nothing is judged',
    async (spec, source) => {
      const { store } = tempStore(aSession('d'));

      expect(await store.findSpecImplementation(spec, source)).toBeNull();
    },
  );

  test('given a malformed source beside a spec, then it is refused', async () => {
    const { store } = tempStore(aSession('d'));

    await expect(store.findSpecImplementation('x', 'bad id!')).rejects.toMatchObject({ code: 'INVALID_ID' });
  });
});

describe('recording a spec', () => {
  test('given a log that cannot be written, then the status stays', async () => {
    const fileSystem = faultyFileSystem({ on: 'write', nth: 1, as: 'ENOSPC' });
    const { store, id } = tempStore(aSession().withMetadata({ specStatus: 'draft' }), { fileSystem });

    await expect(store.recordSpec(id, { specStatus: 'approved' })).rejects.toMatchObject({ code: 'SYSTEM' });

    expect((await store.get(id))?.specStatus).toBe('draft');
  });

  test('given a crash between event and metadata, then the next writing command carries the status over', async () => {
    const fileSystem = faultyFileSystem({ on: 'rename', nth: 1, as: 'EIO' });
    const { store, id } = tempStore(aSession().withMetadata({ specStatus: 'draft' }), { fileSystem });
    await store.recordSpec(id, { specStatus: 'approved', specUserComment: 'go' });

    await store.appendEvent(id, aMessage());

    expect(await store.get(id)).toMatchObject({ specStatus: 'approved', specUserComment: 'go' });
  });

  test('given members that we do not know, then they stay', async () => {
    const { store, id, text } = tempStore(aSession().withMetadata({ zest: [1] }));

    await store.recordSpec(id, { specStatus: 'draft' });

    expect(JSON.parse(text('metadata.json'))).toMatchObject({ specStatus: 'draft', zest: [1] });
  });
});

describe('the implementation of a spec', () => {
  test('given none, then it appears whole, with its prompt, and the source keeps its bytes', async () => {
    const { store, id, bytes, text } = tempStore(aSession().withMetadata({ rootSessionId: 'r' }).withTail('{"torn'));
    const before = [bytes('events.jsonl'), text('metadata.json')];

    const { session, events } = await store.ensureSpecImplementation(wish);

    expect(session).toMatchObject({ sessionKind: 'spec-impl', parentSessionId: id, rootSessionId: 'r', eventCount: 1 });
    expect(events).toHaveLength(1);
    expect([bytes('events.jsonl'), text('metadata.json')]).toEqual(before);
  });

  test('given a publishing that fails, then none is listed and the retry makes one', async () => {
    const fileSystem = faultyFileSystem({ on: 'rename', nth: 1, as: 'EIO' });
    const { store } = tempStore(aSession(), { fileSystem });

    await expect(store.ensureSpecImplementation(wish)).rejects.toMatchObject({ code: 'SYSTEM' });
    expect(await store.findSpecImplementation('x', 's')).toBeNull();

    expect((await store.ensureSpecImplementation(wish)).events).toHaveLength(1);
    expect(await store.list()).toHaveLength(2);
  });

  test('given one without the prompt, then the source is let go before it is written to', async () => {
    const locks = watchedLocks();
    const { store } = tempStore([aSession(), implementation('i')], { locks });

    const { events } = await store.ensureSpecImplementation(wish);

    expect(events.map(({ id }) => id)).toEqual(['i:1']);
    expect(locks.taken).toEqual(['s', 'i']);
  });

  test('given two calls at once, then there is one, with one prompt', async () => {
    let last: Promise<unknown> = Promise.resolve();
    const locks: LockProvider = {
      withLock: (_id, _folder, work) => {
        const turn = last.then(() => work({ assertHeld: () => {}, appendOnly: undefined }));
        last = turn.catch(() => {});
        return turn;
      },
    };
    const { store } = tempStore(aSession(), { locks });

    const [one, two] = await Promise.all([store.ensureSpecImplementation(wish), store.ensureSpecImplementation(wish)]);

    expect(two.session.sessionId).toBe(one.session.sessionId);
    expect(two.events).toHaveLength(1);
  });

  test('32. given a session that is its own source, then it is an error and nothing waits or is written', async () => {
    const own = implementation('s');
    const { store, text } = tempStore(own, { locks: watchedLocks() });
    const before = text('metadata.json');

    await expect(store.ensureSpecImplementation(wish)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });

    expect(text('metadata.json')).toBe(before);
  });

  test('given a spec of the same name from another source, then it is not taken for this one', async () => {
    const other = aSession('o').withMetadata({
      sessionKind: 'spec-impl',
      specId: 'x',
      specSourceSessionId: 'elsewhere',
    });
    const { store, root } = tempStore([aSession(), other]);
    mkdirSync(`${root}/damaged`);
    writeFileSync(`${root}/damaged/metadata.json`, '{');

    expect(await store.findSpecImplementation(' x ', ' s ')).toBeNull();
    expect(await store.findSpecImplementation('x', 'elsewhere')).toMatchObject({ sessionId: 'o' });
  });
});
