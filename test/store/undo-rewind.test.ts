import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Content, TempWorkspace } from '../support/temp-workspace.js';
import { contents, tempWorkspace } from '../support/temp-workspace.js';
import { unsyncedFileSystem } from '../support/unsynced-file-system.js';

const LONG_NAME = 'n'.repeat(255);

/** A session of four steps over every kind of change; the files at each step are those before it. */
async function fourSteps(): Promise<{ readonly temp: TempWorkspace; readonly stations: readonly Station[] }> {
  const temp = await tempWorkspace();
  temp.put({
    modified: 'v0',
    'bin/tool': '#!/bin/sh\n',
    binary: new Uint8Array([0, 255, 10, 13, 0, 128]),
    empty: '',
    deleted: 'gone soon',
    link: { link: 'modified' },
    [LONG_NAME]: 'long',
    'with space and\nnewline': 'n0',
    'ünïcödé/日本': 'u0',
    'old name': 'moved',
  });
  temp.put({ 'bin/tool': { mode: 0o755 }, empty: { mode: 0o600 } });
  const steps: Readonly<Record<string, Content>>[] = [
    {
      modified: 'v1',
      created: 'c1',
      deleted: null,
      'bin/tool': { mode: 0o644 },
      'new/deep/file': 'n1',
      'ünïcödé/日本': 'u1',
    },
    { modified: '', link: { link: 'created' }, 'new/deep/other': 'o1', 'old name': null, 'new name': 'moved' },
    {
      binary: new Uint8Array([1, 2, 3]),
      empty: 'full',
      [LONG_NAME]: null,
      'with space and\nnewline': 'n1',
      link: null,
    },
    { link: 'a file now', 'other link': { link: '/nowhere' }, 'new/deep/file': null, 'private/key': 'secret' },
  ];
  const stations: Station[] = [];
  await temp.say();
  for (const step of steps) {
    stations.push({ target: temp.sequences().at(-1) ?? 0, files: temp.files(), log: temp.log() });
    await temp.tool(step);
  }
  temp.put({ private: { mode: 0o700 } });
  stations.push({ target: temp.sequences().at(-1) ?? 0, files: temp.files(), log: temp.log() });
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
      ids.push(report.rewindId);
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
    const { report } = await temp.store.rewind('s', { target: stations[0]?.target ?? 0 });
    rmSync(temp.path('.zs/kept', report.rewindId, 'blobs'), { recursive: true });
    rmSync(temp.path('checkpoints/blobs'), { recursive: true });
    const before = temp.everything();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'INCOMPLETE',
      message: expect.stringMatching(/its blob [0-9a-f]{64} is missing/),
    });

    expect(temp.everything()).toEqual(before);
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
    const { SessionStore } = await import('../../src/store/session-store.js');
    const store = new SessionStore({ ...temp.deps, fs });
    await store.rewind('s', { target: stations[0]?.target ?? 0 });

    await store.undoRewind('s');

    expect(temp.files()).toEqual(stations.at(-1)?.files);
    expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
  });
});

const RUNS = Number(process.env.ZERO_SESSIONS_PROPERTY_RUNS ?? 100);
const NAMES = ['a', 'b', 'd/x', 'd/e/y', 'l'] as const;

type Step =
  | { readonly do: 'say' | 'compact' | 'undoCompaction' }
  | { readonly do: 'edit'; readonly name: string; readonly content: Content }
  | {
      readonly do: 'rewind';
      readonly at: number;
      readonly part: 'all' | 'events' | 'files';
      readonly only: string | undefined;
    }
  | { readonly do: 'cut' | 'restore'; readonly at: number }
  | { readonly do: 'undo'; readonly which: number };

const contentOf: fc.Arbitrary<Content> = fc.oneof(
  fc.constantFrom('', 'one', 'two', 'three'),
  fc.constant(null),
  fc.constantFrom({ link: 'a' }, { link: 'nowhere' }),
);
const fraction = fc.integer({ min: 0, max: 99 });
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('edit' as const), name: fc.constantFrom(...NAMES), content: contentOf }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('say' as const, 'compact' as const, 'undoCompaction' as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rewind' as const),
      at: fraction,
      part: fc.constantFrom('all' as const, 'events' as const, 'files' as const),
      only: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cut' as const, 'restore' as const), at: fraction }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('undo' as const), which: fraction }) },
);

