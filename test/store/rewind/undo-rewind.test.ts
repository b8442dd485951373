import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rewindAsForeigner } from '../../crash/foreign-writer.mjs';
import { anyCommand, BY_ZERO, type Command, carryOut, kindAt } from '../../support/any-command.js';
import type { Content, TempWorkspace } from '../../support/temp-workspace.js';
import { contents, tempWorkspace } from '../../support/temp-workspace.js';
import { unsyncedFileSystem } from '../../support/unsynced-file-system.js';

// 255 bytes, the most that a name may have, one of them for each letter or two.
const LONG_NAME = 'n'.repeat(255);
const LONG_WORD = `${'ü'.repeat(127)}n`;

/** What a tool does to files and, with rmdir and chmod as in a shell, to folders, which no checkpoint names. */
interface Step {
  readonly files: Readonly<Record<string, Content>>;
  readonly removes?: readonly string[];
  readonly modes?: Readonly<Record<string, number>>;
}

const START: Readonly<Record<string, Content>> = {
  modified: 'v0',
  'bin/tool': '#!/bin/sh\n',
  'bin/same content': 'x',
  binary: new Uint8Array([0, 255, 10, 13, 0, 128]),
  empty: '',
  deleted: 'gone soon',
  link: { link: 'modified' },
  'link to a folder': { link: 'bin' },
  [LONG_NAME]: 'long',
  [`${LONG_WORD}/${LONG_WORD}`]: 'longer',
  'with space and\nnewline': 'n0',
  ' \t"\\\r\u0007-': 'w0',
  '-rf': 'f0',
  'ünïcödé/日本': 'u0',
  'old name': 'moved',
  'old folder/one': '1',
  'old folder/two': '2',
  'vanishes/with all/in it': 'v',
  'private/key': 'secret',
  'file then folder': 'f0',
  'folder then file/x': 'x0',
};

const STEPS: readonly Step[] = [
  {
    files: {
      modified: 'v1',
      created: 'c1',
      deleted: null,
      'bin/tool': '#!/bin/sh\necho\n',
      'new/deep/file': 'n1',
      'ünïcödé/日本': 'u1',
      'bin/same content': 'x',
    },
    modes: { 'bin/tool': 0o644, 'bin/same content': 0o755 },
  },
  {
    files: {
      modified: '',
      link: { link: 'created' },
      'link to a folder': { link: '/nowhere' },
      'new/deep/other': 'o1',
      'old name': null,
      'new name': 'moved',
      'old folder/one': null,
      'old folder/two': null,
      'new folder/one': '1',
      'new folder/two': '2',
      'file then folder': null,
      'folder then file/x': null,
    },
    removes: ['old folder', 'folder then file'],
  },
  {
    files: {
      binary: new Uint8Array([1, 2, 3]),
      empty: 'full',
      [LONG_NAME]: null,
      [`${LONG_WORD}/${LONG_WORD}`]: new Uint8Array(0),
      'with space and\nnewline': 'n1',
      ' \t"\\\r\u0007-': null,
      '-rf': 'f1',
      link: null,
      'vanishes/with all/in it': null,
      'private/key': null,
      'file then folder/x': 'x1',
      'folder then file': 'f1',
    },
    removes: ['vanishes/with all', 'vanishes', 'private'],
  },
  {
    files: {
      link: 'a file now',
      'other link': { link: '/nowhere' },
      'new/deep/file': null,
      'made/private/key': 'secret',
      'old folder/one': 'again',
    },
    modes: { 'made/private': 0o700, 'made/private/key': 0o400 },
  },
];

