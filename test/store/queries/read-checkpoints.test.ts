import { readdirSync, unlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';
import { appendIntent } from '../../support/unfinished-rewind.js';

/** a: a0 → a1 (by 4) → a2 (by 7); b is made by 7. */
async function twoSteps(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'a0' });
  await temp.say();
  await temp.tool({ a: 'a1' });
  await temp.tool({ a: 'a2', b: 'b1', link: { link: 'a' } });
  return temp;
}

async function textAt(temp: TempWorkspace, sequence: number): Promise<Record<string, unknown>> {
  const files = await temp.store.filesAt('s', sequence);
  const read = await Promise.all(files.map((file) => temp.store.readFileAt('s', file)));
  return Object.fromEntries(
    read.map((content, at) => [
      files[at]?.path,
      content.kind === 'file' ? Buffer.from(content.bytes).toString() : content.kind,
    ]),
  );
}

describe('files at a point', () => {
  test('given any event, then each file is what it was just after it', async () => {
    const temp = await twoSteps();

    expect(await textAt(temp, 0)).toEqual({ a: 'a0', b: 'absent', link: 'absent' });
    expect(await textAt(temp, 1)).toEqual({ a: 'a0', b: 'absent', link: 'absent' });
    expect(await textAt(temp, 4)).toEqual({ a: 'a1', b: 'absent', link: 'absent' });
    expect(await textAt(temp, 7)).toEqual({ a: 'a2', b: 'b1', link: 'link' });
  });

  test('given a rewind, then what was dropped is not seen any more', async () => {
    const temp = await twoSteps();
    await temp.store.rewind('s', { target: 4 });

    expect(await textAt(temp, 4)).toEqual({ a: 'a1' });
  });

  test('given a blob that is gone, then it says so', async () => {
    const temp = await twoSteps();
    for (const name of readdirSync(temp.path('checkpoints/blobs'))) unlinkSync(temp.path('checkpoints/blobs', name));
    const [file] = await temp.store.filesAt('s', 1);

    expect(file && (await temp.store.readFileAt('s', file))).toMatchObject({
      kind: 'unavailable',
      reason: expect.stringContaining('is missing'),
    });
  });

  test('given a point that does not exist, then it is not found', async () => {
    const temp = await twoSteps();

    await expect(temp.store.filesAt('s', 99)).rejects.toMatchObject({ code: 'EVENT_NOT_FOUND' });
  });
});

describe('the list of checkpoints', () => {
  test('given an intent of ours, then it is none of the user’s', async () => {
    const temp = await twoSteps();
    appendIntent(temp);

    const checkpoints = await temp.store.listCheckpoints('s');

    expect(checkpoints.map(({ sequence, tool }) => [sequence, tool])).toEqual([
      [3, 'write_file'],
      [6, 'write_file'],
    ]);
  });
});
