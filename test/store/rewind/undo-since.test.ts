import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { rewindAsForeigner } from '../../crash/foreign-writer.mjs';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

const content = (temp: TempWorkspace, path: string): string | undefined =>
  existsSync(temp.at(path)) ? readFileSync(temp.at(path), 'utf8') : undefined;

/** The log without its last line, which is the marker. */
const logBehind = (temp: TempWorkspace): string => temp.log().split('\n').slice(0, -2).join('\n').concat('\n');

/** A rewind to event 1 over an edit of `f`; and what it is undone to. */
async function rewound(): Promise<{ temp: TempWorkspace; before: readonly unknown[]; rewindId: string }> {
  const temp = await tempWorkspace();
  temp.put({ f: 'A', 'keep.txt': 'K' });
  await temp.say(); // 1
  await temp.tool({ f: 'B' }); // 2 to 4
  const before = [temp.log(), temp.files()];
  const { report } = await temp.store.rewind('s', { target: 1 }); // 5 and 6
  return { temp, before, rewindId: report.rewindId ?? '' };
}

describe('finding 6: an undo after more was done', () => {
  test('given checkpoints since, then log and files are what they were, and undoing that gives all of it back', async () => {
    const { temp, before } = await rewound();
    await temp.tool({ 'keep.txt': 'changed', 'new.txt': 'made', 'deep/er/file': 'made' });
    await temp.tool({ 'keep.txt': 'again', f: 'C' });
    const after = [temp.log(), temp.files()];

    await temp.store.undoRewind('s');
    expect([logBehind(temp), temp.files()]).toEqual(before);
    await temp.store.undoRewind('s');

    expect([logBehind(temp), temp.files()]).toEqual(after);
  });

  const others: readonly (readonly [string, (temp: TempWorkspace) => Promise<unknown>])[] = [
    ['a rewind of events only', (temp) => temp.store.rewind('s', { target: 1, part: 'events' })],
    ['a restore', (temp) => temp.store.rewind('s', { target: 1, part: 'files' })],
    ['a bare restore', (temp) => temp.store.restoreToSequence('s', temp.workspace, 1)],
    ['a bare cut', (temp) => temp.store.truncateEvents('s', 1)],
  ];

  test.each(others)('given %s that is undone, then what came since goes back, too', async (_, goBack) => {
    const temp = await tempWorkspace();
    temp.put({ f: 'A', 'keep.txt': 'K' });
    await temp.say();
    await temp.tool({ f: 'B' });
    const before = [temp.log(), temp.files()];
    await goBack(temp);
    // At once behind it: a number that was taken off again is used by the very next event.
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'edit', ['keep.txt']);
    temp.put({ 'keep.txt': 'changed' });
    await temp.tool({ 'new.txt': 'made' });

    await temp.store.undoRewind('s');

    expect([logBehind(temp), temp.files()]).toEqual(before);
  });

  test('given work that a later rewind dropped, then it is found in what that one kept', async () => {
    const { temp, before, rewindId } = await rewound();
    await temp.tool({ 'keep.txt': 'changed' });
    await temp.tool({ 'keep.txt': 'again', 'new.txt': 'made' });
    await temp.store.rewind('s', { target: 9 });
    expect(content(temp, 'keep.txt')).toBe('changed');

    await temp.store.undoRewind('s', { rewindId });

    expect([logBehind(temp), temp.files()]).toEqual(before);
  });

  test('given events that an undo brought back, then they did not happen since', async () => {
    const { temp, rewindId: first } = await rewound();
    const between = [temp.log(), temp.files()];
    const { report } = await temp.store.rewind('s', { target: 0, part: 'events' });
    await temp.store.undoRewind('s', { rewindId: first });
    expect(content(temp, 'f')).toBe('B');

    await temp.store.undoRewind('s', { rewindId: report.rewindId ?? '' });

    expect([logBehind(temp), temp.files()]).toEqual(between);
  });

  test('given a file that somebody changed after the work since, then it is a conflict, and forced it is kept', async () => {
    const { temp, before } = await rewound();
    await temp.tool({ 'keep.txt': 'changed' }, { tells: true });
    temp.clock.pass(3_600_000);
    temp.put({ 'keep.txt': 'mine' });
    const everything = temp.everything();

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('keep.txt'),
    });
    expect(temp.everything()).toEqual(everything);
    await temp.store.undoRewind('s', { force: true });
    expect([logBehind(temp), temp.files()]).toEqual(before);
    await temp.store.undoRewind('s');

    expect(content(temp, 'keep.txt')).toBe('mine');
  });

  test('given a shell call since that made a file, then that stays and is said to be uncovered', async () => {
    const { temp } = await rewound();
    await temp.store.appendEvents('s', [
      { type: 'tool_call', payload: { id: 'c', name: 'bash', arguments: '{"command":"touch x"}' } },
      {
        type: 'tool_result',
        payload: { toolCallId: 'c', name: 'bash', status: 'ok', output: '', changedFiles: ['x'] },
      },
    ]);
    temp.put({ x: 'by a shell' });

    const { plan } = await temp.store.undoRewind('s');

    expect(content(temp, 'x')).toBe('by a shell');
    expect(plan.uncovered).toEqual([
      { kind: 'shell', sequence: 7 },
      { kind: 'file', sequence: 8, path: 'x' },
    ]);
  });

  test('given a plan of it, then it has the events that are back and those that are taken back', async () => {
    const { temp } = await rewound();
    await temp.tool({ 'new.txt': 'made' });

    const plan = await temp.store.previewUndo('s');

    expect(plan.returned?.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    expect(plan.dropped.map(({ sequence }) => sequence)).toEqual([6, 7, 8, 9]);
    expect(plan.files.map(({ path, action }) => [path, action])).toEqual([
      ['f', 'restore'],
      ['new.txt', 'delete'],
    ]);
  });
});

