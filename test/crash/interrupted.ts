import type { SessionStore } from '../../src/index.js';
import type { Tree } from '../support/memory-file-system.js';
import { RecordingFileSystem } from '../support/recording-file-system.js';
import { viewOf } from './view.js';
import { ROOT, worldOfTree, worldOn } from './world.js';

/** Runs a rewind on a copy of a disk, and kills it when it has changed the second of the files. */
export async function interruptedIn(tree: Tree, rewind: (store: SessionStore) => Promise<unknown>): Promise<Tree> {
  const whole = await killedAfter(tree, rewind, Number.POSITIVE_INFINITY);
  // What is not in the store is in the workspace: its folders are reached by their descriptors.
  const changing = whole.trace().calls.flatMap(({ name, path }, at) => {
    return (name === 'rename' || name === 'unlink') && !path.startsWith(ROOT) ? [at + 1] : [];
  });
  const [, second] = changing;
  if (second === undefined) throw new Error('the rewind does not change two files');
  return (await killedAfter(tree, rewind, second)).snapshot();
}

/** Appends an event to the session `s`, as another program does that knows nothing of rewinds. */
export function foreignAppend(tree: Tree): Tree {
  const { fs } = worldOfTree(tree, 'operation');
  const last = viewOf(tree).sessions.get('s')?.events.at(-1)?.sequence ?? 0;
  const line = Buffer.from(foreignLine(last + 1));
  const fd = fs.openAppend(`${ROOT}/s/events.jsonl`);
  fs.write(fd, line, 0, line.length);
  fs.close(fd);
  return fs.snapshot();
}

/** Gives an event of the session `s` as the reference program writes it. */
export function foreignLine(sequence: number): string {
  return `{"id":"s:${sequence}","sessionId":"s","sequence":${sequence},"type":"message","createdAt":"2026-07-09T12:00:15Z","payload":{"content":"theirs","role":"user"}}\n`;
}

async function killedAfter(
  tree: Tree,
  rewind: (store: SessionStore) => Promise<unknown>,
  calls: number,
): Promise<RecordingFileSystem> {
  let fs: RecordingFileSystem | undefined;
  const world = worldOn((now) => {
    fs = new RecordingFileSystem(tree, now, calls);
    return fs;
  }, 'interrupted');
  await rewind(world.store).catch((error: unknown) => {
    if (calls === Number.POSITIVE_INFINITY) throw error;
  });
  return fs as RecordingFileSystem;
}