/** A session of four steps over every kind of change; the files at each step are those before it. */
async function fourSteps(): Promise<{ readonly temp: TempWorkspace; readonly stations: readonly Station[] }> {
  const temp = await tempWorkspace();
  temp.put(START);
  temp.put({ 'bin/tool': { mode: 0o755 }, empty: { mode: 0o600 }, 'private/key': { mode: 0o400 } });
  temp.put({ private: { mode: 0o700 } });
  const stations: Station[] = [];
  const station = (): Station => ({
    target: temp.sequences().at(-1) ?? 0,
    files: temp.files(),
    log: temp.log(),
  });
  await temp.say();
  for (const { files, removes = [], modes = {} } of STEPS) {
    stations.push(station());
    await temp.tool(files);
    for (const folder of removes) rmdirSync(temp.at(folder));
    for (const [path, mode] of Object.entries(modes)) temp.put({ [path]: { mode } });
  }
  stations.push(station());
  return { temp, stations };
}

interface Station {
  readonly target: number;
  readonly files: readonly string[];
  readonly log: string;
}

/** Checks that files and log are those of a station, plus one marker line with the highest sequence ever. */
function expectStation(temp: TempWorkspace, station: Station, highest: number): number {
  expect(temp.files()).toEqual(station.files);
  expect(temp.log().startsWith(station.log)).toBe(true);
  const [marker, ...more] = temp.log().slice(station.log.length).trimEnd().split('\n');
  const { sequence, type } = JSON.parse(marker ?? '') as { sequence: number; type: string };
  expect([type, more]).toEqual(['session_rewind', []]);
  expect(sequence).toBeGreaterThan(highest);
  return sequence;
}

describe('a rewind and its undo', () => {
  test('given any step, then workspace and log are byte for byte what they were', async () => {
    for (const at of [0, 1, 2, 3]) {
      const { temp, stations } = await fourSteps();
      const [then, now] = [stations[at] as Station, stations.at(-1) as Station];

      await temp.store.rewind('s', { target: then.target });
      const highest = expectStation(temp, then, now.target);
      await temp.store.undoRewind('s');
      expectStation(temp, now, highest);
    }
  });

  test('given three levels of undo of undo, then each is the station that it undoes to', async () => {
    const { temp, stations } = await fourSteps();
    const [then, now] = [stations[0] as Station, stations.at(-1) as Station];
    await temp.store.rewind('s', { target: then.target });
    let highest = temp.sequences().at(-1) ?? 0;
    let marked: Station = { ...then, log: temp.log() };

    for (const level of [1, 2, 3, 4]) {
      const before = { target: 0, files: temp.files(), log: temp.log() };
      await temp.store.undoRewind('s');
      highest = expectStation(temp, level === 1 ? now : marked, highest);
      marked = before;
    }
  });

  test('given three rewinds in a row, then each can be undone by its id, alone and with those after it', async () => {
    const { temp, stations } = await fourSteps();
    const before: Station[] = [];
    const ids: string[] = [];
    for (const at of [3, 1, 0]) {
      before.push({ target: 0, files: temp.files(), log: temp.log() });
      const { report } = await temp.store.rewind('s', { target: stations[at]?.target ?? 0 });
      ids.push(report.rewindId ?? '');
    }

    for (const at of [2, 1, 0]) {
      const highest = temp.sequences().at(-1) ?? 0;
      await temp.store.undoRewind('s', { rewindId: ids[at] });
      expectStation(temp, before[at] as Station, highest);
    }
    // And again from the far end, at once.
    await temp.store.rewind('s', { target: 0 });
    const highest = temp.sequences().at(-1) ?? 0;
    await temp.store.undoRewind('s', { rewindId: ids[0], force: true });
    expectStation(temp, before[0] as Station, highest);
  });

  test('given a folder that only the session’s files were in, then it goes with the last of them and comes back as private', async () => {
    const temp = await tempWorkspace();
    await temp.say();
    await temp.tool({ 'd/first': '1' });
    await temp.tool({ 'd/second': '2' });
    temp.put({ 'd/first': null, d: { mode: 0o700 } });
    const before = temp.files();

    await temp.store.rewind('s', { target: 1 });
    expect(temp.files()).toEqual([]);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(before);
  });

  test('given a clock that was set back, then the latest is still the latest', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[3]?.target ?? 0 });
    const between = temp.files();
    temp.clock.pass(-3_600_000);
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });

    await temp.store.undoRewind('s');

    expect(temp.files()).toEqual(between);
  });

  test('given parts of a rewind, then each is undone', async () => {
    for (const options of [{ part: 'events' }, { part: 'files' }, { paths: ['modified', 'new'] }] as const) {
      const { temp, stations } = await fourSteps();
      const now = stations.at(-1) as Station;
      await temp.store.rewind('s', { target: stations[0]?.target ?? 0, ...options });
      const highest = temp.sequences().at(-1) ?? 0;

      await temp.store.undoRewind('s');

      expectStation(temp, now, highest);
    }
  });

  test('given a bare restore, then it is undone, too, and its log was never changed', async () => {
    const { temp, stations } = await fourSteps();
    const [then, now] = [stations[0] as Station, stations.at(-1) as Station];
    const metadata = temp.text('metadata.json');

    await temp.store.restoreToSequence('s', temp.workspace, then.target);
    expect([temp.files(), temp.log(), temp.text('metadata.json')]).toEqual([then.files, now.log, metadata]);
    await temp.store.undoRewind('s');

    expectStation(temp, now, now.target);
  });

  test('given work that came after the rewind, then undoing keeps it for an undo of its own', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[1]?.target ?? 0 });
    await temp.say('another way');
    const between: Station = { target: 0, files: temp.files(), log: temp.log() };

    const { plan } = await temp.store.undoRewind('s');
    expect(plan.dropped.map(({ type }) => type)).toEqual(['session_rewind', 'message']);
    const highest = temp.sequences().at(-1) ?? 0;
    await temp.store.undoRewind('s');

    expectStation(temp, between, highest);
  });
});

