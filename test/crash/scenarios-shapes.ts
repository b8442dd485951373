import { aMessage } from '../support/event-builder.js';
import type { Scenario } from './scenarios.js';
import { edit, WORKSPACE, type World } from './world.js';

// What was a file is a folder now, and the other way round: one has to go before the other can come back.

async function toolResult({ store }: World): Promise<void> {
  await store.appendEvent('s', {
    type: 'tool_result',
    payload: { toolCallId: 'c', name: 'edit', status: 'ok', output: '' },
  });
}

/**
 * `a` was a file and is a folder with `a/b` and `a/in/c`; `d/x` and `d/in/y` were files and `d` is one now; `l` was a
 * link and is a folder, `m/z` was a file and `m` is a link.
 */
async function changedShapes(world: World): Promise<void> {
  const { store } = world;
  await store.create({ sessionId: 's', title: 'A session', cwd: WORKSPACE });
  await store.appendEvents('s', [aMessage('first'), aMessage('second', 'assistant')]);
  edit.write(world, 'a', 'a, before\n', 0o600);
  for (const folder of ['d', 'd/in', 'm', 'elsewhere']) edit.folder(world, folder);
  edit.write(world, 'd/x', 'x, before\n');
  edit.write(world, 'd/in/y', 'y, before\n', 0o755);
  edit.write(world, 'm/z', 'z, before\n');
  edit.write(world, 'elsewhere/z', 'not to be touched\n');
  edit.link(world, 'l', 'elsewhere');
  await store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['a', 'd/x', 'd/in/y', 'm/z', 'l']);
  for (const file of ['a', 'd/x', 'd/in/y', 'm/z', 'l']) edit.remove(world, file);
  for (const folder of ['d/in', 'd', 'm']) world.fs.rmdir(`${WORKSPACE}/${folder}`);
  await toolResult(world);
  await store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['a/b', 'a/in/c', 'd', 'm', 'l/k']);
  for (const folder of ['a', 'a/in', 'l']) edit.folder(world, folder);
  edit.write(world, 'a/b', 'b, after\n');
  edit.write(world, 'a/in/c', 'c, after\n');
  edit.write(world, 'd', 'd, after\n');
  edit.link(world, 'm', 'elsewhere');
  edit.write(world, 'l/k', 'k, after\n');
  await toolResult(world);
}

const CALLS = { create: 5, symlink: 1, rename: 6, unlink: 5, rmdir: 3, mkdir: 3, link: 1, fsync: 8, syncFolder: 20 };

/** Rewinds over files that became folders and folders that became files, and their undo. */
export const SHAPE_SCENARIOS: readonly Scenario[] = [
  {
    numbers: '5, 6, 7, 11',
    name: 'rewind of changed shapes',
    prepare: changedShapes,
    run: (store) => store.rewind('s', { target: 2 }),
    judged: 'whole',
    calls: CALLS,
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo of changed shapes',
    prepare: async (world) => {
      await changedShapes(world);
      await world.store.rewind('s', { target: 2 });
    },
    run: (store) => store.undoRewind('s'),
    judged: 'whole',
    calls: CALLS,
  },
];
