import { lutimesSync, readFileSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { StoreOptions } from '../../../src/index.js';
import { PeerRegistry } from '../../support/peer-registry.js';
import type { Content, TempWorkspace } from '../../support/temp-workspace.js';
import { tempWorkspace } from '../../support/temp-workspace.js';

const CALL_AT = Date.parse('2026-07-09T12:00:00Z');

/** A log with a checkpoint of `a` (content "before") at 12:00:01, and what the test has behind it. */
async function aCheckpoint(
  after: readonly { readonly type: string; readonly second: number; readonly payload?: unknown }[],
  call: object = { path: 'a' },
  options: StoreOptions = {},
): Promise<TempWorkspace> {
  const temp = await tempWorkspace(options);
  temp.put({ a: 'before' });
  await temp.store.appendEvent('s', {
    type: 'tool_call',
    payload: { id: 'c1', name: 'write_file', arguments: JSON.stringify(call) },
  });
  temp.clock.pass(1000);
  await temp.store.captureToolCheckpoint('s', temp.workspace, 'write_file', ['a']);
  let second = 1;
  for (const event of after) {
    temp.clock.pass((event.second - second) * 1000);
    second = event.second;
    await temp.store.appendEvent('s', { type: event.type, payload: event.payload });
  }
  return temp;
}

/** Writes `a` so many milliseconds after 12:00:00. */
function writeAt(temp: TempWorkspace, ms: number, content: Content = 'something else'): void {
  temp.put({ a: content });
  const time = (CALL_AT + ms) / 1000;
  lutimesSync(temp.at('a'), time, time);
}

async function actionOn(temp: TempWorkspace, target = 0): Promise<string | undefined> {
  const { files } = await temp.store.previewRewind('s', { target });
  return files.find(({ path }) => path === 'a')?.action;
}

const result = (second: number, toolCallId = 'c1', name = 'write_file') => ({
  type: 'tool_result',
  second,
  payload: { toolCallId, name, status: 'ok', output: '' },
});
const message = (second: number, role = 'user') => ({ type: 'message', second, payload: { content: 'x', role } });

describe('a file whose content nobody knows', () => {
  test.each([
    ['two seconds after the result', 12_000, 'restore'],
    ['a moment later', 12_001, 'conflict'],
    ['long before', 0, 'restore'],
  ])('given that it was written %s, then it is a %s', async (_when, ms, action) => {
    const temp = await aCheckpoint([message(3, 'assistant'), result(10), message(60)]);
    writeAt(temp, ms);

    expect(await actionOn(temp)).toBe(action);
  });

  test('given no result, then ten minutes after the checkpoint count', async () => {
    const temp = await aCheckpoint([message(5), message(60)]);

    writeAt(temp, 601_000);
    expect(await actionOn(temp)).toBe('restore');
    writeAt(temp, 601_001);
    expect(await actionOn(temp)).toBe('conflict');
  });

  test('given no result, and a process that has the session open, then the tool may still be at work', async () => {
    const registry = new PeerRegistry();
    const temp = await aCheckpoint([], { path: 'a' }, { env: registry.env });
    writeAt(temp, 3_600_000);
    expect(await actionOn(temp)).toBe('conflict');

    registry.add({ sessionId: 's', pid: process.pid });
    expect(await actionOn(temp)).toBe('restore');
  });

  test('given the result of another call that ran beside it, then it does not count', async () => {
    const temp = await aCheckpoint([
      { type: 'tool_call', second: 2, payload: { id: 'c2', name: 'read_file', arguments: '{}' } },
      result(5, 'c1'),
      result(50, 'c2', 'read_file'),
    ]);
    writeAt(temp, 20_000);

    expect(await actionOn(temp)).toBe('conflict');
  });

  test('given that the result of another call comes first, then its own is waited for', async () => {
    const temp = await aCheckpoint([
      { type: 'tool_call', second: 2, payload: { id: 'c2', name: 'bash', arguments: '{}' } },
      result(5, 'c2', 'bash'),
      result(50, 'c1'),
    ]);
    writeAt(temp, 40_000);

    expect(await actionOn(temp)).toBe('restore');
  });

  test('given a result whose call is not in the log, then it is as one captured by hand: a day', async () => {
    const temp = await tempWorkspace();
    temp.put({ a: 'before' });
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'edit', ['a']);
    temp.clock.pass(30_000);
    await temp.store.appendEvents('s', [
      { type: 'message' },
      { type: 'tool_result', payload: { toolCallId: 'x', name: 'edit' } },
    ]);
    writeAt(temp, 24 * 3_600_000);
    expect(await actionOn(temp)).toBe('restore');

    writeAt(temp, 24 * 3_600_000 + 1);
    expect(await actionOn(temp)).toBe('conflict');
  });

  test('given that only its mode is other, then it is no conflict', async () => {
    const temp = await aCheckpoint([result(5)]);
    temp.put({ a: { mode: 0o600 } });
    utimesSync(temp.at('a'), CALL_AT / 1000 + 999, CALL_AT / 1000 + 999);

    expect(await actionOn(temp)).toBe('restore');
  });

  test('given that somebody deleted it, then bringing it back loses nothing', async () => {
    const temp = await aCheckpoint([result(5)]);
    temp.put({ a: null, other: 'so that the folder is not empty' });

    expect(await actionOn(temp)).toBe('restore');
  });

  test('given a link that somebody put there, then it is a conflict whatever its time', async () => {
    const temp = await aCheckpoint([result(5)]);
    writeAt(temp, 0, { link: 'elsewhere' });

    expect(await actionOn(temp)).toBe('conflict');
  });
});

