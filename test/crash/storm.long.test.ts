import { lstatSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { random } from '../support/random.js';
import { faultsAfterCall, faultsAfterRewind, faultsAtRest, STAGES, type Stage, stageOf } from './rewound-session.js';
import { type Acknowledged, type ActorRole, type Hit, journalOf, type StoreActor, startActor } from './store-actor.js';
import { readStoreStrictly, realDisk, type StrictSession } from './strict-reader.js';

const LONG = process.env.CRASH_RUN === 'long';
const KILLS = LONG ? 1000 : 63;
/** In which it is seen how long the calls take here. */
const WARM_UP_MS = 3000;
const STORM_TIMEOUT_MS = 3_000_000;

let folder: string;
let root: string;
let store: SessionStore;

function makeFolder(): void {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-storm-')));
  root = join(folder, 'sessions');
  store = openStore({ root, lockTimeoutMs: 60_000 });
}

interface Slot {
  readonly name: string;
  readonly role: ActorRole;
  readonly session: string;
  /** The calls that it is killed in. */
  readonly calls: string;
  /** Works on another session every few lives, so that no log grows for ever. */
  readonly moves?: boolean;
}

const SLOTS: readonly Slot[] = [
  { name: 'appender-1', role: 'append', session: 'shared', calls: 'a' },
  { name: 'appender-2', role: 'append', session: 'shared', calls: 'a' },
  { name: 'foreigner-1', role: 'foreign', session: 'shared', calls: 'a' },
  { name: 'forker', role: 'fork', session: 'stem', calls: 'f' },
  { name: 'parent', role: 'child', session: 'trunk', calls: 'c' },
  { name: 'foreigner-2', role: 'foreign', session: 'trunk', calls: 'a' },
  { name: 'rewinder', role: 'rewind', session: 'rewound', calls: 'rrru', moves: true },
  { name: 'undoer', role: 'undo', session: 'undone', calls: 'ruuu', moves: true },
  { name: 'jack', role: 'various', session: 'various', calls: 'tmasgpx', moves: true },
];
const LIVES_IN_ONE_SESSION = 5;

/** One kill: where it hit, and what was wrong after recovery. */
interface Kill {
  readonly slot: Slot;
  readonly hit: Hit;
  readonly stage?: Stage | undefined;
  readonly faults: readonly string[];
}

describe('processes killed at random', () => {
  let kills: readonly Kill[];
  let sessions: readonly StrictSession[];

  beforeAll(async () => {
    makeFolder();
    await makeSessions();
    kills = await storm(KILLS);
    sessions = readStoreStrictly(realDisk, root);
    printKills(kills, sessions.length);
  }, STORM_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('14. appends, forks, children, rewinds and foreign writers: nothing acknowledged is lost, no sequence twice', () => {
    expect(lost(journals(), sessions)).toEqual([]);
    expect(halfForks(sessions)).toEqual([]);
    expect(linksOf(sessions)).toEqual([]);
    expect(journals().length).toBeGreaterThan(kills.length);
  });

  test('14. at least 30 % of many kills hit a call past its lock, after its first write', () => {
    expect(kills).toHaveLength(KILLS);
    expect(kills.filter(isWriting).length / kills.length).toBeGreaterThan(LONG ? 0.3 : 0.15);
  });

  test('15. kills inside rewinds and undos: files and log all old or all new after recovery, and nothing is left over', () => {
    expect(
      kills.flatMap(({ slot, hit, faults }) => faults.map((fault) => `${slot.name} ${hit.letter}: ${fault}`)),
    ).toEqual([]);

    const inside = kills.filter(isWriting).map(({ hit }) => hit.letter);
    const [rewinds, undos] = ['r', 'u'].map((wanted) => inside.filter((letter) => letter === wanted).length);
    expect(rewinds).toBeGreaterThanOrEqual(LONG ? 50 : 1);
    expect(undos).toBeGreaterThanOrEqual(LONG ? 50 : 1);
  });

  test('28. any command, also killed: session.lock is a file, ever; a foreign program appends during, and after, to all', async () => {
    expect(journalOf(folder, 'foreigner-1').length).toBeGreaterThan(0);
    expect(journalOf(folder, 'foreigner-2').length).toBeGreaterThan(0);

    const foreigner = await startActor('everywhere', { root, session: '', folder, name: 'everywhere', count: 1 });
    await foreigner.done();
    const lasts = readStoreStrictly(realDisk, root).map(({ events }) => events.at(-1)?.payload);

    expect(lasts).toHaveLength(sessions.length);
    expect(lasts.filter((payload) => !JSON.stringify(payload).includes('everywhere'))).toEqual([]);
    expect(locksIn(root).filter((path) => !lstatSync(path).isFile())).toEqual([]);
    expect(locksIn(root)).toHaveLength(sessions.length);
  });
});

describe('processes side by side', () => {
  beforeEach(makeFolderForOne);

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
    expect(lost(told, [shared])).toEqual([]);
  });
});

