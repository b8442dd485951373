import { createHash } from 'node:crypto';
import { existsSync, lstatSync, lutimesSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ZeroSessionsError } from '../../src/index.js';
import {
  appendEventsAsForeigner,
  forkAsForeigner,
  rewindAsForeigner,
  snapshotAsForeigner,
} from '../crash/foreign-writer.mjs';
import { type Random, random } from '../support/random.js';
import { type Content, type TempWorkspace, tempWorkspace } from '../support/temp-workspace.js';
import { unsyncedFileSystem } from '../support/unsynced-file-system.js';

const PATHS = ['a', 'b', 'd/x', 'd/e/y', 'made/here'] as const;
const TEXTS = ['', 'one', 'two', 'three', 'four\nlines\n'] as const;

/** What a step may be refused with; it changes nothing then. */
const REFUSALS = new Set(['INCOMPLETE', 'CONFLICT', 'STALE_PLAN', 'GOAL_EXISTS', 'GOAL_NOT_FOUND', 'LOG_DAMAGED']);

/** What there was before a rewind, a restore or an undo. */
interface Moment {
  readonly files: readonly string[];
  readonly log: string;
}

/** What became of the steps of some lives: how often each was done, refused, or had nothing to do. */
export type Tally = Map<string, number>;

/** A session that lives through random steps, with everything that was ever said to be written. */
export class Life {
  readonly temp: TempWorkspace;
  readonly dice: Random;
  readonly tally: Tally;
  /** The steps so far, for the message of a failure. */
  readonly steps: string[] = [];
  readonly moments = new Map<string, Moment>();
  /** The lines of each session that have to be in its log or in a kept one. */
  readonly #lines = new Map<string, Set<string>>();
  readonly #forks: string[] = [];

  private constructor(temp: TempWorkspace, dice: Random, tally: Tally) {
    this.temp = temp;
    this.dice = dice;
    this.tally = tally;
  }

  static async begin(seed: number, tally: Tally): Promise<Life> {
    const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
    temp.put({ a: 'a0', 'd/x': 'x0' });
    const life = new Life(temp, random(seed), tally);
    await temp.say();
    life.#look();
    return life;
  }

  /** Takes a step of ours. */
  async step(): Promise<void> {
    await this.#take(this.dice.pick(OUR_STEPS));
  }

  /** Takes a step of ours, or one of a foreign program. */
  async stepBesideForeigner(): Promise<void> {
    await this.#take(this.dice.chance(0.35) ? this.dice.pick(FOREIGN_STEPS) : this.dice.pick(OUR_STEPS));
  }

  /** Rewinds to anywhere. @returns its id, or undefined where nothing was to be done. */
  async rewindNow(): Promise<string | undefined> {
    const known = new Set(this.moments.keys());
    await this.#take(rewind);
    return [...this.moments.keys()].find((id) => !known.has(id));
  }

  /** Undoes a record and holds files and log to what there was before it. */
  async undoTo(rewindId: string): Promise<void> {
    const then = this.moments.get(rewindId) as Moment;
    const before = this.temp.log();
    await this.temp.store.undoRewind('s', { rewindId });
    expect(onlyFiles(this.temp.files())).toEqual(onlyFiles(then.files));
    const lines = linesOf(this.temp.log());
    // Its marker stands at the end, but where there was nothing to do.
    expect(this.temp.log() === before ? lines : lines.slice(0, -1)).toEqual(linesOf(then.log));
    this.#look();
  }

