import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../src/fs/file-system.js';
import type { SessionStore } from '../../src/index.js';
import { createSession } from '../../src/store/operations/create-session.js';
import { aSession, type SessionBuilder } from '../support/session-builder.js';
import { laySession, type TempStore, tempStore } from '../support/temp-store.js';
import { createAsForeigner } from './foreign-writer.mjs';
import { readStoreStrictly, realDisk } from './strict-reader.js';

/** The file system of the machine; just before one of its calls, counted from 1, somebody else does something. */
interface Interrupted extends FileSystem {
  /** Whether it came to that call. */
  readonly met: boolean;
}

function interrupted(nth: number, somebodyElse: () => void): Interrupted {
  let calls = 0;
  const before =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      calls += 1;
      if (calls === nth) somebodyElse();
      return call(...args);
    };
  const entries = Object.entries(nodeFileSystem).map(([name, call]) => [name, before(call)]);
  return {
    ...(Object.fromEntries(entries) as FileSystem),
    get met() {
      return calls >= nth;
    },
  };
}

/** A folder that is two minutes old and has no session in it. */
function claimLeftBehind({ root, clock }: TempStore, names: readonly string[]): void {
  mkdirSync(join(root, 's'), { recursive: true });
  for (const name of names) writeFileSync(join(root, 's', name), 'left');
  const then = new Date(clock.now().getTime() - 120_000);
  utimesSync(join(root, 's'), then, then);
}

const FOUND: readonly { readonly what: string; readonly lay: (temp: TempStore) => void }[] = [
  { what: 'nothing', lay: () => {} },
  { what: 'an empty claim left behind', lay: (temp) => claimLeftBehind(temp, []) },
  { what: 'a claim left behind with a lock file in it', lay: (temp) => claimLeftBehind(temp, ['session.lock']) },
];

const OTHERS: readonly { readonly who: string; readonly create: (temp: TempStore) => void }[] = [
  { who: 'another of ours', create: (temp) => void createSession(temp.deps, { sessionId: 's', title: 'theirs' }) },
  { who: 'a foreign program', create: ({ root }) => createAsForeigner(root, 's', 'theirs') },
];

describe('somebody else makes the same id, at each call of ours', () => {
  for (const { what, lay } of FOUND) {
    test.each(OTHERS)(`3. given ${what} and $who, then one wins and the other is told`, async ({ create }) => {
      const wins = { ours: 0, theirs: 0 };
      for (let nth = 1; ; nth += 1) {
        const temp = tempStore();
        lay(temp);
        let theirs: unknown = 'made';
        const fileSystem = interrupted(nth, () => {
          try {
            create(temp);
          } catch (error) {
            theirs = (error as { code?: unknown }).code;
          }
        });
        const { store } = tempStore([], { root: temp.root, now: temp.clock.now, fileSystem });
        const made = store.create({ sessionId: 's', title: 'ours' });
        const ours = await made.then(
          () => 'made',
          (error: { code?: unknown }) => error.code,
        );
        if (!fileSystem.met) break;
        const [session] = readStoreStrictly(realDisk, temp.root);
        const winner = ours === 'made' ? 'ours' : 'theirs';
        wins[winner] += 1;

        expect([ours, theirs], `at call ${nth}`).toEqual(
          winner === 'ours' ? ['made', expect.stringMatching(/EXIST/)] : ['SESSION_EXISTS', 'made'],
        );
        expect(session?.metadata.title).toBe(winner);
        expect(temp.tree().filter((name) => name.startsWith('.zs-new-'))).toEqual([]);
      }

      expect(wins.ours).toBeGreaterThan(0);
      // A foreign program never takes over a folder that is there.
      if (create !== OTHERS[1]?.create || what === 'nothing') expect(wins.theirs).toBeGreaterThan(0);
    });
  }

  test('3. given a foreign program that has claimed the id and not yet filled it, then it wins', async () => {
    let claimed = 0;
    for (let nth = 1; ; nth += 1) {
      const temp = tempStore();
      let isTheirs = false;
      const fileSystem = interrupted(nth, () => {
        mkdirSync(temp.root, { recursive: true });
        try {
          mkdirSync(join(temp.root, 's'));
          isTheirs = true;
        } catch {
          // Ours was there before.
        }
      });
      const { store } = tempStore([], { root: temp.root, fileSystem });
      const outcome = await store.create({ sessionId: 's' }).catch((error: unknown) => error);
      if (!fileSystem.met) break;
      if (isTheirs) claimed += 1;

      expect(outcome, `at call ${nth}`).toMatchObject(isTheirs ? { code: 'SESSION_EXISTS' } : { sessionId: 's' });
      if (isTheirs) expect(temp.tree()).toEqual(['s']);
    }

    expect(claimed).toBeGreaterThan(3);
  });
});

describe('somebody makes a session while it is looked for', () => {
  const LOOKS: readonly { readonly how: string; readonly look: (store: SessionStore) => Promise<unknown> }[] = [
    { how: 'list', look: (store) => store.list() },
    { how: 'listWithFaults', look: async (store) => (await store.listWithFaults()).unreadable },
    { how: 'get', look: (store) => store.get('s') },
    { how: 'readEvents', look: (store) => store.readEvents('s') },
    { how: 'lineage', look: (store) => store.lineage('s') },
    { how: 'tree', look: (store) => store.tree('s') },
    { how: 'execContext', look: (store) => store.execContext('s') },
    { how: 'resume', look: async (store) => (await store.prepareExec({ resume: 's' })).session },
  ];
  /** What each gives before there is a session, and what it gives then. */
  const answers = async (look: (store: SessionStore) => Promise<unknown>, laid: readonly SessionBuilder[]) =>
    look(tempStore(laid).store).catch((error: { code?: unknown }) => error.code);

  test.each(LOOKS)('3. given its claim, then $how finds it whole or not at all', async ({ look }) => {
    const expected = await Promise.all([answers(look, []), answers(look, [aSession().withMessages(2)])]);
    let looks = 0;
    for (;;) {
      const temp = tempStore();
      mkdirSync(join(temp.root, 's'), { recursive: true });
      const fileSystem = interrupted(looks + 1, () => {
        // The rename of whoever has claimed it.
        nodeFileSystem.rmdir(join(temp.root, 's'));
        laySession(temp.root, aSession().withMessages(2));
      });
      const { store } = tempStore([], { root: temp.root, fileSystem });
      const found = await look(store).catch((error: { code?: unknown }) => error.code);
      if (!fileSystem.met) break;
      looks += 1;

      expect(expected, `at call ${looks}`).toContainEqual(found);
    }

    expect(looks).toBeGreaterThan(1);
  });
});
