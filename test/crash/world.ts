import type { SessionStore, StoreWarning } from '../../src/index.js';
import { storeDeps } from '../../src/store/open-store.js';
import { SessionStore as Store } from '../../src/store/session-store.js';
import { type FixedClock, fixedClock } from '../support/fixed-clock.js';
import { inProcessLocks } from '../support/in-process-locks.js';
import { emptyTree, MemoryFileSystem, type Tree } from '../support/memory-file-system.js';

export const ROOT = '/data/sessions';
export const WORKSPACE = '/work/space';

/** A store on a disk in memory, with the production code in between. */
export interface World {
  readonly fs: MemoryFileSystem;
  readonly store: SessionStore;
  readonly clock: FixedClock;
  readonly warnings: readonly StoreWarning[];
}

/** What runs between two crashes gets ids of its own, later than those before. */
export type Era = 'prepare' | 'interrupted' | 'operation' | 'survivor' | 'recovery' | 'second recovery' | 'afterwards';

const FIRST_ID: Readonly<Record<Era, number>> = {
  prepare: 100,
  interrupted: 150,
  operation: 200,
  survivor: 250,
  recovery: 300,
  'second recovery': 400,
  afterwards: 500,
};
const START = new Date('2026-07-09T12:00:00Z').getTime();
const LATER_MS: Readonly<Record<Era, number>> = {
  prepare: 0,
  interrupted: 5_000,
  operation: 10_000,
  // Late enough for the id that the other one claimed, and too early for its hidden folder.
  survivor: 120_000,
  recovery: 180_000,
  'second recovery': 180_000,
  afterwards: 3 * 3_600_000,
};

/** Opens a store on a file system; ids and times are the same in every run. */
export function worldOn(makeFs: (now: () => number) => MemoryFileSystem, era: Era): World {
  const clock = fixedClock(new Date(START + LATER_MS[era]).toISOString());
  const fs = makeFs(() => clock.now().getTime());
  const warnings: StoreWarning[] = [];
  let next = FIRST_ID[era];
  const deps = storeDeps({
    root: ROOT,
    fileSystem: fs,
    locks: inProcessLocks,
    now: clock.now,
    onWarning: (warning) => warnings.push(warning),
    newId: () => {
      next += 1;
      return `01K${String(next).padStart(23, '0')}`;
    },
  });
  return { fs, store: new Store(deps), clock, warnings };
}

/** Opens a store on a copy of a tree. */
export function worldOfTree(tree: Tree, era: Era): World {
  return worldOn((now) => new MemoryFileSystem(tree, now), era);
}

/** Gives a disk with an empty workspace and a folder that the store can be made in. */
export function freshTree(): Tree {
  const fs = new MemoryFileSystem(emptyTree(START), () => START);
  for (const path of ['/data', '/work', WORKSPACE]) fs.mkdir(path, 0o755);
  return fs.snapshot();
}

/** Changes the workspace as an editor does that syncs nothing: in place. */
export const edit = {
  write({ fs }: World, name: string, text: string, mode = 0o644): void {
    const path = `${WORKSPACE}/${name}`;
    if (fs.lstat(path) === undefined) fs.close(fs.create(path, mode));
    const fd = fs.openAppend(path);
    if (fs.fstat(fd).size > 0) fs.truncate(fd, 0);
    fs.write(fd, Buffer.from(text), 0, Buffer.byteLength(text));
    if (fs.fstat(fd).mode !== mode) fs.fchmod(fd, mode);
    fs.close(fd);
  },
  mode({ fs }: World, name: string, mode: number): void {
    const fd = fs.openRead(`${WORKSPACE}/${name}`);
    fs.fchmod(fd, mode);
    fs.close(fd);
  },
  folder({ fs }: World, name: string): void {
    fs.mkdir(`${WORKSPACE}/${name}`, 0o755);
  },
  link({ fs }: World, name: string, target: string): void {
    if (fs.lstat(`${WORKSPACE}/${name}`) !== undefined) fs.unlink(`${WORKSPACE}/${name}`);
    fs.symlink(target, `${WORKSPACE}/${name}`);
  },
  remove({ fs }: World, name: string): void {
    fs.unlink(`${WORKSPACE}/${name}`);
  },
};
