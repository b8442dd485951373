import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { random } from '../support/random.js';
import { type ActorRole, journalOf, type StoreActor, startActor } from './store-actor.js';
import { readSessionStrictly, readStoreStrictly, realDisk, type StrictSession } from './strict-reader.js';

const LONG = process.env.CRASH_RUN === 'long';

let folder: string;
let root: string;
let store: SessionStore;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-storm-')));
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  root = join(folder, 'sessions');
  store = openStore({ root, lockTimeoutMs: 60_000 });
});

interface Slot {
  readonly name: string;
  readonly role: ActorRole;
  readonly session: string;
}

const SLOTS: readonly Slot[] = [
  { name: 'appender-1', role: 'append', session: 'shared' },
  { name: 'appender-2', role: 'append', session: 'shared' },
  { name: 'foreigner', role: 'foreign', session: 'shared' },
  { name: 'forker', role: 'fork', session: 'stem' },
  { name: 'parent', role: 'child', session: 'trunk' },
  { name: 'rewinder', role: 'rewind', session: 'rewound' },
];

describe('processes killed at random', () => {
  test('14, 15. kills in appends, forks, children, rewinds and a foreign writer: nothing lost, no sequence twice', async () => {
    const kills = LONG ? 1000 : 60;
    await makeSessions();
    const hits = await storm(kills);
    const inside = [...hits.values()].reduce((total, count) => total + count, 0) - (hits.get('.') ?? 0);
    const sessions = readStoreStrictly(realDisk, root);
    const told = SLOTS.flatMap(({ name }) => journalOf(folder, name));
    const counts = [...hits].map(([letter, count]) => `${letter} ${count}`).join(', ');
    process.stdout.write(`\n${kills} kills (${counts}), ${told.length} acknowledged, ${sessions.length} sessions\n`);

    expect(lost(sessions)).toEqual([]);
    expect(halfForks(sessions)).toEqual([]);
    expect(linksOf(sessions)).toEqual([]);
    expect(inside / kills).toBeGreaterThan(0.3);
    expect(hits.get('r') ?? 0).toBeGreaterThanOrEqual(LONG ? 50 : 3);
    expect(told.length).toBeGreaterThan(kills);
  });

  test('27. four of ours and two foreign ones on one session: sequences without gap or repeat', async () => {
    const each = LONG ? 500 : 60;
    await store.create({ sessionId: 'shared' });
    const roles: readonly ActorRole[] = ['one', 'one', 'one', 'one', 'foreign', 'foreign'];
    const actors = await Promise.all(
      roles.map((role, at) => startActor(role, { root, session: 'shared', folder, name: `w${at}`, count: each })),
    );
    await Promise.all(actors.map((actor) => actor.done()));
    const [shared] = readStoreStrictly(realDisk, root) as [StrictSession];
    const told = roles.flatMap((_, at) => journalOf(folder, `w${at}`));

    expect(shared.events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: each * 6 }, (_, at) => at + 1));
    expect(shared.metadata.eventCount).toBe(each * 6);
    expect(new Set(told.map((each) => ('id' in each ? each.id : ''))).size).toBe(each * 6);
  });
});

