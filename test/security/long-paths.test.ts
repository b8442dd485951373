import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { inProcessLocks } from '../support/in-process-locks.js';
import { tempWorkspace } from '../support/temp-workspace.js';
import { unsyncedFileSystem } from '../support/unsynced-file-system.js';

// Linux takes no path of 4,096 bytes or more.
const PATH_MAX = 4096;
const ID = 'i'.repeat(128);

interface LongStore {
  readonly store: SessionStore;
  readonly root: string;
  readonly workspace: string;
}

/** Gives stores whose roots are paths of so many bytes, 3,850 or more, with one workspace, which is as short as usual. */
function longRoots(): (length: number) => LongStore {
  const top = mkdtempSync(join(tmpdir(), 'zs-long-'));
  // By a program that goes down folder by folder.
  onTestFinished(() => void execFileSync('rm', ['-rf', top]));
  const workspace = join(top, 'w');
  mkdirSync(workspace);
  let base = top;
  while (base.length < 3600) base += `/${'d'.repeat(199)}`;
  base += `/${'d'.repeat(3840 - base.length - 1)}`;
  mkdirSync(base, { recursive: true });
  return (length) => {
    const root = `${base}/${'d'.repeat(length - base.length - 1)}`;
    mkdirSync(root, { mode: 0o700 });
    for (const [name, content] of Object.entries({ a: 'a0', new: 'new' }))
      writeFileSync(join(workspace, name), content);
    return { store: openStore({ root, fileSystem: unsyncedFileSystem, locks: inProcessLocks }), root, workspace };
  };
}

/** Everything in the store and in the workspace. */
function everything({ root, workspace }: LongStore): readonly string[] {
  return [...walk(root), ...walk(workspace)];
}

/** Walks by descriptors: what lies deepest has a name that could not be given to the system. */
function walk(folder: string, below = ''): string[] {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const here = `/proc/self/fd/${fd}`;
  const lines = readdirSync(here, { withFileTypes: true }).flatMap((entry) => {
    const name = `${below}${entry.name}`;
    if (entry.isDirectory()) return [`${name} folder`, ...walk(`${here}/${entry.name}`, `${name}/`)];
    return [`${name} ${readFileSync(`${here}/${entry.name}`, 'utf8')}`];
  });
  closeSync(fd);
  return lines.toSorted();
}

async function outcomeOf(run: () => Promise<unknown>): Promise<string> {
  return run().then(
    () => 'done',
    (error: { code?: string; errno?: string }) => error.errno ?? error.code ?? 'bug',
  );
}

// What is made in the root and in a session, by how long its path is from the root on.
const ULID = 26;
const IN_SESSION = [
  ...['metadata.json'.length, 'events.jsonl'.length, '.zs-tmp-'.length + ULID, 'checkpoints/blobs/'.length + 64],
  ...['.zs/torn/'.length + ULID, '.zs/kept/'.length + ULID, '.zs/kept//events.jsonl'.length + ULID],
  ...['.zs/kept//record.json'.length + ULID, '.zs/blobs/'.length + 64],
];
const IN_ROOT = ['.zs-new-/metadata.json'.length + ULID, '.zs-new-/.zs-tmp-'.length + 2 * ULID, ID.length];
const FROM_ROOT = [...IN_ROOT, ...IN_SESSION.map((length) => ID.length + 1 + length)];
/** Lengths of a root for which each of these just fits, and just does not. */
const LENGTHS = [...new Set(FROM_ROOT.flatMap((length) => [0, 1].map((more) => PATH_MAX - 2 - length + more)))];

type Operation = (store: SessionStore, workspace: string) => Promise<unknown>;

const OPERATIONS: readonly (readonly [string, Operation])[] = [
  ['an append', (store) => store.appendEvents(ID, [aMessage(), aMessage()])],
  ['a title', (store) => store.updateTitle(ID, 'another')],
  ['a capture', (store, workspace) => store.captureToolCheckpoint(ID, workspace, 't', ['new'])],
  ['a rewind', (store) => store.rewind(ID, { target: 1 })],
  ['a cut', (store) => store.truncateEvents(ID, 1)],
  ['a restore', (store, workspace) => store.restoreToSequence(ID, workspace, 1)],
  ['a fork', (store) => store.fork(ID, { sessionId: `f${ID.slice(1)}` })],
  ['a child', (store) => store.createChild(ID, { sessionId: `c${ID.slice(1)}` })],
];

describe.runIf(platform() === 'linux')('a root near the longest path that the system takes', () => {
  test('58. given an id of 128 characters, then a session is made in which all works, or none is', async () => {
    const outcomes = new Set<string>();
    const storeAt = longRoots();
    for (const length of LENGTHS) {
      const long = storeAt(length);
      const { store, workspace } = long;
      const before = everything(long);

      const outcome = await outcomeOf(() => store.create({ sessionId: ID, cwd: workspace }));

      outcomes.add(outcome);
      if (outcome !== 'done') {
        expect([length, everything(long), await store.list()]).toEqual([length, before, []]);
        continue;
      }
      await store.appendEvents(ID, [aMessage(), aMessage()]);
      await store.captureToolCheckpoint(ID, workspace, 't', ['a']);
      writeFileSync(join(workspace, 'a'), 'a1');
      for (const [name, run] of OPERATIONS)
        expect([length, name, await outcomeOf(() => run(store, workspace))]).toEqual([length, name, 'done']);
      await store.undoRewind(ID);
      expect(await store.list()).toHaveLength(3);
    }
    expect([...outcomes].toSorted()).toEqual(['ENAMETOOLONG', 'done']);
  });

  test.each(OPERATIONS)(
    '58. given a session that came there otherwise, then %s works, or has changed nothing',
    async (_, run) => {
      const outcomes = new Set<string>();
      const storeAt = longRoots();
      const session = await aSessionToMove();
      for (const length of LENGTHS) {
        const long = storeAt(length);
        session.copyTo(long);
        const before = everything(long);

        const outcome = await outcomeOf(() => run(long.store, long.workspace));

        outcomes.add(outcome);
        if (outcome !== 'done') expect([length, outcome, everything(long)]).toEqual([length, 'ENAMETOOLONG', before]);
      }
      expect([...outcomes].toSorted()).toEqual(['ENAMETOOLONG', 'done']);
    },
  );
});

/** Makes a session where there is room, to be put where there may be none. */
async function aSessionToMove(): Promise<{ copyTo(long: LongStore): void }> {
  const { store, root, workspace } = await tempWorkspace({ fileSystem: unsyncedFileSystem });
  writeFileSync(join(workspace, 'a'), 'a0');
  await store.appendEvents('s', [aMessage(), aMessage()]);
  await store.captureToolCheckpoint('s', workspace, 't', ['a']);
  return {
    copyTo(long) {
      const fd = openSync(long.root, constants.O_RDONLY | constants.O_DIRECTORY);
      const folder = `/proc/self/fd/${fd}/${ID}`;
      cpSync(join(root, 's'), folder, { recursive: true });
      for (const name of ['metadata.json', 'events.jsonl']) {
        const text = readFileSync(join(root, 's', name), 'utf8').replaceAll(workspace, long.workspace);
        writeFileSync(`${folder}/${name}`, text.replaceAll(/"(sessionId": ?"|id":"|)s(?=[":])/g, `"$1${ID}`));
      }
      closeSync(fd);
      writeFileSync(join(long.workspace, 'a'), 'a1');
      // Within a day of the checkpoint that no call belongs to: later it would be somebody else's.
      const captured = new Date('2026-07-09T12:00:00Z');
      utimesSync(join(long.workspace, 'a'), captured, captured);
    },
  };
}