describe('an undo that cannot be', () => {
  test('given a file that somebody changed after the rewind, then it is a conflict; forced, that content is kept', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    temp.put({ modified: 'mine' });
    const before = temp.everything();
    const files = temp.files();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('modified'),
    });
    expect(temp.everything()).toEqual(before);

    await temp.store.undoRewind('s', { force: true });
    expect(temp.files()).toEqual(stations.at(-1)?.files);
    await temp.store.undoRewind('s');
    expect(temp.files()).toEqual(files);
  });

  test('given a file that became a folder, then nothing is changed', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    temp.put({ modified: null });
    temp.put({ 'modified/inside': 'x' });
    const before = temp.everything();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringContaining('"modified" is a folder now'),
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given blobs that somebody took away, then those of the kept record serve', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    for (const name of readdirSync(temp.path('checkpoints/blobs'))) unlinkSync(temp.path('checkpoints/blobs', name));

    await temp.store.undoRewind('s');

    expect(temp.files()).toEqual(stations.at(-1)?.files);
  });

  test('given blobs that are gone everywhere, then nothing is changed and the blob is named', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    rmSync(temp.path('.zs/blobs'), { recursive: true });
    rmSync(temp.path('checkpoints/blobs'), { recursive: true });
    const before = temp.everything();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringMatching(/its blob [0-9a-f]{8}… is missing/),
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given leave to be partial and a blob that is gone, then the rest is done and what is left out is named', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[3]?.target ?? 0 });
    for (const folder of [temp.path('.zs/blobs'), temp.path('checkpoints/blobs')]) {
      for (const name of readdirSync(folder)) {
        if (readFileSync(join(folder, name), 'utf8') === 'secret') unlinkSync(join(folder, name));
      }
    }

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'INCOMPLETE' });
    const undone = await temp.store.undoRewind('s', { allowPartial: true });

    expect(undone.report.skipped).toEqual([
      { path: 'made/private/key', reason: expect.stringMatching(/its blob [0-9a-f]{8}… is missing/) },
    ]);
    expect(readFileSync(temp.at('link'), 'utf8')).toBe('a file now');
  });

  test('given a workspace that moved, then it is refused, and done where the workspace is now', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    const moved = join(dirname(temp.workspace), 'moved');
    renameSync(temp.workspace, moved);

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' });
    await temp.store.undoRewind('s', { workspace: moved });
    renameSync(moved, temp.workspace);

    expect(temp.files()).toEqual(stations.at(-1)?.files);
  });

  test('given another project, then it is refused, also while the workspace is gone, and done by force alone', async () => {
    const { temp, stations } = await fourSteps();
    await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    const other = join(dirname(temp.workspace), 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'modified'), 'of another project');
    const before = [temp.everything(), contents(other)];

    await expect(temp.store.undoRewind('s', { workspace: other })).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
      message: expect.stringMatching(/other" is not the session's own/),
    });
    expect([temp.everything(), contents(other)]).toEqual(before);
    renameSync(temp.workspace, `${temp.workspace}-away`);
    await expect(temp.store.undoRewind('s', { workspace: other })).rejects.toMatchObject({
      code: 'WORKSPACE_REFUSED',
      message: expect.stringMatching(/other" shows no work of session s/),
    });
    expect(contents(other)).toEqual(before[1]);

    await temp.store.undoRewind('s', { workspace: other, force: true });
    expect(readFileSync(join(other, 'new/deep/other'), 'utf8')).toBe('o1');
  });

  test('given an unknown id, or nothing to undo, then it is an error', async () => {
    const temp = await tempWorkspace();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'REWIND_NOT_FOUND' });
    for (const rewindId of ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '../kept', '']) {
      await expect(temp.store.undoRewind('s', { rewindId })).rejects.toMatchObject({ code: 'REWIND_NOT_FOUND' });
    }
  });
});

