import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/index.js';
import { random } from '../support/random.js';
import { type Outcome, type Racer, startRacer } from './race-actor.js';
import { readSessionStrictly, readStoreStrictly, realDisk } from './strict-reader.js';

const ROUNDS = 200;
const ROUNDS_AT_A_CLAIM = process.env.CRASH_RUN === 'long' ? 200 : 50;
/** Long enough for each process to be awake when it is time. */
const LEAD_MS = 8;

test('3. two processes of ours and a foreign creator make one id, 200 times: listed complete or not at all; exactly one winner', async () => {
  const choice = random(20260711);
  const folder = makeFolder();
  const racers = startRacers([
    ['ours', 'ours-1'],
    ['ours', 'ours-2'],
    ['foreign', 'foreign'],
  ]);
  await warmUp(folder, racers);
  const tally = new Tally();
  let ourBuildMs = 10;
  for (let round = 0; round < ROUNDS; round += 1) {
    const root = join(folder, `root-${round}`);
    // Every other time the root is made in the race, too.
    if (round % 2 === 0) mkdirSync(root);
    // Ours claims an id once all is built, so whoever claims it at once has to start later to meet it.
    const { outcomes, listings } = await race(root, racers, ({ kind }) =>
      kind === 'ours' ? (choice.below(100) / 100) * 0.5 * ourBuildMs : (choice.below(100) / 100) * 2.5 * ourBuildMs,
    );
    // Whoever of ours won, or lost at the claim, had built it all.
    const built = outcomes.filter(({ won, late }, at) => racers[at]?.kind === 'ours' && (won || late === true));
    for (const { tookMs } of built) ourBuildMs = 0.9 * ourBuildMs + 0.1 * tookMs;
    const winner = tally.add(racers, outcomes, listings);

    expect(losersCodes(racers, outcomes), `round ${round}`).toEqual([]);
    expect(listings.faults, `round ${round}`).toEqual([]);
    expect(readStoreStrictly(realDisk, root).map(({ id, metadata }) => [id, metadata.title])).toEqual([['s', winner]]);
    expect(readdirSync(root)).toEqual(['s']);
    expect(readdirSync(join(root, 's')).sort()).toEqual(['events.jsonl', 'metadata.json']);
  }
  tally.print('one id');

  expect(tally.rounds).toBe(ROUNDS);
  expect(tally.late).toBeGreaterThan(ROUNDS / 10);
});

test('3. two processes of ours and a foreign creator meet a claim that was left behind: exactly one of ours wins, and what it made stays', async () => {
  const choice = random(20260712);
  const folder = makeFolder();
  const racers = startRacers([
    ['ours', 'ours-1'],
    ['ours', 'ours-2'],
    ['foreign', 'foreign'],
  ]);
  await warmUp(folder, racers);
  const tally = new Tally();
  for (let round = 0; round < ROUNDS_AT_A_CLAIM; round += 1) {
    const root = join(folder, `root-${round}`);
    leaveClaimBehind(root, round % 2 === 0);
    const { outcomes, listings } = await race(root, racers, () => choice.below(100) / 100);
    const winner = tally.add(racers, outcomes, listings);

    expect(losersCodes(racers, outcomes), `round ${round}`).toEqual([]);
    expect(listings.faults, `round ${round}`).toEqual([]);
    expect(winner).toMatch(/^ours/);
    expect(readStoreStrictly(realDisk, root).map(({ id, metadata }) => [id, metadata.title])).toEqual([['s', winner]]);
  }
  tally.print('a claim left behind');
});

interface Listings {
  readonly count: number;
  /** How many of them showed the session. */
  readonly full: number;
  readonly faults: readonly string[];
}

