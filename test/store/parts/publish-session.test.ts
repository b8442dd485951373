import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFile } from '../../../src/fs/durable-file.js';
import type { ErrorCode } from '../../../src/index.js';
import { parseSessionId } from '../../../src/model/ids.js';
import { newMetadataDocument } from '../../../src/model/metadata.js';
import { publishSession } from '../../../src/store/parts/publish-session.js';
import { type Fault, faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

const code = (expected: ErrorCode) => expect.objectContaining({ code: expected });

/** A folder that a create left behind, this long ago. */
function leftBehind({ root, clock }: TempStore, ageMs: number, names: readonly string[] = []): void {
  mkdirSync(join(root, 's'), { recursive: true });
  for (const name of names) writeFileSync(join(root, 's', name), 'left');
  const then = new Date(clock.now().getTime() - ageMs);
  utimesSync(join(root, 's'), then, then);
}

describe('a folder without metadata and log', () => {
  test.each([0, 59_000, 60_000])('given one that is %i ms old, then it is a claim on the id', async (ageMs) => {
    const temp = tempStore();
    leftBehind(temp, ageMs);

    await expect(temp.store.create({ sessionId: 's' })).rejects.toEqual(code('SESSION_EXISTS'));

    expect(temp.tree()).toEqual(['s']);
  });

  test.each([60_001, 86_400_000])('given one that is %i ms old, then the id is free again', async (ageMs) => {
    const temp = tempStore();
    leftBehind(temp, ageMs);

    await temp.store.create({ sessionId: 's' });

    expect(await temp.store.get('s')).toMatchObject({ sessionId: 's' });
  });

  test('given a lock file in it, then the id is free all the same, and nothing else is left', async () => {
    const temp = tempStore();
    leftBehind(temp, 3_600_000, ['session.lock']);

    await temp.store.create({ sessionId: 's' });

    expect(readdirSync(temp.root)).toEqual(['s']);
    expect(readdirSync(temp.path()).sort()).toEqual(['events.jsonl', 'metadata.json']);
  });

  test.each(['metadata.json', 'events.jsonl', 'checkpoints', 'notes.txt', 'events (conflicted copy).jsonl', '.zs'])(
    'finding 44: given %s in it, then it is never taken over',
    async (name) => {
      const temp = tempStore();
      leftBehind(temp, 86_400_000, [name]);
      const before = temp.tree();

      await expect(temp.store.create({ sessionId: 's' })).rejects.toEqual(code('SESSION_EXISTS'));

      expect(temp.tree()).toEqual(before);
    },
  );
});

describe('a session that appears', () => {
  test('given its files, then nobody sees the id before all of them are synced', async () => {
    const temp = tempStore(aSession('other'));
    const seen: boolean[] = [];

    publishSession(temp.deps, parseSessionId('s'), (hidden) => {
      seen.push(existsSync(join(temp.root, 's')));
      createFile(temp.deps.fs, hidden.events, Buffer.from('x'), 0o600);
      return newMetadataDocument({ sessionId: 's', createdAt: '', updatedAt: '', eventCount: 0 });
    });

    expect(seen).toEqual([false]);
    expect(temp.tree()).toEqual(expect.arrayContaining(['s/events.jsonl', 's/metadata.json']));
  });

  test('given work that fails, then nothing is left and the id is free', async () => {
    const temp = tempStore(aSession('other'));
    const before = temp.tree();

    expect(() =>
      publishSession(temp.deps, parseSessionId('s'), (hidden) => {
        createFile(temp.deps.fs, hidden.events, Buffer.from('x'), 0o600);
        throw new Error('no blobs');
      }),
    ).toThrow('no blobs');

    expect(temp.tree()).toEqual(before);
  });

  const faults: readonly Fault['as'][] = ['EIO', 'ENOSPC', 'half', 'short'];
  test.each(faults)(
    '19. given %s at any call, then there is the whole session or none, and no rest of it',
    async (as) => {
      for (let nth = 1; ; nth += 1) {
        const fileSystem = faultyFileSystem({ nth, as });
        const { store, root } = tempStore([], { fileSystem });
        const outcome = await store.create({ sessionId: 's' }).catch((error: unknown) => error as Error);
        if (!fileSystem.hit) break;

        const sound = tempStore([], { root });
        if (outcome instanceof Error) {
          const listed = await sound.store.listWithFaults();
          // The very last sync may fail after the rename: then all of it is there, and it is said that nobody knows.
          if (listed.sessions.length > 0) expect(outcome).toEqual(code('DURABILITY_UNKNOWN'));
          else await sound.store.create({ sessionId: 's' });
          expect(listed.unreadable).toEqual([]);
        }
        expect(await sound.store.readEvents('s')).toEqual([]);
        expect(sound.tree()).toEqual(['s', 's/events.jsonl', 's/metadata.json']);
      }
    },
  );

  test('3. given two who make the same id, then one of them does', async () => {
    const temp = tempStore();
    const other = tempStore([], { root: temp.root });

    const results = await Promise.allSettled([
      temp.store.create({ sessionId: 's' }),
      other.store.create({ sessionId: 's' }),
    ]);

    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(temp.tree()).toEqual(['s', 's/events.jsonl', 's/metadata.json']);
  });

  test('given somebody who claims the id while it is built, then theirs stays and nothing of ours is left', async () => {
    const temp = tempStore(aSession('other'));

    expect(() =>
      publishSession(temp.deps, parseSessionId('s'), () => {
        mkdirSync(join(temp.root, 's'));
        return newMetadataDocument({ sessionId: 's', createdAt: '', updatedAt: '', eventCount: 0 });
      }),
    ).toThrow(expect.objectContaining({ code: 'SESSION_EXISTS' }));

    expect(temp.tree().filter((name) => name.startsWith('.zs') || name.startsWith('s'))).toEqual(['s']);
  });
});