describe('finding 5: an undo after Zero used numbers again', () => {
  test('given a checkpoint under a number that an older one had, then it is another, and its file goes back by it', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'a0', b: 'b0' });
    await temp.say();
    await temp.tool({ a: 'a1' });
    await temp.tool({ a: 'a2' });
    await temp.say();
    const { report } = await temp.store.rewind('s', { target: 4 });
    rewindAsForeigner(temp.root, 's', temp.workspace, 4, { isAlone: true });
    await temp.tool({ b: 'b1' });
    await temp.store.rewind('s', { target: 5 });

    await temp.store.undoRewind('s', { rewindId: report.rewindId ?? '' });

    expect(readFileSync(temp.at('b'), 'utf8')).toBe('b0');
  });
});

describe('the history', () => {
  test('given a rewind, a restore, a cut and an undo, then each is listed, newest first', async () => {
    const { temp, stations } = await fourSteps();
    const { report } = await temp.store.rewind('s', { target: stations[2]?.target ?? 0 });
    await temp.store.restoreToSequence('s', temp.workspace, stations[0]?.target ?? 0);
    await temp.store.undoRewind('s');
    await temp.store.truncateEvents('s', 2);

    const history = await temp.store.rewindHistory('s');

    expect(history.map(({ kind }) => kind)).toEqual(['cut', 'undo', 'restore', 'rewind']);
    expect(history.at(-1)).toMatchObject({ rewindId: report.rewindId, targetSequence: stations[2]?.target });
  });

  test('given a log that cannot be linked, then it is copied, and the record holds', async () => {
    const { temp, stations } = await fourSteps();
    const fs = {
      ...temp.deps.fs,
      link: () => {
        throw Object.assign(new Error('EPERM: no links'), { code: 'EPERM' });
      },
    };
    const { SessionStore } = await import('../../../src/store/session-store.js');
    const store = new SessionStore({ ...temp.deps, fs });
    await store.rewind('s', { target: stations[0]?.target ?? 0 });

    await store.undoRewind('s');

    expect(temp.files()).toEqual(stations.at(-1)?.files);
    expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
  });
});

