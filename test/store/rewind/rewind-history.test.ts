import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileSystem } from '../../../src/fs/file-system.js';
import { SessionStore } from '../../../src/store/session-store.js';
import { appendEventsAsForeigner, rewindAsForeigner } from '../../crash/foreign-writer.mjs';
import { contents, type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

const TEN = Array.from({ length: 10 }, (_, at) => at + 1);
const alone = { isAlone: true };

/** A session with ten messages, and a workspace. */
async function tenMessages(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  for (const number of TEN) await temp.say(`message ${number}`);
  return temp;
}

/** A session after a rewind, a restore of files, a bare restore, an undo and a cut. */
async function oneOfEach(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ f: 'f0' });
  await temp.say();
  await temp.tool({ f: 'f1' });
  await temp.tool({ f: 'f2' });
  await temp.store.rewind('s', { target: 4 });
  temp.clock.pass(1000);
  await temp.store.rewind('s', { target: 1, part: 'files' });
  temp.clock.pass(1000);
  temp.put({ f: 'f3' });
  await temp.store.restoreToSequence('s', temp.workspace, 1);
  temp.clock.pass(1000);
  await temp.store.undoRewind('s', { force: true });
  temp.clock.pass(1000);
  await temp.store.truncateEvents('s', 2);
  return temp;
}

const recordIds = (temp: TempWorkspace): readonly string[] => readdirSync(temp.path('.zs/kept')).sort();
const recordPath = (temp: TempWorkspace, id: string): string => temp.path('.zs/kept', id, 'record.json');
const record = (temp: TempWorkspace, id: string) => JSON.parse(readFileSync(recordPath(temp, id), 'utf8'));
const eventCount = async (temp: TempWorkspace) => (await temp.store.get('s'))?.eventCount;

/** Makes the records what the first version made: no record.json, and the blobs beside the log. */
function asFirstVersion(temp: TempWorkspace): void {
  const [oldest = '', ...others] = recordIds(temp);
  for (const id of [oldest, ...others]) rmSync(recordPath(temp, id));
  if (readdirSync(temp.path('.zs')).includes('blobs'))
    renameSync(temp.path('.zs/blobs'), temp.path('.zs/kept', oldest, 'blobs'));
}

/** A store that tells which files it opens for reading. */
function watched(temp: TempWorkspace): {
  readonly store: SessionStore;
  readonly opened: string[];
  readonly wrote: string[];
} {
  const opened: string[] = [];
  const wrote: string[] = [];
  const { fs } = temp.deps;
  const watching: FileSystem = {
    ...fs,
    openRead: (path) => {
      opened.push(path);
      return fs.openRead(path);
    },
    create: (path, mode) => {
      wrote.push(path);
      return fs.create(path, mode);
    },
    mkdir: (path, mode) => {
      wrote.push(path);
      fs.mkdir(path, mode);
    },
  };
  return { store: new SessionStore({ ...temp.deps, fs: watching }), opened, wrote };
}