describe('two sessions at once', () => {
  test('32. createChild, fork and ensureSpec crossed between two sessions: nobody waits for ever', async () => {
    await store.create({ sessionId: 'a' });
    await store.create({ sessionId: 'b' });
    const impatient = openStore({ root, lockTimeoutMs: 20_000 });
    const rounds = LONG ? 200 : 25;
    for (let round = 0; round < rounds; round += 1) {
      const specId = `p${round % 5}`;
      await Promise.all([
        impatient.createChild('a', { sessionId: `a-${round}` }),
        impatient.createChild('b', { sessionId: `b-${round}` }),
        impatient.fork('a', { sessionId: `fa-${round}` }),
        impatient.fork('b', { sessionId: `fb-${round}` }),
        impatient.ensureSpecImplementation({ specId, specSourceSessionId: 'a', prompt: 'build' }),
        impatient.ensureSpecImplementation({ specId, specSourceSessionId: 'b', prompt: 'build' }),
      ]);
    }
    const sessions = readStoreStrictly(realDisk, root);

    expect(sessions.filter(({ metadata }) => metadata.sessionKind === 'child')).toHaveLength(2 * rounds);
    expect(sessions.filter(({ metadata }) => metadata.sessionKind === 'spec-impl')).toHaveLength(2 * 5);
    expect(linksOf(sessions)).toEqual([]);
  });

  test('32. a spec whose source is its own implementation: an error', async () => {
    await store.create({ sessionId: 'x', sessionKind: 'spec-impl', specId: 'p', specSourceSessionId: 'x' });

    await expect(
      store.ensureSpecImplementation({ specId: 'p', specSourceSessionId: 'x', prompt: 'build' }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('33. forks while the parent is being rewound: every fork is whole', async () => {
    await store.create({ sessionId: 'rewound', cwd: join(folder, 'space-rewound') });
    const rewinder = await startActor('rewind', { root, session: 'rewound', folder, name: 'rewinder' });
    const rounds = LONG ? 150 : 20;
    for (let round = 0; round < rounds; round += 1) await store.fork('rewound');
    await rewinder.kill();
    const sessions = readStoreStrictly(realDisk, root);

    expect(sessions).toHaveLength(rounds + 1);
    expect(halfForks(sessions)).toEqual([]);
  });
});

async function makeSessions(): Promise<void> {
  await store.create({ sessionId: 'shared' });
  await store.create({ sessionId: 'trunk' });
  // Forks have a parent of their own: one that every child makes longer would have them copy ever more.
  await store.create({ sessionId: 'stem' });
  await store.appendEvents('stem', [aMessage('one'), aMessage('two'), aMessage('three')]);
  await store.appendEvents('trunk', [aMessage('one'), aMessage('two'), aMessage('three')]);
  await store.create({ sessionId: 'rewound', cwd: join(folder, 'space-rewound') });
}

/** Keeps one process in each slot, kills one at a time and starts another; gives how often each call was hit. */
async function storm(kills: number): Promise<ReadonlyMap<string, number>> {
  const choice = random(20260709);
  const hits = new Map<string, number>();
  const running = new Map<Slot, StoreActor>();
  const start = async (slot: Slot): Promise<void> => {
    running.set(slot, await startActor(slot.role, { root, session: slot.session, folder, name: slot.name }));
  };
  await Promise.all(SLOTS.map(start));
  for (let done = 0; done < kills; done += 1) {
    const slot = SLOTS[done % SLOTS.length] as Slot;
    await sleep(choice.below(30));
    const letter = await (running.get(slot) as StoreActor).kill();
    hits.set(letter, (hits.get(letter) ?? 0) + 1);
    if (slot.role === 'rewind') await checkRewound(letter);
    await start(slot);
  }
  for (const actor of running.values()) await actor.kill();
  await checkRewound('e');
  return hits;
}

/** After recovery the files of a rewind have one version, unless the process was killed while it edited them itself. */
async function checkRewound(letter: string): Promise<void> {
  await store.updateTitleIfCurrent('rewound', 'no such title', 'never');
  const { events } = readSessionStrictly(realDisk, join(root, 'rewound'), 'rewound');

  expect(events.filter(({ payload }) => JSON.stringify(payload)?.includes('rewind-intent'))).toEqual([]);

  if (letter !== 'r') return;
  const space = join(folder, 'space-rewound');
  const contents = ['one.txt', 'deep/two.txt', 'three.txt'].map((name) => readFileSync(join(space, name), 'utf8'));

  expect(new Set(contents).size).toBe(1);
}

/** Acknowledged events that are not in the log as they were acknowledged. */
function lost(sessions: readonly StrictSession[]): readonly unknown[] {
  const lines = new Map(sessions.flatMap(({ events }) => events.map(({ id, payload }) => [id, payload] as const)));
  return SLOTS.flatMap(({ name }) => journalOf(folder, name)).filter(
    (each) => 'id' in each && (lines.get(each.id) as { content?: string } | undefined)?.content !== each.content,
  );
}

/** Forks without their marker at the end, and acknowledged ones with another number of events. */
function halfForks(sessions: readonly StrictSession[]): readonly unknown[] {
  const forks = sessions.filter(({ metadata }) => metadata.sessionKind === 'fork');
  const told = journalOf(folder, 'forker').filter((each) => 'fork' in each);
  const counts = new Map(forks.map(({ id, events }) => [id, events.length]));
  return [
    ...forks.filter(({ events }) => events.at(-1)?.type !== 'session_fork'),
    ...told.filter(({ fork, events }) => counts.get(fork) !== events),
  ];
}

/** Links in parents to children that are not there, children linked twice, and acknowledged ones not linked. */
function linksOf(sessions: readonly StrictSession[]): readonly unknown[] {
  const children = new Set(sessions.filter(({ metadata }) => metadata.sessionKind === 'child').map(({ id }) => id));
  const linked = new Map<string, number>();
  for (const { id, metadata, events } of sessions) {
    if (metadata.sessionKind !== undefined) continue;
    for (const { type, payload } of events) {
      if (type !== 'session_child') continue;
      const child = (payload as { childSessionId: string }).childSessionId;
      linked.set(child, (linked.get(child) ?? 0) + 1);
      if (!children.has(child)) linked.set(`${id} names ${child}`, 2);
    }
  }
  const told = journalOf(folder, 'parent').flatMap((each) => ('child' in each ? [each.child] : []));
  return [...[...linked].filter(([, count]) => count !== 1), ...told.filter((child) => linked.get(child) !== 1)];
}