const RUNS = Number(process.env.ZERO_SESSIONS_PROPERTY_RUNS ?? 100);

/** What a command is undone to. */
interface Moment {
  readonly files: readonly string[];
  readonly log: string;
  /** Goal and spec, which follow the log. */
  readonly state: unknown;
}

async function momentOf(temp: TempWorkspace): Promise<Moment> {
  const session = await temp.store.get('s');
  return { files: temp.files(), log: temp.log(), state: [session?.goal, session?.specId, session?.specStatus] };
}

/** A session and, for each record that can be undone, what was there before it. */
class Timeline {
  readonly temp: TempWorkspace;
  readonly before = new Map<string, Moment>();
  readonly #seen = new Set<number>();
  #highest = 0;
  #isCut = false;

  constructor(temp: TempWorkspace) {
    this.temp = temp;
    this.#look(temp.sequences());
  }

  /** Carries a command out; one that is refused changes nothing. */
  async take(command: Command): Promise<boolean> {
    const { temp } = this;
    const [moment, everything] = [await momentOf(temp), temp.everything()];
    const known = new Set(this.#linesByZero());
    // A bare cut leaves goal and spec as they are, as the reference does.
    if (command.do === 'cut') this.#isCut = true;
    const isDone = await carryOut(temp, command);
    if (!isDone) expect(temp.everything()).toEqual(everything);
    const byZero = this.#linesByZero().find((line) => !known.has(line));
    this.#note(byZero === undefined ? moment : { ...moment, log: `${moment.log}${byZero}\n` });
    return isDone;
  }

  /** Undoes a record, and holds files, log, goal and spec to what was there before it. */
  async undo(rewindId: string, force: boolean): Promise<boolean> {
    const { temp } = this;
    const then = this.before.get(rewindId) as Moment;
    const isDone = await this.take({ do: 'undo', which: this.#placeOf(rewindId), force });
    if (!isDone) {
      await this.#expectInTheWay(rewindId);
      return false;
    }

    // Also what the session did since; folders that nothing is in are nobody's.
    expect(filesByPath(temp.files())).toEqual(filesByPath(then.files));
    const lines = linesOf(temp.log().slice(then.log.length));
    expect([temp.log().startsWith(then.log), lines.length]).toEqual([true, 1]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ type: 'session_rewind', payload: { undoes: rewindId } });
    if (!this.#isCut) expect((await momentOf(temp)).state).toEqual(then.state);
    return true;
  }

  /** A forced undo is refused for two reasons only: what was never captured, and an empty folder, which may be anybody's. */
  async #expectInTheWay(rewindId: string): Promise<void> {
    const { files } = await this.temp.store.previewUndo('s', { rewindId, force: true });
    const present = this.temp.files().map(pathIn);
    for (const { path, wanted, reason } of files.filter(({ action }) => action === 'impossible')) {
      const below = present.filter((other) => other.startsWith(`${path}/`));
      // Nothing but folders is in it: nobody knows whose they are. The reason names the one that is in the way.
      const isEmpty = (folder: string): boolean =>
        [folder, ...below.filter((other) => other.startsWith(`${folder}/`))].every(
          (each) => kindAt(this.temp, each) === 'directory',
        );
      const inTheWay = below.filter((other) => reason.includes(JSON.stringify(other)));
      const isEmptyFolder = inTheWay.length > 0 ? inTheWay.every(isEmpty) : isEmpty(path);
      expect([path, reason, isEmptyFolder || wanted.kind === 'skipped']).toEqual([path, reason, true]);
    }
  }

  ids(): readonly string[] {
    return [...this.before.keys()].sort();
  }

  #note(moment: Moment): void {
    for (const id of this.#kept()) if (!this.before.has(id)) this.before.set(id, moment);
    const sequences = this.temp.sequences();
    expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
    // What an undo brings back was there before; what is new was never.
    this.#look(sequencesIn(moment.log));
    for (const sequence of sequences.filter((each) => !this.#seen.has(each))) {
      expect(sequence).toBeGreaterThan(this.#highest);
    }
    this.#look(sequences);
  }

  #look(sequences: readonly number[]): void {
    for (const sequence of sequences) this.#seen.add(sequence);
    this.#highest = Math.max(this.#highest, ...sequences);
  }

  #kept(): readonly string[] {
    return existsSync(this.temp.path('.zs/kept')) ? readdirSync(this.temp.path('.zs/kept')).sort() : [];
  }

  /** What was written behind an interrupted rewind, wherever it is now. */
  #linesByZero(): readonly string[] {
    const kept = this.#kept().map((id) => this.temp.text(`.zs/kept/${id}/events.jsonl`));
    return [this.temp.log(), ...kept].flatMap(linesOf).filter((line) => line.includes(BY_ZERO));
  }

  /** How an undo names it: as its place in the history. */
  #placeOf(rewindId: string): number {
    const ids = [...this.#kept()].reverse();
    return ((ids.indexOf(rewindId) + 0.5) * 100) / ids.length;
  }
}

function sequencesIn(log: string): readonly number[] {
  return linesOf(log).map((line) => (JSON.parse(line) as { sequence: number }).sequence);
}

function linesOf(log: string): readonly string[] {
  return log.split('\n').filter((line) => line !== '');
}

function filesByPath(lines: readonly string[]): ReadonlyMap<string, string> {
  const files = lines.filter((line) => !/ folder \d+$/.test(line));
  return new Map(files.map((line) => [pathIn(line), line]));
}

function pathIn(line: string): string {
  return JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(line)?.[0] ?? '""') as string;
}