describe('finding 48: the record beside a kept log', () => {
  test('given one of each, then a history tells of them and reads no log at all', async () => {
    const temp = await oneOfEach();
    const { store, opened } = watched(temp);

    const history = await store.rewindHistory('s');

    expect(history.map(({ kind, files, targetSequence }) => [kind, files, targetSequence])).toEqual([
      ['cut', 0, 2],
      ['undo', 1, expect.any(Number)],
      ['restore', 1, 1],
      ['restore', 1, 1],
      ['rewind', 1, 4],
    ]);
    expect(opened.filter((path) => path.endsWith('.jsonl'))).toEqual([]);
  });

  test('given its members, then they are those of the history and the highest sequence used, private to the user', async () => {
    const temp = await oneOfEach();
    const [first = ''] = recordIds(temp);

    expect(record(temp, first)).toEqual({
      rewindId: first,
      createdAt: '2026-07-09T12:00:07Z',
      kind: 'rewind',
      targetSequence: 4,
      events: 7,
      head: 7,
      files: 1,
      undoes: '',
      high: 8,
    });
    expect(statSync(recordPath(temp, first)).mode & 0o777).toBe(0o600);
  });

  test('given records without it, then the history tells the same, but for where a cut went, and writes nothing', async () => {
    const temp = await oneOfEach();
    const before = await temp.store.rewindHistory('s');
    asFirstVersion(temp);
    const onDisk = contents(temp.path());
    const { store, wrote } = watched(temp);

    const history = await store.rewindHistory('s');

    const comparable = (records: typeof before) =>
      records.map((each) => (each.kind === 'cut' ? { ...each, targetSequence: 0 } : each));
    expect(comparable(history)).toEqual(comparable(before));
    expect([wrote, contents(temp.path())]).toEqual([[], onDisk]);
  });

  test.each<[string, string | undefined]>([
    ['no JSON', '{'],
    ['another record', '{"rewindId":"01ARZ3NDEKTSV4RRFFQ69G5FAV"}'],
    ['a list', '[]'],
    ['a number that is none', undefined],
    ['more than such a record can be', `${' '.repeat(70_000)}{}`],
  ])('given %s in its place, then the log tells', async (_, text) => {
    const temp = await oneOfEach();
    const before = await temp.store.rewindHistory('s');
    const [first = ''] = recordIds(temp);
    const path = recordPath(temp, first);
    writeFileSync(path, text ?? JSON.stringify({ ...record(temp, first), high: -1 }));

    expect(await temp.store.rewindHistory('s')).toEqual(before);
  });

  test.each<[string, (temp: TempWorkspace) => Promise<unknown>]>([
    ['rewind', (temp) => temp.store.rewind('s', { target: 1 })],
    ['undo', (temp) => temp.store.undoRewind('s', { force: true })],
    ['cut', (temp) => temp.store.truncateEvents('s', 1)],
  ])('given records of the first version, then the first %s completes them, once', async (_, act) => {
    const temp = await oneOfEach();
    const before = await temp.store.rewindHistory('s');
    asFirstVersion(temp);

    await act(temp);

    const ids = recordIds(temp).slice(0, before.length);
    for (const id of ids) expect(record(temp, id)).toMatchObject({ rewindId: id, high: expect.any(Number) });
    expect(readdirSync(temp.path('.zs/blobs')).length).toBeGreaterThan(0);
    expect(readdirSync(temp.path()).filter((name) => name.startsWith('.zs-tmp'))).toEqual([]);
    const times = ids.map((id) => statSync(recordPath(temp, id), { bigint: true }).mtimeNs);
    await temp.say();
    await temp.store.truncateEvents('s', 0);
    expect(ids.map((id) => statSync(recordPath(temp, id), { bigint: true }).mtimeNs)).toEqual(times);
  });

  test('given a kept log that is damaged, then the others are told, and of this one what can be', async () => {
    const temp = await oneOfEach();
    const [first = ''] = recordIds(temp);
    rmSync(recordPath(temp, first));
    const path = join(temp.path('.zs/kept', first), 'events.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('{"id":"s:2"', 'no event'));

    const history = await temp.store.rewindHistory('s');

    expect(history).toHaveLength(5);
    expect(history.at(-1)).toMatchObject({ rewindId: first, events: 6, head: 7 });
  });
});

describe('finding 4: the sequence of a marker', () => {
  test('given Zero rewound to before, then an undo goes on above the log that it puts back', async () => {
    const temp = await tenMessages();
    const { report } = await temp.store.rewind('s', { target: 8 });
    rewindAsForeigner(temp.root, 's', temp.workspace, 2, alone);
    expect([temp.sequences(), await eventCount(temp)]).toEqual([[1, 2, 3], 3]);

    await temp.store.undoRewind('s', { rewindId: report.rewindId ?? '', force: true });

    expect([temp.sequences(), await eventCount(temp)]).toEqual([[...TEN, 11], 11]);
    expect(await temp.say()).toMatchObject({ sequence: 12 });
  });

  test.each<[string, (temp: TempWorkspace) => Promise<unknown>]>([
    ['rewind', (temp) => temp.store.rewind('s', { target: 1 })],
    ['restore of files', (temp) => temp.store.rewind('s', { target: 1, part: 'files' })],
    ['rewind of the reference', (temp) => temp.store.applyRewind('s', temp.workspace, 1)],
  ])('given Zero lowered the count, then a %s takes none that a kept log has used', async (_, act) => {
    const temp = await tenMessages();
    temp.put({ f: 'f0' });
    await temp.store.rewind('s', { target: 8 });
    rewindAsForeigner(temp.root, 's', temp.workspace, 2, alone);
    await temp.tool({ f: 'f1' });

    await act(temp);

    const used = temp.sequences();
    expect(used.at(-1)).toBeGreaterThan(10);
    expect(await eventCount(temp)).toBe(used.at(-1));
  });

  test('given records without record.json, then the last lines of their logs count', async () => {
    const temp = await tenMessages();
    await temp.store.rewind('s', { target: 8 });
    asFirstVersion(temp);
    rewindAsForeigner(temp.root, 's', temp.workspace, 2, alone);

    await temp.store.rewind('s', { target: 1 });

    expect(temp.sequences()).toEqual([1, 11]);
  });

  test('given an intent that was taken off again, then its sequence is free', async () => {
    const temp = await tempWorkspace();
    temp.put({ f: 'f0' });
    await temp.say();
    await temp.tool({ f: 'f1' });
    await temp.store.restoreToSequence('s', temp.workspace, 1);

    await temp.store.rewind('s', { target: 4, part: 'events' }).catch(() => undefined);
    await temp.store.rewind('s', { target: 3, part: 'events' });

    expect(temp.sequences()).toEqual([1, 2, 3, 5]);
  });

  test('given metadata that count more than any log, then that is what it is above', async () => {
    const temp = await tenMessages();
    const metadata = JSON.parse(temp.text('metadata.json'));
    writeFileSync(temp.path('metadata.json'), JSON.stringify({ ...metadata, eventCount: 40 }));

    await temp.store.rewind('s', { target: 8 });

    expect(temp.sequences().at(-1)).toBe(41);
  });

  test('given numbers that Zero used again, then an undo of ours and of that stays in order', async () => {
    const temp = await tenMessages();
    const before = temp.log();
    const { report } = await temp.store.rewind('s', { target: 8 });
    rewindAsForeigner(temp.root, 's', temp.workspace, 2, alone);
    appendEventsAsForeigner(temp.root, 's', [{ type: 'message', payload: { role: 'user', content: 'again' } }], alone);
    const foreign = temp.log();

    const undone = await temp.store.undoRewind('s', { rewindId: report.rewindId ?? '', force: true });
    expect(temp.log().startsWith(before)).toBe(true);
    await temp.store.undoRewind('s', { rewindId: undone.report.rewindId ?? '' });

    expect(temp.log().startsWith(foreign)).toBe(true);
    const used = temp.sequences();
    expect(used).toEqual([1, 2, 3, 4, 12]);
  });
});
