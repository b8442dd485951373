import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/fs/file-system.js';
import { openStore, type SessionStore, type StoreOptions } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { runCommandLine } from '../../support/run-cli.js';

const ME = process.getuid?.() ?? 0;
const isRoot = ME === 0;
const SOMEBODY = 12_345;

/** A store that belongs to another user than the one that the library is told it runs as, and a workspace. */
interface ForeignStore {
  readonly root: string;
  readonly workspace: string;
  readonly owner: number;
  /** Opens it for root, or for whoever is not its owner. */
  open(options?: StoreOptions): SessionStore;
  /** Gives what does not belong to the owner. */
  foreign(): readonly string[];
}

/**
 * As root the store is given to somebody, and ownership is what the disk says. Nobody else can give a file away: then
 * the store is one's own, the library is told that it runs as another, and ownership is what it asked the system for.
 */
function foreignStore(): ForeignStore {
  const top = mkdtempSync(join(tmpdir(), 'zs-owner-'));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  chmodSync(top, 0o755);
  const [root, workspace] = [join(top, 'sessions'), join(top, 'workspace')];
  const owner = isRoot ? SOMEBODY : ME;
  for (const folder of [root, workspace]) {
    mkdirSync(folder, { mode: 0o700 });
    if (isRoot) chownSync(folder, owner, owner);
  }
  const given = new Set<string>();
  const fileSystem: FileSystem = {
    ...nodeFileSystem,
    lstat: (path) => asOthers(nodeFileSystem.lstat(path)),
    chown: (path, uid, gid) => {
      given.add(`${uid} ${nodeFileSystem.lstat(path)?.ino}`);
      if (isRoot) nodeFileSystem.chown(path, uid, gid);
    },
  };
  // What nobody but root can have made looks as if it were another's, so that it is given away.
  const asOthers = <T>(stat: T): T => (isRoot || stat === undefined ? stat : { ...stat, uid: owner + 1 });
  const belongs = (path: string): boolean =>
    isRoot ? lstatSync(path).uid === owner : given.has(`${owner} ${lstatSync(path).ino}`);
  return {
    root,
    workspace,
    owner,
    open: (options = {}) => openStore({ root, uid: isRoot ? 0 : owner + 1, fileSystem, ...options }),
    foreign: () =>
      [root, workspace].flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .map((name) => join(folder, name))
          .filter((path) => !belongs(path)),
      ),
  };
}

/** Makes a session with everything in it that a store can have. */
async function everyWriter(
  store: SessionStore,
  { root, workspace }: ForeignStore,
  put: (path: string) => void,
): Promise<void> {
  await store.create({ sessionId: 's', cwd: workspace });
  await store.appendEvents('s', [aMessage(), aMessage()]);
  put(join(workspace, 'a'));
  await store.captureToolCheckpoint('s', workspace, 't', ['a', 'made/file']);
  rmSync(join(workspace, 'a'));
  // Nothing is left in it by then, so it is named.
  await store.rewind('s', { target: 1, workspace });
  await store.undoRewind('s');
  await store.restoreToSequence('s', workspace, 1);
  await store.fork('s', { sessionId: 'f' });
  await store.createChild('s', { sessionId: 'c' });
  await store.truncateEvents('s', 1);
  expect(readdirSync(root)).toEqual(expect.arrayContaining(['.zs-locks', 'c', 'f', 's']));
}

describe('writing to the store of another user', () => {
  test('55. given root, then every writer is refused, and nothing is made or changed', async () => {
    const foreign = foreignStore();
    const owned = openStore({ root: foreign.root });
    await owned.create({ sessionId: 's', cwd: foreign.workspace });
    await owned.appendEvents('s', [aMessage(), aMessage()]);
    const store = foreign.open();
    const before = snapshot(foreign.root);

    for (const write of [
      () => store.create({ sessionId: 'new' }),
      () => store.fork('s'),
      () => store.createChild('s'),
      () => store.appendEvent('s', aMessage()),
      () => store.updateTitle('s', 'new'),
      () => store.captureToolCheckpoint('s', foreign.workspace, 't', ['a']),
      () => store.rewind('s', { target: 1 }),
      () => store.truncateEvents('s', 1),
      () => store.createGoal('s', 'all of it'),
    ])
      await expect(write()).rejects.toMatchObject({
        code: 'FOREIGN_OWNER',
        message: expect.stringContaining(`${foreign.owner}`),
      });

    expect(snapshot(foreign.root)).toEqual(before);
  });

  test('55. given root as owner, then every file belongs to the owner afterwards, also what a rewind brings back', async () => {
    const foreign = foreignStore();
    const store = foreign.open({ asOwner: true });

    await everyWriter(store, foreign, (path) => {
      writeFileSync(path, 'a0');
      if (isRoot) chownSync(path, foreign.owner, foreign.owner);
    });

    expect(foreign.foreign()).toEqual([]);
  });

  test('55. given root as owner, then the owner can read and write all of it afterwards', async () => {
    const foreign = foreignStore();
    await everyWriter(foreign.open({ asOwner: true }), foreign, (path) => {
      writeFileSync(path, 'a0');
      if (isRoot) chownSync(path, foreign.owner, foreign.owner);
    });

    const asOwner = isRoot ? { uid: foreign.owner, gid: foreign.owner } : {};
    const check = 'find . -type f ! -readable -o -type f ! -writable -o -type d ! -writable';
    expect(execFileSync('sh', ['-c', check], { cwd: foreign.root, encoding: 'utf8', ...asOwner })).toBe('');
  });

  test('55. given the program without --as-owner, then it says so and exits with 1', async () => {
    const foreign = foreignStore();
    // The program asks the system who it is: only root is ever somebody else here.

    const { code, err } = await runCommandLine(['create', '--id', 's'], { root: foreign.root });

    expect([code, err]).toEqual(isRoot ? [1, expect.stringContaining('--as-owner')] : [0, expect.anything()]);
  });

  test('given root, then reading works', async () => {
    const foreign = foreignStore();
    await openStore({ root: foreign.root }).create({ sessionId: 's' });

    expect(await foreign.open().list()).toHaveLength(1);
  });

  test('given the owner, then nothing is in the way', async () => {
    const foreign = foreignStore();
    const store = openStore({ root: foreign.root, uid: lstatSync(foreign.root).uid });

    expect(await store.create({ sessionId: 's' })).toMatchObject({ sessionId: 's' });
  });
});

function snapshot(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${lstatSync(join(folder, name)).mtimeMs}`)
    .sort();
}