describe('any sequence of commands', () => {
  test(`given any of them, then each rewind is undone to what was before it, in any order, and the first to the start (${RUNS} runs)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommand, { maxLength: 12 }),
        fc.array(anyCommand, { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 99 }), { maxLength: 4 }),
        async (before, after, order) => {
          const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
          temp.put({ a: 'a0', 'd/x': 'x0', 'never touched': 'so that it is never empty' });
          await temp.say();
          const timeline = new Timeline(temp);
          for (const command of [...before, ...after]) await timeline.take(command);

          for (const which of order) {
            const ids = timeline.ids();
            const id = ids[Math.floor((which * ids.length) / 100)];
            if (id !== undefined) await timeline.undo(id, true);
          }
          const [first] = timeline.ids();
          if (first !== undefined) await timeline.undo(first, true);
        },
      ),
      { numRuns: RUNS },
    );
  }, 1_800_000);

  test(`given that what came after a moment only went back, then undoing it one by one, or at once, gives all of it (${RUNS} runs)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyCommand, { maxLength: 16 }),
        fc.array(anyCommand, { minLength: 1, maxLength: 16 }),
        async (before, after) => {
          const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
          temp.put({ a: 'a0', 'd/x': 'x0', 'never touched': 'so that it is never empty' });
          await temp.say();
          const timeline = new Timeline(temp);
          for (const command of before) await timeline.take(command);
          const start = { files: temp.files(), log: temp.log() };
          const old = new Set(timeline.ids());

          for (const command of after.filter(({ do: what }) => GOING_BACK.has(what))) await timeline.take(command);
          const made = timeline.ids().filter((id) => !old.has(id));
          for (const id of [...made].reverse()) expect(await timeline.undo(id, false)).toBe(true);

          if (made.length > 0) expect(temp.files()).toEqual(start.files);
          const [first] = made;
          if (first !== undefined) {
            expect(await timeline.undo(first, false)).toBe(true);
            expect(temp.files()).toEqual(start.files);
          }
        },
      ),
      { numRuns: RUNS },
    );
  }, 1_800_000);
});

const GOING_BACK: ReadonlySet<Command['do']> = new Set([
  'rewind',
  'bareRewind',
  'cut',
  'restore',
  'undo',
  'undoCompaction',
]);
