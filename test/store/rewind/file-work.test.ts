import { lutimesSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RewindPlan } from '../../../src/index.js';
import { rewindAsForeigner } from '../../crash/foreign-writer.mjs';
import { type TempWorkspace, tempWorkspace } from '../../support/temp-workspace.js';

/** Gives action and reason of a file. */
async function fateOf(temp: TempWorkspace, path: string, options: object = {}): Promise<string> {
  const plan: RewindPlan = await temp.store.previewRewind('s', { target: 1, ...options });
  const file = plan.files.find((each) => each.path === path);
  return `${file?.action}: ${file?.reason}`;
}

/** Puts a file there, as `cp -p` does. */
function putOld(temp: TempWorkspace, path: string, content: string): void {
  temp.put({ [path]: content });
  const old = new Date('2020-01-01T00:00:00Z');
  lutimesSync(temp.at(path), old, old);
}

async function asked(): Promise<TempWorkspace> {
  const temp = await tempWorkspace();
  temp.put({ a: 'v0' });
  await temp.say();
  return temp;
}

async function toolEvents(temp: TempWorkspace, sessionId: string, name: string, path: string, content: string) {
  await temp.store.appendEvent(sessionId, {
    type: 'tool_call',
    payload: { id: 'x', name, arguments: JSON.stringify({ path }) },
  });
  await temp.store.captureToolCheckpoint(sessionId, temp.workspace, name, [path]);
  temp.clock.pass(1000);
  temp.put({ [path]: content });
  await temp.store.appendEvent(sessionId, {
    type: 'tool_result',
    payload: { toolCallId: 'x', name, status: 'ok', output: '' },
  });
}

describe('finding 11: somebody else’s file', () => {
  test('given a denied call and a file with an old time, then it is a conflict', async () => {
    const temp = await asked();
    await temp.store.appendEvent('s', {
      type: 'tool_call',
      payload: { id: 'c', name: 'write_file', arguments: '{"path":"new"}' },
    });
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'write_file', ['new']);
    await temp.store.appendEvent('s', {
      type: 'tool_result',
      payload: {
        toolCallId: 'c',
        name: 'write_file',
        status: 'error',
        output: 'Error: Permission denied for write_file',
      },
    });
    putOld(temp, 'new', 'the user’s');

    expect(await fateOf(temp, 'new')).toMatch(
      /^conflict: edited outside the session at .*: write_file of event 2 was denied$/,
    );
  });

  test('given a written file that an older one replaced, then it is a conflict', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' }, { tells: true });
    putOld(temp, 'a', 'older');

    expect(await fateOf(temp, 'a')).toMatch(/^conflict: .* not what write_file of event 2 wrote$/);
  });

  test('given that the agent died before its result, and a file of months later, then it is a conflict', async () => {
    const temp = await asked();
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'write_file', ['new']);
    temp.clock.pass(90 * 24 * 3_600_000);
    temp.put({ new: 'the user’s' });

    expect(await fateOf(temp, 'new')).toMatch(/^conflict: edited outside the session at /);
  });

  test('given another project in the folder, with an old file of the name, then it is a conflict', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' });
    renameSync(temp.workspace, `${temp.workspace}-before`);
    mkdirSync(temp.workspace);
    putOld(temp, 'a', 'of another project');

    expect(await fateOf(temp, 'a')).toMatch(/^conflict: .*, before the turn with write_file of event 2 began at /);
  });
});

describe('finding 11: the session’s own work', () => {
  test('given a formatter that its shell ran after a write, then it is none of somebody else’s', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' }, { tells: true });
    await temp.tool({ a: 'v1 formatted' }, { name: 'bash', paths: [] });

    expect(await fateOf(temp, 'a')).toBe("restore: changed while the session's own bash of event 5 ran");
  });

  test('given rewind, undo and rewind, then none is a conflict', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' });
    await temp.tool({ a: 'v2', new: 'n' });
    const before = temp.files();

    for (let round = 0; round < 3; round += 1) {
      await temp.store.rewind('s', { target: 1 });
      temp.clock.pass(3_600_000);
      await temp.store.undoRewind('s');
      temp.clock.pass(3_600_000);
      expect(temp.files()).toEqual(before);
    }
  });

  test('given a rewind of Zero’s, then what it put back is the session’s', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' }, { tells: true });
    await temp.tool({ a: 'v2' }, { tells: true });
    temp.clock.pass(3_600_000);
    rewindAsForeigner(temp.root, 's', temp.workspace, 5, { isAlone: true, now: temp.clock.now });
    const now = temp.clock.now();
    lutimesSync(temp.at('a'), now, now);
    // What it put back is in no event any more; a later edit of its own kind is judged by the time alone.
    temp.put({ a: 'v1, with other line ends' });

    expect(await fateOf(temp, 'a')).toMatch(/^restore: changed by the rewind of event /);
  });

  test('given a sub-agent of a dropped event, then its work is', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' }, { tells: true });
    await temp.store.createChild('s', { sessionId: 'child' });
    temp.clock.pass(60_000);
    await toolEvents(temp, 'child', 'edit_file', 'a', 'v2');

    expect(await fateOf(temp, 'a')).toBe("restore: the session's own edit_file of event 2 of session child");
    await temp.store.updateTitle('child', 'x');
    for (const name of ['events.jsonl', 'metadata.json']) {
      rmSync(join(temp.root, 'child', name));
      mkdirSync(join(temp.root, 'child', name));
      expect(await fateOf(temp, 'a')).toMatch(/^conflict: /);
    }
  });

  test('given a sub-agent in another folder, then a file of that name there tells nothing', async () => {
    const temp = await asked();
    await temp.tool({ a: 'v1' }, { tells: true });
    await temp.store.createChild('s', { sessionId: 'child', cwd: temp.outside });
    temp.clock.pass(60_000);
    await toolEvents(temp, 'child', 'edit_file', 'a', 'v2');

    expect(await fateOf(temp, 'a')).toMatch(/^conflict: /);
  });

  test('given a project that moved, then absolute paths in calls are those of its new place', async () => {
    const temp = await asked();
    await temp.store.appendEvent('s', {
      type: 'tool_call',
      payload: { id: 'c', name: 'write_file', arguments: JSON.stringify({ path: temp.at('a'), content: 'v1' }) },
    });
    await temp.store.captureToolCheckpoint('s', temp.workspace, 'write_file', ['a']);
    temp.put({ a: 'v1' });
    await temp.store.appendEvent('s', {
      type: 'tool_result',
      payload: { toolCallId: 'c', name: 'write_file', status: 'ok' },
    });
    const moved = join(dirname(temp.workspace), 'moved');
    renameSync(temp.workspace, moved);
    lutimesSync(join(moved, 'a'), new Date(), new Date());

    expect(await fateOf(temp, 'a', { workspace: moved })).toBe("restore: the session's own write of event 2");
  });
});