async function take(temp: TempWorkspace, step: Step): Promise<void> {
  const { store } = temp;
  const sequences = temp.sequences();
  const pick = (at: number): number => [0, ...sequences][Math.floor((at * (sequences.length + 1)) / 100)] ?? 0;
  switch (step.do) {
    case 'say':
      await temp.say();
      return;
    case 'edit':
      await temp.tool({ [step.name]: step.content });
      return;
    case 'compact': {
      const plan = await store.planCompaction('s', { preserveLast: 1 });
      if (plan.compactableCount > 0) await store.recordCompaction('s', { plan, summary: 'S' });
      return;
    }
    case 'undoCompaction':
      await store.undoCompaction('s').catch((error: { code?: string }) => expect(error.code).toBe('REWIND_NOT_FOUND'));
      return;
    case 'rewind': {
      const paths = step.only === undefined ? undefined : [step.only];
      await store.rewind('s', { target: pick(step.at), part: step.part, paths, force: true, allowPartial: true });
      return;
    }
    case 'cut':
      await store.truncateEvents('s', pick(step.at));
      return;
    case 'restore':
      await store.restoreToSequence('s', temp.workspace, pick(step.at));
      return;
    case 'undo': {
      const ids = (await store.rewindHistory('s')).map(({ rewindId }) => rewindId);
      const rewindId = ids[Math.floor((step.which * ids.length) / 100)];
      if (rewindId !== undefined) {
        await store
          .undoRewind('s', { rewindId, force: true })
          .catch((error: { code?: string }) => expect(error.code).toBe('INCOMPLETE'));
      }
      return;
    }
    default:
      return step satisfies never;
  }
}

describe('any sequence of commands', () => {
  test(`given that a rewind to a moment was taken back one by one, then all is as it was (${RUNS} runs)`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepOf, { maxLength: 12 }),
        fc.array(stepOf, { minLength: 1, maxLength: 8 }),
        async (before, after) => {
          const temp = await tempWorkspace({ fileSystem: unsyncedFileSystem });
          temp.put({ a: 'a0', 'd/x': 'x0' });
          await temp.say();
          for (const step of before) await take(temp, step);
          // The start: what the first thing that can be undone was done to.
          const undoable = after.filter((step) => step.do !== 'say' && step.do !== 'edit' && step.do !== 'compact');
          const start = { files: temp.files(), log: temp.log() };
          const records = new Set((await temp.store.rewindHistory('s')).map(({ rewindId }) => rewindId));

          const highest = Math.max(0, ...temp.sequences());
          for (const step of undoable) await take(temp, step);
          const made = (await temp.store.rewindHistory('s')).filter(({ rewindId }) => !records.has(rewindId));
          for (const { rewindId } of made) await temp.store.undoRewind('s', { rewindId });

          expect(temp.files()).toEqual(start.files);
          // A rewind that changes nothing leaves its marker, and nothing to undo.
          const rest = temp
            .log()
            .slice(start.log.length)
            .trimEnd()
            .split('\n')
            .filter((line) => line !== '');
          expect(temp.log().startsWith(start.log)).toBe(true);
          expect(rest.every((line) => line.includes('"type":"session_rewind"'))).toBe(true);
          if (made.length > 0) expect(Math.max(...temp.sequences())).toBeGreaterThan(highest);
          expect(temp.sequences()).toEqual([...new Set(temp.sequences())].sort((a, b) => a - b));
          expect(temp.warnings).toEqual([]);
          // And the last of it at once, by the id of the first.
          const first = made.at(-1)?.rewindId;
          if (first !== undefined) {
            await temp.store.undoRewind('s', { rewindId: first });
            expect(temp.files()).toEqual(start.files);
          }
        },
      ),
      { numRuns: RUNS },
    );
  }, 600_000);
});
