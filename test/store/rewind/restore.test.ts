import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

async function twoSteps(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'a0', b: 'b0' });
  await temp.say();
  await temp.tool({ a: 'a1' });
  await temp.tool({ a: 'a2', b: 'b1', c: 'c1' });
  return temp;
}

const content = (temp: TempWorkspace, path: string): string | undefined =>
  existsSync(temp.at(path)) ? readFileSync(temp.at(path), 'utf8') : undefined;

describe('the bare restore', () => {
  test('given a point, then files are as they were just after it, and log and metadata keep their bytes', async () => {
    const temp = await twoSteps();
    const before = [temp.log(), temp.text('metadata.json')];

    expect(await temp.store.restoreToSequence('s', temp.workspace, 4)).toEqual({
      targetSequence: 4,
      filesRestored: 2,
      filesDeleted: 1,
    });

    expect([content(temp, 'a'), content(temp, 'b'), content(temp, 'c')]).toEqual(['a1', 'b0', undefined]);
    expect([temp.log(), temp.text('metadata.json')]).toEqual(before);
  });

  test('given a file that somebody changed, then it is replaced, and its content is kept', async () => {
    const temp = await twoSteps();
    temp.clock.pass(60_000);
    temp.put({ a: 'mine' });

    await temp.store.restoreToSequence('s', temp.workspace, 1);
    expect(content(temp, 'a')).toBe('a0');
    await temp.store.undoRewind('s');

    expect(content(temp, 'a')).toBe('mine');
  });

  test('given a link where a file was, then it is skipped', async () => {
    const temp = await twoSteps();
    temp.put({ a: { link: 'b' } });

    expect(await temp.store.restoreToSequence('s', temp.workspace, 1)).toMatchObject({
      filesRestored: 1,
      skipped: ['a'],
    });

    expect(content(temp, 'b')).toBe('b0');
  });

  test('given a checkpoint that cannot be decoded, then nothing is changed', async () => {
    const temp = await twoSteps();
    await temp.store.appendEvent('s', { type: 'session_checkpoint', payload: 'broken' });
    const before = temp.everything();

    await expect(temp.store.restoreToSequence('s', temp.workspace, 1)).rejects.toMatchObject({
      code: 'PAYLOAD_DAMAGED',
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given what is so already, then nothing is written, and it counts', async () => {
    const temp = await twoSteps();
    await temp.store.restoreToSequence('s', temp.workspace, 1);
    const before = [temp.everything(), temp.tree()];

    expect(await temp.store.restoreToSequence('s', temp.workspace, 1)).toEqual({
      targetSequence: 1,
      filesRestored: 2,
      filesDeleted: 1,
    });

    expect([temp.everything(), temp.tree()]).toEqual(before);
  });
});

describe('a restore of chosen files', () => {
  test('given one, then the others stay, no event goes, and a marker tells of it', async () => {
    const temp = await twoSteps();
    const log = temp.log();

    const { report } = await temp.store.rewind('s', { target: 1, part: 'files', paths: ['a'] });

    expect([content(temp, 'a'), content(temp, 'b')]).toEqual(['a0', 'b1']);
    expect(temp.log().startsWith(log)).toBe(true);
    expect(temp.log().slice(log.length)).toContain(report.rewindId);
  });
});