describe('a file with a content that is known', () => {
  test('given the content of the tool call, then it is the tool’s work however late', async () => {
    const temp = await aCheckpoint([result(5)], { path: 'a', content: 'told' });
    writeAt(temp, 999_000, 'told');

    expect(await actionOn(temp)).toBe('restore');
  });

  test('given what a later checkpoint found, then it is the session’s work however late', async () => {
    const temp = await aCheckpoint([result(5)]);
    temp.put({ a: 'in between' });
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'write_file', ['a']);
    await temp.say();
    writeAt(temp, 999_000, 'in between');

    expect(await actionOn(temp)).toBe('restore');
  });

  test('given the content of the checkpoint itself, then it is left', async () => {
    const temp = await aCheckpoint([result(5)]);
    writeAt(temp, 999_000, 'before');

    expect(await actionOn(temp)).toBe('leave');
  });
});

describe('what our own rewinds did to a file', () => {
  async function threeSteps(): Promise<TempWorkspace> {
    const temp = await tempWorkspace();
    temp.put({ a: 'v0' });
    await temp.say();
    await temp.tool({ a: 'v1' });
    await temp.tool({ a: 'v2' });
    await temp.tool({ a: 'v3' });
    return temp;
  }

  test('given one step back after the other, then none is a conflict', async () => {
    const temp = await threeSteps();

    for (const [target, content] of [
      [7, 'v2'],
      [4, 'v1'],
      [1, 'v0'],
    ] as const) {
      await temp.store.rewind('s', { target });
      expect(readFileSync(temp.at('a'), 'utf8')).toBe(content);
    }
  });

  test('given an undo, then the next rewind is none', async () => {
    const temp = await threeSteps();
    await temp.store.rewind('s', { target: 7 });
    await temp.store.undoRewind('s');

    expect((await temp.store.previewRewind('s', { target: 1 })).complete).toBe(true);
  });

  test('given that only events were dropped, then the work that they told of is still the session’s', async () => {
    const temp = await threeSteps();
    await temp.store.rewind('s', { target: 4, part: 'events' });

    expect((await temp.store.previewRewind('s', { target: 1 })).complete).toBe(true);
  });

  test('given that the user wrote after a rewind, then it is a conflict', async () => {
    const temp = await threeSteps();
    await temp.store.rewind('s', { target: 7 });
    temp.put({ a: 'mine' });
    utimesSync(temp.at('a'), new Date(), new Date());

    expect(await actionOn(temp, 1)).toBe('conflict');
  });
});

describe('a conflict', () => {
  test('given no force, then nothing is changed and the file is named', async () => {
    const temp = await aCheckpoint([result(5)]);
    writeAt(temp, 999_000, 'precious');
    const before = temp.everything();

    await expect(temp.store.rewind('s', { target: 0 })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('"a"'),
      plan: { files: [{ path: 'a', action: 'conflict' }] },
    });

    expect(temp.everything()).toEqual(before);
  });

  test('given force, then the user’s content comes back with the undo', async () => {
    const temp = await aCheckpoint([result(5)]);
    writeAt(temp, 999_000, 'precious');
    const before = [temp.files(), temp.log()];

    await temp.store.rewind('s', { target: 0, force: true });
    expect(readFileSync(temp.at('a'), 'utf8')).toBe('before');
    await temp.store.undoRewind('s');

    expect([temp.files(), temp.log().split('\n').slice(0, -2).join('\n')]).toEqual([
      before[0],
      String(before[1]).trimEnd(),
    ]);
  });

  test('given force and an undo, then the user’s content is still the user’s', async () => {
    const temp = await aCheckpoint([result(5)]);
    writeAt(temp, 999_000, 'precious');
    await temp.store.rewind('s', { target: 0, force: true });
    await temp.store.undoRewind('s');

    await expect(temp.store.rewind('s', { target: 0 })).rejects.toMatchObject({ code: 'CONFLICT' });
  });
});