describe('two sessions at once', () => {
  beforeEach(makeFolderForOne);

  /** Each is the implementation of a spec of the other: whoever held one and waited for the other would meet his like. */
  async function makeCrossed(): Promise<void> {
    const spec = { sessionKind: 'spec-impl', specId: 'p' };
    await store.create({ ...spec, sessionId: 'a', specSourceSessionId: 'b' });
    await store.create({ ...spec, sessionId: 'b', specSourceSessionId: 'a' });
  }

  /** What each of two sessions has to hold after so many rounds. */
  function expectCrossed(rounds: number): void {
    const sessions = readStoreStrictly(realDisk, root);
    const kinds = (kind: string) => sessions.filter(({ metadata }) => metadata.sessionKind === kind);
    const prompts = kinds('spec-impl').map(({ events }) => {
      const messages = events.filter(({ type }) => type === 'message');
      return new Set(messages.map(({ payload }) => JSON.stringify(payload))).size;
    });

    expect(kinds('child')).toHaveLength(2 * rounds);
    expect(kinds('fork')).toHaveLength(2 * rounds);
    expect(prompts).toEqual([rounds, rounds]);
    expect(linksOf(sessions)).toEqual([]);
  }

  test('32. createChild, fork and ensureSpec crossed between two sessions by four processes: nobody waits for ever', async () => {
    const each = LONG ? 200 : 15;
    await makeCrossed();
    const actors = await Promise.all(
      ['a', 'b', 'a', 'b'].map((session, at) =>
        startActor('crossed', { root, session, folder, name: `crossed-${at}`, count: each }),
      ),
    );
    await Promise.all(actors.map((actor) => actor.done()));

    expectCrossed(2 * each);
  });

  test('32. createChild, fork and ensureSpec crossed between two sessions in one process: nobody waits for ever', async () => {
    const rounds = LONG ? 200 : 15;
    await makeCrossed();
    const impatient = openStore({ root, lockTimeoutMs: 20_000 });
    for (let round = 0; round < rounds; round += 1) {
      const spec = { specId: 'p', prompt: `build ${round}` };
      await Promise.all([
        impatient.createChild('a'),
        impatient.createChild('b'),
        impatient.fork('a'),
        impatient.fork('b'),
        impatient.ensureSpecImplementation({ ...spec, specSourceSessionId: 'a' }),
        impatient.ensureSpecImplementation({ ...spec, specSourceSessionId: 'b' }),
      ]);
    }

    expectCrossed(rounds);
  });

  test('32. a spec whose source is its own implementation: an error', async () => {
    await store.create({ sessionId: 'x', sessionKind: 'spec-impl', specId: 'p', specSourceSessionId: 'x' });

    await expect(
      store.ensureSpecImplementation({ specId: 'p', specSourceSessionId: 'x', prompt: 'build' }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  test('33. forks while the parent is being rewound: every fork is whole', async () => {
    const choice = random(20260713);
    await store.create({ sessionId: 'rewound', cwd: join(folder, 'space-rewound') });
    const rewinder = await startActor('rewind', { root, session: 'rewound', folder, name: 'rewinder' });
    const rounds = LONG ? 150 : 12;
    for (let round = 0; round < rounds; round += 1) {
      await rewinder.within(choice.pick(['r', 'u']), choice.pick(['start', 'lock']), choice.below(1000) / 1000);
      await store.fork('rewound');
    }
    await rewinder.kill();
    const sessions = readStoreStrictly(realDisk, root);
    const forks = sessions.filter(({ metadata }) => metadata.sessionKind === 'fork');
    const texts = forks.map(({ events }) => JSON.stringify(events));

    expect(forks).toHaveLength(rounds);
    expect(halfForks(sessions)).toEqual([]);
    expect(texts.filter((text) => text.includes('rewind-intent'))).toEqual([]);
  });
});

async function makeSessions(): Promise<void> {
  await store.create({ sessionId: 'shared' });
  await store.create({ sessionId: 'trunk' });
  // Forks have a parent of their own: one that every child makes longer would have them copy ever more.
  await store.create({ sessionId: 'stem' });
  await store.appendEvents('stem', [aMessage('one'), aMessage('two'), aMessage('three')]);
  await store.appendEvents('trunk', [aMessage('one'), aMessage('two'), aMessage('three')]);
}

/** Keeps one process in each slot, kills one at a time and starts another. */
async function storm(count: number): Promise<readonly Kill[]> {
  const choice = random(20260709);
  const kills: Kill[] = [];
  const lives = SLOTS.map((slot) => new Lives(slot));
  await sleep(WARM_UP_MS);
  for (let done = 0; done < count; done += 1) {
    const life = lives[done % lives.length] as Lives;
    const actor = await life.actor;
    // At any moment of all; or at any moment of a call, from its start or from its lock to a little beyond its end.
    const from = choice.pick(['anywhere', 'start', 'lock', 'lock'] as const);
    if (from === 'anywhere') await sleep(choice.below(60));
    else await actor.within(choice.pick([...life.slot.calls]), from, choice.below(1000) / 900);
    kills.push(await life.end());
    life.begin();
  }
  for (const life of lives) expect((await life.end()).faults).toEqual([]);
  return kills;
}

/** The processes of one slot, one after the other. */
class Lives {
  readonly slot: Slot;
  #count = 0;
  #session = '';
  #actor: Promise<StoreActor>;

  constructor(slot: Slot) {
    this.slot = slot;
    this.#actor = this.#start();
  }

  /** The process that is alive now, once it is at work. */
  get actor(): Promise<StoreActor> {
    return this.#actor;
  }

  begin(): void {
    this.#actor = this.#start();
  }

  async end(): Promise<Kill> {
    const actor = await this.#actor;
    return judge(this.slot, this.#session, await actor.kill());
  }

  async #start(): Promise<StoreActor> {
    const { role, session, name, moves = false } = this.slot;
    this.#session = moves ? `${session}-${Math.floor(this.#count / LIVES_IN_ONE_SESSION)}` : session;
    if (moves && this.#count % LIVES_IN_ONE_SESSION === 0) await makeMoved(this.#session);
    this.#count += 1;
    return startActor(role, { root, session: this.#session, folder, name });
  }
}

/** Looks how far a killed call had come, has it recovered by the next command, and looks what is wrong then. */
async function judge(slot: Slot, session: string, hit: Hit): Promise<Kill> {
  const lock = lstatSync(join(root, session, 'session.lock'), { throwIfNoEntry: false });
  const lockFaults = lock?.isFile() === false ? ['session.lock is no file'] : [];
  if (slot.role !== 'rewind' && slot.role !== 'undo') return { slot, hit, faults: lockFaults };
  const place = { root, session, workspace: join(folder, `space-${session}`) };
  const isInside = hit.letter === 'r' || hit.letter === 'u';
  const logBefore = isInside ? readFileSync(join(folder, `${slot.name}.state.before`)) : Buffer.alloc(0);
  const stage = isInside ? stageOf(place, logBefore) : undefined;
  await recoverByNextCommand(session);
  const faults = isInside
    ? faultsAfterRewind(place, logBefore)
    : hit.letter === 'e'
      ? faultsAtRest(place)
      : faultsAfterCall(place);
  return { slot, hit, stage, faults: [...lockFaults, ...faults] };
}

async function recoverByNextCommand(session: string): Promise<void> {
  await store.updateTitleIfCurrent(session, 'no such title', 'never');
}

/** Whether a kill hit a call of the store under its lock, once it had begun to change or to sync something. */
function isWriting({ hit }: Kill): boolean {
  return hit.changes > 0;
}

function printKills(kills: readonly Kill[], sessions: number): void {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const tally = (some: readonly Kill[]): string => {
    const writing = some.filter(isWriting).length;
    const between = some.filter(({ hit }) => '.e'.includes(hit.letter)).length;
    return `${between} between calls, ${some.length - writing - between} waiting or reading, ${writing} writing`;
  };
  say(`\n${kills.length} kills, ${journals().length} acknowledged, ${sessions} sessions`);
  say(`  all: ${tally(kills)} (${Math.round((100 * kills.filter(isWriting).length) / kills.length)} %)`);
  for (const role of new Set(SLOTS.map((slot) => slot.role))) {
    say(`  ${role}: ${tally(kills.filter(({ slot }) => slot.role === role))}`);
  }
  for (const [letter, name] of [
    ['r', 'rewinds'],
    ['u', 'undos'],
  ] as const) {
    const inside = kills.filter((kill) => isWriting(kill) && kill.hit.letter === letter);
    const places = new Set(inside.map(({ hit }) => hit.changes));
    const stages = STAGES.map((stage) => `${stage} ${inside.filter((kill) => kill.stage === stage).length}`);
    say(`  inside ${name}, past the lock: ${inside.length}, at ${places.size} different calls: ${stages.join(', ')}`);
  }
}

function makeFolderForOne(): void {
  makeFolder();
  const made = folder;
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
}

async function makeMoved(session: string): Promise<void> {
  await store.create({ sessionId: session, cwd: join(folder, `space-${session}`) });
}

function journals(): readonly Acknowledged[] {
  return SLOTS.flatMap(({ name }) => journalOf(folder, name));
}

/** Paths of everything that is called session.lock, anywhere in a store. */
function locksIn(path: string): readonly string[] {
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('session.lock')).map((name) => join(path, name));
}

/** Acknowledged events that are not in the log as they were acknowledged. */
function lost(told: readonly Acknowledged[], sessions: readonly StrictSession[]): readonly unknown[] {
  const lines = new Map(sessions.flatMap(({ events }) => events.map(({ id, payload }) => [id, payload] as const)));
  return told.filter(
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
    // A child has the link to itself, and a fork those of its parent.
    if (metadata.sessionKind === 'child' || metadata.sessionKind === 'fork') continue;
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
