import type { Tree } from '../support/memory-file-system.js';
import { RecordingFileSystem, type Trace } from '../support/recording-file-system.js';
import type { Scenario } from './scenarios.js';
import { type View, viewOf } from './view.js';
import { type Era, freshTree, type World, worldOfTree, worldOn } from './world.js';

/** An operation that ran once, with what it did to the disk and what the disk said before and after it. */
export interface Recorded {
  readonly trace: Trace;
  readonly before: View;
  readonly after: View;
}

/** Runs the operation with everything recorded; unsynced edits of others are the first calls of the trace. */
export async function record(scenario: Scenario): Promise<Recorded> {
  const prepared = worldOfTree(freshTree(), 'prepare');
  await scenario.prepare(prepared);
  const base = (await scenario.crash?.(prepared.fs.snapshot())) ?? prepared.fs.snapshot();
  let fs: RecordingFileSystem | undefined;
  const world = worldOn((now) => {
    fs = new RecordingFileSystem(base, now);
    return fs;
  }, 'operation');
  scenario.unsynced?.(world);
  const before = await oldView(scenario, world.fs.snapshot());
  await scenario.run(world.store);
  fs?.acknowledge();
  return { trace: (fs as RecordingFileSystem).trace(), before, after: viewOf(world.fs.snapshot()) };
}

// What is settled in a way of its own is old when it is settled.
async function oldView(scenario: Scenario, tree: Tree): Promise<View> {
  return viewOf(scenario.settle === undefined ? tree : (await recovered(scenario, tree)).tree);
}

/** Runs what recovers, on a copy of a disk. */
export async function recovered(
  scenario: Scenario,
  tree: Tree,
  era: Era = 'recovery',
): Promise<{ readonly trace: Trace; readonly tree: Tree }> {
  let fs: RecordingFileSystem | undefined;
  const world = worldOn((now) => {
    fs = new RecordingFileSystem(tree, now);
    return fs;
  }, era);
  await settle(scenario, world);
  if (world.fs.openCount > 0) throw new Error(`${world.fs.openCount} files are open`);
  return { trace: (fs as RecordingFileSystem).trace(), tree: world.fs.snapshot() };
}

/** The writing command that puts things right and does nothing else. */
export async function settle(scenario: Scenario, world: World): Promise<void> {
  if (scenario.settle !== undefined) await scenario.settle(world.store);
  // Wants to change a title that the session does not have, and so only puts right what has to be.
  else await world.store.updateTitleIfCurrent('s', 'no such title', 'never');
}
