import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../../src/index.js';
import { formatInstant } from '../../../src/model/time.js';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

/** One edit of `f` from A to B and of `made` from nothing: events 1 (said), 2 to 4 (call, checkpoint, result). */
async function edited(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ f: 'A' });
  await temp.say();
  await temp.tool({ f: 'B', 'new/made': 'M' });
  return temp;
}

const content = (temp: TempWorkspace, path: string): string | undefined =>
  existsSync(temp.at(path)) ? readFileSync(temp.at(path), 'utf8') : undefined;

const restored = async (temp: TempWorkspace): Promise<StoredEvent | undefined> =>
  (await temp.store.readEvents('s')).findLast(({ type }) => type === 'session_checkpoint');

/** What a position says of `f`, by the log alone. */
async function at(temp: TempWorkspace, sequence: number, path = 'f'): Promise<string | undefined> {
  const file = (await temp.store.filesAt('s', sequence)).find((each) => each.path === path);
  if (file === undefined) return undefined;
  const found = await temp.store.readFileAt('s', file);
  return found.kind === 'file' ? Buffer.from(found.bytes).toString() : found.kind;
}

/** Brings files back as the reference program does: of the checkpoints after a sequence the first entry of a file wins. */
function restoreByZero(temp: TempWorkspace, sequence: number): void {
  const seen = new Set<string>();
  for (const line of temp.log().trimEnd().split('\n')) {
    const event = JSON.parse(line);
    if (event.type !== 'session_checkpoint' || event.sequence <= sequence) continue;
    for (const { path, absent, blob } of event.payload.files) {
      if (seen.has(path)) continue;
      seen.add(path);
      if (absent === true) rmSync(temp.at(path), { force: true });
      else writeFileSync(temp.at(path), temp.bytes(`checkpoints/blobs/${blob}`));
    }
  }
}

describe('finding 8: after a restore of files only', () => {
  test('given a position before it, then the log answers what the files were there', async () => {
    const temp = await edited();

    await temp.store.rewind('s', { target: 1, part: 'files' });

    expect([content(temp, 'f'), content(temp, 'new/made')]).toEqual(['A', undefined]);
    expect([await at(temp, 0), await at(temp, 4), await at(temp, 6)]).toEqual(['A', 'B', 'A']);
    expect(await at(temp, 4, 'new/made')).toBe('M');
  });

  test('given a rewind, a restore or Zero going to a position before it, then the files are as they were there', async () => {
    const ways: readonly ((temp: TempWorkspace) => unknown)[] = [
      (temp) => temp.store.rewind('s', { target: 4 }),
      (temp) => temp.store.rewind('s', { target: 4, part: 'files' }),
      (temp) => temp.store.applyRewind('s', temp.workspace, 4),
      (temp) => temp.store.restoreToSequence('s', temp.workspace, 4),
      (temp) => restoreByZero(temp, 4),
    ];
    for (const goBack of ways) {
      const temp = await edited();
      await temp.store.rewind('s', { target: 1, part: 'files' });
      if (goBack === ways.at(-1)) temp.put({ 'new/x': 'keeps the folder' });

      await goBack(temp);

      expect([content(temp, 'f'), content(temp, 'new/made')]).toEqual(['B', 'M']);
    }
  });

  test('given the log, then all its lines stand as before, then the checkpoint and the marker; the metadata count both', async () => {
    const temp = await edited();
    const before = temp.log();
    temp.clock.pass(5000);
    const time = formatInstant(temp.clock.now());

    const { report } = await temp.store.rewind('s', { target: 1, part: 'files', paths: ['f'] });

    const blob = '"blob":"df7e70e5021544f4834bbee64a9e3789febc4be81470df629cad6ddb03320a5c"'; // of B
    expect(temp.log()).toBe(
      `${before}{"id":"s:5","sessionId":"s","sequence":5,"type":"session_checkpoint","createdAt":"${time}","payload":{"tool":"zero-sessions/restore","files":[{"path":"f",${blob},"bytes":1,"mode":420}]}}\n` +
        `{"id":"s:6","sessionId":"s","sequence":6,"type":"session_rewind","createdAt":"${time}","payload":{"targetSequence":1,"report":{"targetSequence":1,"filesRestored":1,"filesDeleted":0},"rewindId":"${report.rewindId}"}}\n`,
    );
    expect(await temp.store.get('s')).toMatchObject({ eventCount: 6, lastEventType: 'session_rewind' });
  });

  test('given its undo, then log and files are what they were, and undoing that brings the restore back', async () => {
    const temp = await edited();
    const before = [temp.log(), temp.files()];
    await temp.store.rewind('s', { target: 1, part: 'files' });
    const after = [temp.log(), temp.files()];

    await temp.store.undoRewind('s');
    expect([temp.log().split('\n').slice(0, -2).join('\n').concat('\n'), temp.files()]).toEqual(before);
    await temp.store.undoRewind('s');
    expect([temp.log().split('\n').slice(0, -2).join('\n').concat('\n'), temp.files()]).toEqual(after);
  });

  test('given one restore after the other, then each is a position of its own', async () => {
    const temp = await edited();
    await temp.tool({ f: 'C' }); // events 5 to 7

    await temp.store.rewind('s', { target: 1, part: 'files' }); // events 8 and 9
    await temp.store.rewind('s', { target: 4, part: 'files' }); // events 10 and 11

    const answers = [1, 4, 7, 9, 11].map(async (sequence) => at(temp, sequence));
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'A', 'B']);
  });

  test('given lists of checkpoints, then it is none of the user’s', async () => {
    const temp = await edited();
    await temp.store.rewind('s', { target: 1, part: 'files' });

    expect((await temp.store.listCheckpoints('s')).map(({ sequence }) => sequence)).toEqual([3]);
    expect(await restored(temp)).toMatchObject({ sequence: 5 });
  });

  test('given folders with modes of their own and a link, then the checkpoint has them as any has', async () => {
    const temp = await tempWorkspace();
    temp.put({ l: { link: 'f' } });
    await temp.say();
    await temp.tool({ 'private/key': 'k', l: { link: 'g' } });
    temp.put({ private: { mode: 0o700 } });
    const before = temp.files();

    await temp.store.rewind('s', { target: 1, part: 'files' });
    await temp.store.rewind('s', { target: 4 });

    expect(temp.files()).toEqual(before);
  });

  test('given a restore to a sequence by the library, then log and metadata keep their bytes and the number is free', async () => {
    const temp = await edited();
    const before = [temp.log(), temp.text('metadata.json')];

    await temp.store.restoreToSequence('s', temp.workspace, 1);
    expect([temp.log(), temp.text('metadata.json')]).toEqual(before);

    expect(await temp.say()).toMatchObject({ sequence: 5 });
  });
});