  async #take(step: Step): Promise<void> {
    this.steps.push(step.name);
    const { temp } = this;
    temp.clock.pass(1000);
    const before: Moment = { files: temp.files(), log: temp.log() };
    const known = new Set(this.keptIds());
    const outcome = await this.#outcome(step);
    this.tally.set(`${step.name} ${outcome}`, (this.tally.get(`${step.name} ${outcome}`) ?? 0) + 1);
    for (const id of this.keptIds()) if (!known.has(id)) this.moments.set(id, before);
    this.#look();
    this.#check();
  }

  async #outcome(step: Step): Promise<string> {
    const { temp } = this;
    const before = temp.everything();
    try {
      return (await step.take(this)) === false ? 'idle' : 'done';
    } catch (error) {
      const { code } = error as ZeroSessionsError;
      if (!REFUSALS.has(code)) throw error;
      // Blobs may be more: a rewind that is refused late has stored what there was.
      const { blobs: _, ...after } = temp.everything() as Record<string, unknown>;
      const { blobs: __, ...then } = before as Record<string, unknown>;
      expect(after).toEqual(then);
      return code;
    }
  }

  /** Gives a sequence of the log, or 0. */
  anywhere(): number {
    return this.dice.pick([0, ...this.temp.sequences()]);
  }

  keptIds(): readonly string[] {
    const folder = this.temp.path('.zs/kept');
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  newFork(): string {
    const id = `fork-${this.#forks.length + 1}`;
    this.#forks.push(id);
    return id;
  }

  forks(): readonly string[] {
    return this.#forks.filter((id) => existsSync(join(this.temp.root, id)));
  }

  /** Forgets the lines that a foreign rewind dropped: nobody of ours could keep them. */
  forget(session: string, lines: readonly string[]): void {
    for (const line of lines) this.#lines.get(session)?.delete(line);
  }

  /** Notes every line that is in a log now. */
  #look(): void {
    for (const session of ['s', ...this.forks()]) {
      const lines = this.#lines.get(session) ?? new Set();
      this.#lines.set(session, lines);
      for (const line of linesOf(readFileSync(join(this.temp.root, session, 'events.jsonl'), 'utf8'))) lines.add(line);
    }
  }

  #check(): void {
    for (const session of ['s', ...this.forks()]) {
      const folder = join(this.temp.root, session);
      const logs = logsOf(folder);
      const held = new Set(logs.flatMap(({ lines }) => lines));
      const lost = [...(this.#lines.get(session) ?? [])].filter((line) => !held.has(line));
      expect(lost, `lines of ${session} that are in no log`).toEqual([]);
      for (const { path, lines, blobs } of logs) {
        const events = lines.map((line) => JSON.parse(line) as Line);
        const sequences = events.map(({ sequence }) => sequence);
        expect([path, sequences]).toEqual([path, [...new Set(sequences)].sort((a, b) => a - b)]);
        expect(new Set(events.map(({ id }) => id)).size, `ids of ${path}`).toBe(events.length);
        const missing = events.flatMap(blobsOf).filter((hash) => !blobs.some((place) => holds(place, hash)));
        expect([path, missing], 'blobs that are named and not there').toEqual([path, []]);
      }
    }
  }
}

interface Line {
  readonly id: string;
  readonly sequence: number;
  readonly type: string;
  readonly payload?: { readonly files?: readonly { readonly blob?: string }[] };
}

interface Step {
  readonly name: string;
  /** Gives false where there was nothing to do. */
  readonly take: (life: Life) => Promise<unknown>;
}

function logsOf(folder: string): readonly { path: string; lines: readonly string[]; blobs: readonly string[] }[] {
  const store = join(folder, 'checkpoints/blobs');
  const read = (path: string): readonly string[] => linesOf(readFileSync(path, 'utf8'));
  const present = join(folder, 'events.jsonl');
  const kept = join(folder, '.zs/kept');
  const records = existsSync(kept) ? readdirSync(kept) : [];
  return [
    // The reference program looks for blobs there and nowhere else.
    { path: present, lines: read(present), blobs: [store] },
    ...records.map((id) => ({
      path: join(kept, id, 'events.jsonl'),
      lines: read(join(kept, id, 'events.jsonl')),
      blobs: [store, join(folder, '.zs/blobs')],
    })),
  ];
}

function holds(folder: string, hash: string): boolean {
  const path = join(folder, hash);
  return existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') === hash;
}

function blobsOf({ type, payload }: Line): readonly string[] {
  if (type !== 'session_checkpoint') return [];
  return (payload?.files ?? []).flatMap(({ blob }) => (blob === undefined ? [] : [blob]));
}

function linesOf(log: string): readonly string[] {
  return log.split('\n').filter((line) => line !== '');
}

function onlyFiles(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !/ folder \d+$/.test(line));
}

function change(dice: Random, temp: TempWorkspace, path: string): Content {
  const isThere = existsSync(temp.at(path));
  if (isThere && dice.chance(0.25)) return null;
  if (isThere && dice.chance(0.15)) return { mode: dice.pick([0o600, 0o644, 0o755]) };
  return dice.pick(TEXTS);
}

/** Undoes one record, where it is whole: an undo is exact, or it refuses and changes nothing. */
async function undo(life: Life, rewindId: string | undefined): Promise<unknown> {
  const then = rewindId === undefined ? undefined : life.moments.get(rewindId);
  if (rewindId === undefined || then === undefined) return false;
  await life.undoTo(rewindId);
  return true;
}

const rewind: Step = {
  name: 'rewind',
  take: (life) => life.temp.store.rewind('s', { target: life.anywhere() }),
};

const edit: Step = {
  name: 'tool',
  take: ({ temp, dice }) => {
    const path = dice.pick(PATHS);
    return temp.tool({ [path]: change(dice, temp, path) }, { tells: dice.chance(0.5) });
  },
};