describe('finding 6: an undo after another program went back', () => {
  test('given a rewind of its that changed files, then it is refused as a whole, unless forced', async () => {
    const { temp, before } = await rewound();
    await temp.tool({ 'keep.txt': 'changed' }); // 7 to 9
    rewindAsForeigner(temp.root, 's', temp.workspace, 6, { isAlone: true });
    const everything = temp.everything();

    expect(await temp.store.previewUndo('s')).toMatchObject({
      complete: false,
      doubt: expect.stringMatching('event 7'),
    });
    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(temp.everything()).toEqual(everything);
    await temp.store.undoRewind('s', { force: true });

    expect([logBehind(temp), temp.files()]).toEqual(before);
  });

  test('given one that says that no file was changed, then it is done', async () => {
    const { temp, before } = await rewound();
    await temp.say();
    rewindAsForeigner(temp.root, 's', temp.workspace, 6, { isAlone: true });

    await temp.store.undoRewind('s');

    expect([logBehind(temp), temp.files()]).toEqual(before);
  });

  test('given one from before the rewind that is undone, then it is none of its business', async () => {
    const temp = await tempWorkspace();
    temp.put({ f: 'A' });
    await temp.say();
    await temp.tool({ f: 'B' });
    rewindAsForeigner(temp.root, 's', temp.workspace, 1, { isAlone: true });
    await temp.tool({ f: 'C' });
    const before = [temp.log(), temp.files()];
    await temp.store.rewind('s', { target: 1 });

    await temp.store.undoRewind('s');

    expect([logBehind(temp), temp.files()]).toEqual(before);
  });

  test('given that the marker is gone and nothing tells why, then it is refused', async () => {
    const { temp } = await rewound();
    const lines = temp.log().split('\n').slice(0, 1).join('\n');
    writeFileSync(temp.path('events.jsonl'), `${lines}\n`);

    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('marker is gone'),
    });
  });
});