describe('finding 9: a way back with nothing to do', () => {
  const ways = [
    ['a rewind to the last event', { target: 4 }],
    ['a restore to the last event', { target: 4, part: 'files' }],
    ['a restore of a file that is as it was', { target: 1, part: 'files', paths: ['f'] }],
    ['a rewind to nothing of an empty log', { target: 0 }],
  ] as const;

  test.each(ways)('given %s, then nothing is written and there is nothing to undo', async (what, options) => {
    const temp = await tempWorkspace();
    if (!what.endsWith('an empty log')) {
      temp.put({ f: 'A' });
      await temp.say();
      await temp.tool({ f: 'B' });
      if ('paths' in options) temp.put({ f: 'A' });
    }
    const before = temp.everything();

    const { report } = await temp.store.rewind('s', options);

    expect(report.rewindId).toBeNull();
    expect(temp.everything()).toEqual(before);
    expect(await temp.store.rewindHistory('s')).toEqual([]);
  });

  test('given a fragment behind the log, then that stays, too', async () => {
    const temp = await edited();
    writeFileSync(temp.path('events.jsonl'), `${temp.log()}{"id":"s:5","ses`);
    const before = temp.everything();

    await temp.store.rewind('s', { target: 4 });

    expect(temp.everything()).toEqual(before);
  });

  test('given the reference’s own name, then its marker is written, and it is nothing to undo', async () => {
    const temp = await edited();

    await temp.store.applyRewind('s', temp.workspace, 4);

    expect(await temp.store.get('s')).toMatchObject({ eventCount: 5, lastEventType: 'session_rewind' });
    expect(await temp.store.rewindHistory('s')).toEqual([]);
    await expect(temp.store.undoRewind('s')).rejects.toMatchObject({ code: 'REWIND_NOT_FOUND' });
  });

  test('given an undo of what was put back by hand, then nothing is written either', async () => {
    const temp = await edited();
    await temp.store.restoreToSequence('s', temp.workspace, 1);
    temp.put({ f: 'B', 'new/made': 'M' });
    const before = temp.everything();

    const { report } = await temp.store.undoRewind('s');

    expect(report.rewindId).toBeNull();
    expect(temp.everything()).toEqual(before);
  });
});

describe('finding 36: a restore without readable metadata', () => {
  test.each([
    ['missing', (temp: TempWorkspace) => rmSync(temp.path('metadata.json'))],
    ['no JSON', (temp: TempWorkspace) => writeFileSync(temp.path('metadata.json'), '{')],
  ] as const)(
    'given metadata that are %s and a workspace, then files, checkpoint and marker are there and metadata as they were',
    async (_, spoil) => {
      const temp = await edited();
      spoil(temp);
      const metadata = existsSync(temp.path('metadata.json')) ? temp.text('metadata.json') : undefined;

      await temp.store.rewind('s', { target: 1, part: 'files', workspace: temp.workspace });

      expect(content(temp, 'f')).toBe('A');
      expect(temp.sequences()).toEqual([1, 2, 3, 4, 5, 6]);
      expect(existsSync(temp.path('metadata.json')) ? temp.text('metadata.json') : undefined).toBe(metadata);
      await temp.store.undoRewind('s', { workspace: temp.workspace });
      expect(content(temp, 'f')).toBe('B');
    },
  );

  test('given no workspace, or events to drop, then the metadata are what is missing', async () => {
    const temp = await edited();
    writeFileSync(temp.path('metadata.json'), '{');
    const before = temp.everything();

    for (const options of [{ part: 'files' }, { workspace: temp.workspace }, {}] as const) {
      await expect(temp.store.rewind('s', { target: 1, ...options })).rejects.toMatchObject({
        code: 'METADATA_DAMAGED',
      });
    }

    expect(temp.everything()).toEqual(before);
  });
});