const OUR_STEPS: readonly Step[] = [
  edit,
  edit,
  edit,
  edit,
  { name: 'say', take: ({ temp }) => temp.say() },
  { name: 'say', take: ({ temp }) => temp.say() },
  rewind,
  rewind,
  {
    name: 'rewind events',
    take: (life) => life.temp.store.rewind('s', { target: life.anywhere(), part: 'events' }),
  },
  {
    name: 'restore',
    take: (life) => life.temp.store.rewind('s', { target: life.anywhere(), part: 'files' }),
  },
  {
    name: 'restore one',
    take: (life) =>
      life.temp.store.rewind('s', { target: life.anywhere(), part: 'files', paths: [life.dice.pick(PATHS)] }),
  },
  {
    name: 'bare restore',
    take: (life) => life.temp.store.restoreToSequence('s', life.temp.workspace, life.anywhere()),
  },
  { name: 'bare rewind', take: (life) => life.temp.store.applyRewind('s', life.temp.workspace, life.anywhere()) },
  { name: 'cut', take: (life) => life.temp.store.truncateEvents('s', life.anywhere()) },
  { name: 'undo', take: (life) => undo(life, life.keptIds().at(-1)) },
  { name: 'undo any', take: (life) => undo(life, life.keptIds()[life.dice.below(Math.max(1, life.keptIds().length))]) },
  {
    name: 'capture',
    take: ({ temp, dice }) => temp.store.captureToolCheckpoint('s', temp.workspace, 'tool', [dice.pick(PATHS)]),
  },
  {
    name: 'compact',
    take: async ({ temp }) => {
      const plan = await temp.store.planCompaction('s', { preserveLast: 1 });
      return plan.compactableCount > 0 && temp.store.recordCompaction('s', { plan, summary: 'so far' });
    },
  },
  { name: 'goal', take: ({ temp }) => temp.store.createGoal('s', 'reach it', 100) },
  { name: 'title', take: ({ temp, dice }) => temp.store.updateTitle('s', `title ${dice.below(9)}`) },
  { name: 'fork', take: (life) => life.temp.store.fork('s', { sessionId: life.newFork() }) },
];

const isAlone = true;

const FOREIGN_STEPS: readonly Step[] = [
  {
    name: 'foreign append',
    take: async ({ temp, dice }) => {
      const inputs = Array.from({ length: 1 + dice.below(3) }, (_, at) => ({
        type: 'message',
        payload: { content: `foreign ${at}`, role: dice.pick(['user', 'assistant']) },
      }));
      appendEventsAsForeigner(temp.root, 's', inputs, { isAlone, now: temp.clock.now });
    },
  },
  { name: 'foreign tool', take: async (life) => foreignTool(life) },
  { name: 'foreign tool', take: async (life) => foreignTool(life) },
  {
    name: 'foreign rewind',
    take: async (life) => {
      const { temp } = life;
      const before = new Map(PATHS.map((path) => [path, seen(temp, path)]));
      const { dropped } = rewindAsForeigner(temp.root, 's', temp.workspace, life.anywhere(), {
        isAlone,
        now: temp.clock.now,
      });
      life.forget('s', dropped);
      const now = temp.clock.now();
      for (const path of PATHS) {
        const present = seen(temp, path);
        if (present !== undefined && present !== before.get(path)) lutimesSync(temp.at(path), now, now);
      }
    },
  },
  {
    name: 'foreign fork',
    take: async (life) => forkAsForeigner(life.temp.root, 's', life.newFork(), { isAlone, now: life.temp.clock.now }),
  },
  {
    name: 'append to a fork',
    take: async (life) => {
      const ids = life.forks();
      if (ids.length === 0) return false;
      return life.temp.store.appendEvent(life.dice.pick(ids), { type: 'message', payload: { content: 'on' } });
    },
  },
];

/** What `zero exec` does around a change: call, snapshot without a lock, change, checkpoint, result. */
function foreignTool({ temp, dice }: Life): void {
  const ways = { isAlone, now: temp.clock.now };
  const path = dice.pick(PATHS);
  const content = dice.pick(TEXTS);
  const id = `foreign_${dice.below(1_000_000)}`;
  const call = { arguments: JSON.stringify({ path, content }), id, name: 'write_file' };
  appendEventsAsForeigner(temp.root, 's', [{ type: 'tool_call', payload: call }], ways);
  temp.clock.pass(1000);
  const payload = snapshotAsForeigner(temp.root, 's', temp.workspace, 'write_file', [path]);
  temp.put({ [path]: content });
  appendEventsAsForeigner(temp.root, 's', [{ type: 'session_checkpoint', payload }], ways);
  temp.clock.pass(1000);
  const result = { name: 'write_file', output: 'done', status: 'ok', toolCallId: id };
  appendEventsAsForeigner(temp.root, 's', [{ type: 'tool_result', payload: result }], ways);
}

function seen(temp: TempWorkspace, path: string): string | undefined {
  const stat = lstatSync(temp.at(path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeMs} ${stat.mode}`;
}