/** Has all of them make one session at nearly one moment, and lists the store until they are done. */
async function race(
  root: string,
  racers: readonly Racer[],
  offsetMs: (racer: Racer) => number,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly listings: Listings }> {
  const moment = performance.timeOrigin + performance.now() + LEAD_MS;
  const runs = racers.map((racer) => racer.create(root, 's', moment + offsetMs(racer)));
  const all = Promise.all(runs);
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  all.then(over, over);
  const store = openStore({ root });
  const faults: string[] = [];
  let [count, full, shown] = [0, 0, ''];
  while (!isOver) {
    const { sessions, unreadable } = await store.listWithFaults();
    const title = sessions[0]?.title ?? '';
    faults.push(...unreadable.map(({ message }) => message));
    if (title !== '') faults.push(...halves(root, title));
    if (shown !== '' && title !== shown) faults.push(`listed as ${shown}, then as ${title}`);
    shown = title;
    count += 1;
    if (title !== '') full += 1;
    await turn();
  }
  return { outcomes: await all, listings: { count, full, faults } };
}

/** What is wrong with a session that is listed. The foreign creator puts its log behind its metadata. */
function halves(root: string, title: string): readonly string[] {
  try {
    const { metadata } = readSessionStrictly(realDisk, join(root, 's'), 's');
    const hasLog = title === 'foreign' || realDisk.bytes(join(root, 's', 'events.jsonl')) !== undefined;
    return [
      ...(metadata.title === title ? [] : [`listed as ${title}, is ${metadata.title}`]),
      ...(hasLog ? [] : [`${title} is listed without a log`]),
    ];
  } catch (error) {
    return [`${title} is listed, and then: ${(error as Error).message}`];
  }
}

/** Everything else than one winner and others who are told that the id is in use. */
function losersCodes(racers: readonly Racer[], outcomes: readonly Outcome[]): readonly string[] {
  const codes = outcomes.map(({ code }, at) => `${racers[at]?.kind} ${code}`);
  const strange = codes.filter((_, at) => outcomes[at]?.won === false).filter((code) => !EXPECTED.includes(code));
  const winners = outcomes.filter(({ won }) => won).length;
  return winners === 1 ? strange : [...strange, `${winners} winners`];
}
const EXPECTED = ['ours SESSION_EXISTS', 'foreign EEXIST'];

/** Counts who won, and how close the races were. */
class Tally {
  readonly #wins = new Map<string, number>();
  #listings = 0;
  #full = 0;
  rounds = 0;
  /** Races that one of ours lost only at its claim: another had come between its first look and that. */
  late = 0;

  /** @returns the name of the winner. */
  add(racers: readonly Racer[], outcomes: readonly Outcome[], listings: Listings): string {
    const winner = racers[outcomes.findIndex(({ won }) => won)]?.name ?? 'nobody';
    this.#wins.set(winner, (this.#wins.get(winner) ?? 0) + 1);
    this.#listings += listings.count;
    this.#full += listings.full;
    this.rounds += 1;
    if (outcomes.some(({ late }, at) => late === true && racers[at]?.kind === 'ours')) this.late += 1;
    return winner;
  }

  print(what: string): void {
    const wins = [...this.#wins].sort().map(([name, count]) => `${name} ${count}`);
    process.stdout.write(
      `\n${what}: ${this.rounds} rounds, won by ${wins.join(', ')}; ${this.late} lost at the claim; ` +
        `listed ${this.#listings} times meanwhile, ${this.#full} with the session\n`,
    );
  }
}

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'zs-race-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function startRacers(wanted: readonly (readonly [Racer['kind'], string])[]): readonly Racer[] {
  const racers = wanted.map(([kind, name]) => startRacer(kind, name));
  onTestFinished(async () => {
    await Promise.all(racers.map((racer) => racer.end()));
  });
  return racers;
}

/** The first call of a process is slow: each makes one session of its own. */
async function warmUp(folder: string, racers: readonly Racer[]): Promise<void> {
  for (const racer of racers) {
    expect(await racer.create(join(folder, 'warm'), racer.name, 0)).toMatchObject({ won: true });
  }
}

/** A folder that a create made two minutes ago and never filled. */
function leaveClaimBehind(root: string, hasLock: boolean): void {
  mkdirSync(join(root, 's'), { recursive: true });
  if (hasLock) writeFileSync(join(root, 's', 'session.lock'), '');
  const then = Date.now() / 1000 - 120;
  utimesSync(join(root, 's'), then, then);
}
