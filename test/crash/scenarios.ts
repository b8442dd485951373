import { RewindNotFoundError } from '../../src/errors.js';
import type { CompactionPlan, SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import type { CallName, Tree } from '../support/memory-file-system.js';
import { foreignAppend, interruptedIn } from './interrupted.js';
import { SHAPE_SCENARIOS } from './scenarios-shapes.js';
import { edit, ROOT, WORKSPACE, type World } from './world.js';

/** One operation on one prepared store, and what may be found after a crash in it. */
export interface Scenario {
  /** The acceptance tests that it belongs to (RELIABILITY.md, 5). */
  readonly numbers: string;
  readonly name: string;
  /** Makes what is there before; all of it is on the disk for good. */
  readonly prepare: (world: World) => Promise<unknown>;
  /** What a crash and others made of the disk after that, synced as well. */
  readonly crash?: (tree: Tree) => Promise<Tree>;
  /** What the user, or another program, did just before and nobody synced. */
  readonly unsynced?: (world: World) => void;
  readonly run: (store: SessionStore) => Promise<unknown>;
  /** The command that puts things right, where any that writes does not. */
  readonly settle?: (store: SessionStore) => Promise<unknown>;
  /**
   * `whole`: all or nothing. `prefix`: or the first of the new events. `child`: or the child without the parent's link.
   */
  readonly judged: 'whole' | 'prefix' | 'child';
  /** The session that the operation makes; run again it makes it where it is not there. */
  readonly makes?: string;
  /** How often each call has to be made at least: fewer means that somebody went past the file system handed in. */
  readonly calls: Partial<Readonly<Record<CallName, number>>>;
  /** Members of the metadata that may differ between an operation that returned and one that was recovered. */
  readonly looseMetadata?: readonly string[];
  /** Whether kept records are only counted: settling makes one of its own, and what it can read is in it. */
  readonly looseRecords?: boolean;
  /** Whether it completes records of the first version on its way: those may be told or not, with some blobs linked or all. */
  readonly completesRecords?: boolean;
}

const APPEND_CALLS = { write: 2, fsync: 2, create: 1, rename: 1, syncFolder: 1 };

async function session(world: World): Promise<void> {
  await world.store.create({ sessionId: 's', title: 'A session', cwd: WORKSPACE });
  await world.store.appendEvents('s', [aMessage('first'), aMessage('second', 'assistant')]);
}

async function toolResult(store: SessionStore): Promise<void> {
  await store.appendEvent('s', {
    type: 'tool_result',
    payload: { toolCallId: 'c', name: 'edit', status: 'ok', output: '' },
  });
}

/** Captures two files and changes them: what a fork carries. */
async function sessionWithBlobs(world: World): Promise<void> {
  await session(world);
  edit.write(world, 'one.txt', 'one\n');
  edit.write(world, 'two.txt', 'two\n');
  await world.store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['one.txt', 'two.txt']);
  await toolResult(world.store);
}

const REWOUND = ['over.txt', 'made/by/tool.txt', 'deep/er/gone.txt', 'link', 'mode.sh', 'same.txt'];

/** An edit of one file of each kind: overwritten, made in new folders, deleted, a link led elsewhere, a mode. */
async function sessionToRewind(world: World): Promise<void> {
  await session(world);
  edit.write(world, 'over.txt', 'over, before\n');
  edit.folder(world, 'deep');
  edit.folder(world, 'deep/er');
  edit.write(world, 'deep/er/gone.txt', 'gone, before\n', 0o600);
  edit.link(world, 'link', 'over.txt');
  edit.write(world, 'mode.sh', 'echo\n', 0o755);
  edit.write(world, 'same.txt', 'same, before\n');
  await world.store.captureToolCheckpoint('s', WORKSPACE, 'edit', REWOUND);
  toolEdits(world);
  await toolResult(world.store);
  await world.store.createGoal('s', 'finish it', 1000);
  await world.store.recordSpec('s', { specId: 'p1', specStatus: 'draft', specFilePath: 'spec.md' });
}

function toolEdits(world: World): void {
  edit.write(world, 'over.txt', 'over, after\n');
  edit.folder(world, 'made');
  edit.folder(world, 'made/by');
  edit.write(world, 'made/by/tool.txt', 'made\n');
  edit.remove(world, 'deep/er/gone.txt');
  edit.link(world, 'link', 'same.txt');
  edit.mode(world, 'mode.sh', 0o644);
}

/** Adds to the end of the log what a crash of the system can leave there. */
function tail(text: string | Uint8Array): (world: World) => Promise<void> {
  return async (world) => {
    await session(world);
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    const fd = world.fs.openAppend(`${ROOT}/s/events.jsonl`);
    world.fs.write(fd, bytes, 0, bytes.length);
    world.fs.close(fd);
  };
}

const WHOLE_LINE =
  '{"id":"s:3","sessionId":"s","sequence":3,"type":"message","createdAt":"2026-07-09T12:00:05Z","payload":{"role":"user"}}';

async function compacted(world: World): Promise<void> {
  await session(world);
  await world.store.appendEvents('s', [aMessage('third'), aMessage('fourth')]);
  const plan: CompactionPlan = await world.store.planCompaction('s', { preserveLast: 1 });
  await world.store.recordCompaction('s', { plan, summary: 'three things were said' });
}

/** A rewind that died while it changed files, and an event of another program behind its intent. */
async function interrupted(tree: Tree): Promise<Tree> {
  return foreignAppend(await interruptedIn(tree, (store) => store.rewind('s', { target: 2 })));
}

async function abortAndMend(store: SessionStore): Promise<void> {
  await store.abortRewind('s').catch((error: unknown) => {
    if (!(error instanceof RewindNotFoundError)) throw error;
  });
  await store.updateTitleIfCurrent('s', 'no such title', 'never');
}

async function rewound(world: World): Promise<void> {
  await sessionToRewind(world);
  await world.store.rewind('s', { target: 2 });
}

/** As a rewind of the first version left it: no record.json, and the blobs beside the kept log. */
async function rewoundByFirstVersion(world: World): Promise<void> {
  await rewound(world);
  const keep = `${ROOT}/s/.zs`;
  const [record] = world.fs.readdir(`${keep}/kept`);
  world.fs.unlink(`${keep}/kept/${record?.name}/record.json`);
  world.fs.rename(`${keep}/blobs`, `${keep}/kept/${record?.name}/blobs`);
}

const CREATE_CALLS = { mkdir: 2, create: 2, fsync: 2, syncFolder: 2, rename: 1 };
const REWIND_CALLS = { create: 6, fsync: 8, rename: 5, unlink: 1, symlink: 1, link: 1, syncFolder: 8 };

/** What writes to sessions without going back. */
export const SESSION_SCENARIOS: readonly Scenario[] = [
  {
    numbers: '1, 7, 11',
    name: 'append',
    prepare: session,
    run: (store) => store.appendEvent('s', aMessage('third')),
    judged: 'prefix',
    calls: APPEND_CALLS,
  },
  {
    numbers: '2, 7, 11',
    name: 'batch of 3',
    prepare: session,
    run: (store) => store.appendEvents('s', [aMessage('third'), aMessage('fourth'), aMessage('fifth')]),
    judged: 'prefix',
    calls: APPEND_CALLS,
  },
  {
    numbers: '1, 7, 11',
    name: 'appendUnlessExists',
    prepare: session,
    run: (store) => store.appendEventUnlessExists('s', aMessage('third'), (events) => events.length > 2),
    judged: 'prefix',
    calls: APPEND_CALLS,
  },
  {
    numbers: '1, 7, 11',
    name: 'append behind a torn line',
    prepare: tail(WHOLE_LINE.slice(0, 60)),
    run: (store) => store.appendEvent('s', aMessage('third')),
    judged: 'prefix',
    calls: { ...APPEND_CALLS, mkdir: 2, create: 2, write: 3, truncate: 1, fsync: 4 },
  },
  {
    numbers: '1, 7, 11',
    name: 'append behind zeros',
    prepare: tail(new Uint8Array(200)),
    run: (store) => store.appendEvent('s', aMessage('third')),
    judged: 'prefix',
    calls: { ...APPEND_CALLS, mkdir: 2, create: 2, write: 3, truncate: 1, fsync: 4 },
  },
  {
    numbers: '1, 7, 11',
    name: 'append behind an open line',
    prepare: tail(WHOLE_LINE),
    run: (store) => store.appendEvent('s', aMessage('third')),
    judged: 'prefix',
    calls: { ...APPEND_CALLS, fsync: 4 },
  },
  {
    numbers: '3, 7, 11',
    name: 'create',
    prepare: session,
    run: (store) => store.create({ sessionId: 'new', title: 'New', cwd: WORKSPACE }),
    judged: 'whole',
    makes: 'new',
    calls: CREATE_CALLS,
  },
  {
    numbers: '3, 7, 11',
    name: 'create the first',
    prepare: async () => {},
    run: (store) => store.create({ sessionId: 'new', title: 'New', cwd: WORKSPACE }),
    settle: async () => {},
    judged: 'whole',
    makes: 'new',
    calls: { ...CREATE_CALLS, mkdir: 3 },
  },
  {
    numbers: '4, 7, 11',
    name: 'capture 2 files',
    prepare: async (world) => {
      await session(world);
      edit.write(world, 'one.txt', 'one\n');
      edit.write(world, 'two.txt', 'two\n');
    },
    run: (store) => store.captureToolCheckpoint('s', WORKSPACE, 'edit', ['one.txt', 'two.txt']),
    judged: 'whole',
    calls: { ...APPEND_CALLS, mkdir: 2, create: 3, fsync: 4, rename: 3 },
  },
  {
    numbers: '8, 7, 11',
    name: 'fork',
    prepare: sessionWithBlobs,
    run: (store) => store.fork('s', { sessionId: 'new' }),
    judged: 'whole',
    makes: 'new',
    calls: { ...CREATE_CALLS, mkdir: 4, create: 4, fsync: 4 },
  },
  {
    numbers: '9, 7, 11',
    name: 'createChild',
    prepare: session,
    run: (store) => store.createChild('s', { sessionId: 'new', agentName: 'worker', prompt: 'do it' }),
    judged: 'child',
    makes: 'new',
    calls: { ...CREATE_CALLS, create: 3, fsync: 4, rename: 2 },
  },
  {
    numbers: '10, 7, 11',
    name: 'ensureSpecImplementation',
    prepare: session,
    run: (store) =>
      store.ensureSpecImplementation({ specId: 'p1', specSourceSessionId: 's', prompt: 'build it', title: 'Build' }),
    judged: 'whole',
    makes: 'a spec-impl',
    calls: CREATE_CALLS,
  },
  {
    numbers: '10, 7, 11',
    name: 'recordSpec',
    prepare: session,
    run: (store) => store.recordSpec('s', { specId: 'p1', specStatus: 'approved', specUserComment: 'fine' }),
    judged: 'whole',
    calls: APPEND_CALLS,
  },
  {
    numbers: '10, 7, 11',
    name: 'createGoal',
    prepare: session,
    run: (store) => store.createGoal('s', 'finish it', 1000),
    judged: 'whole',
    calls: APPEND_CALLS,
  },
  {
    numbers: '7, 11',
    name: 'updateTitle',
    prepare: session,
    run: (store) => store.updateTitle('s', 'Another title'),
    judged: 'whole',
    calls: { create: 1, write: 1, fsync: 1, rename: 1, syncFolder: 1 },
  },
  {
    numbers: '7, 11',
    name: 'recordCompaction',
    prepare: async (world) => {
      await session(world);
      await world.store.appendEvents('s', [aMessage('third'), aMessage('fourth')]);
    },
    run: async (store) => {
      const plan: CompactionPlan = await store.planCompaction('s', { preserveLast: 1 });
      return store.recordCompaction('s', { plan, summary: 'three things were said' });
    },
    judged: 'whole',
    calls: APPEND_CALLS,
  },
  {
    numbers: '7, 11',
    name: 'truncateEvents',
    prepare: sessionWithBlobs,
    run: (store) => store.truncateEvents('s', 2),
    judged: 'whole',
    // A cut that was recovered has no time of its own: nothing in the log tells it.
    looseMetadata: ['updatedAt', 'lastEventType'],
    calls: { link: 2, mkdir: 4, create: 2, rename: 2, fsync: 2, syncFolder: 4 },
  },
];

/** All ways back, and the ways out of an interrupted one. */
export const REWIND_SCENARIOS: readonly Scenario[] = [
  {
    numbers: '5, 6, 7, 11',
    name: 'rewind 3 files',
    prepare: sessionToRewind,
    run: (store) => store.rewind('s', { target: 2 }),
    judged: 'whole',
    calls: REWIND_CALLS,
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'rewind of unsynced edits',
    prepare: sessionToRewind,
    unsynced: (world) => {
      edit.write(world, 'over.txt', 'over, by hand\n');
      edit.write(world, 'deep/er/gone.txt', 'gone, by hand\n');
      edit.mode(world, 'mode.sh', 0o700);
      // As it is to be: nothing to change, but whoever is told that the rewind is done counts on it.
      edit.write(world, 'same.txt', 'same, by hand\n');
      edit.write(world, 'same.txt', 'same, before\n');
    },
    run: (store) => store.rewind('s', { target: 2, force: true }),
    judged: 'whole',
    calls: REWIND_CALLS,
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo',
    prepare: rewound,
    run: (store) => store.undoRewind('s'),
    judged: 'whole',
    calls: { ...REWIND_CALLS, unlink: 1 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo of a first version',
    prepare: rewoundByFirstVersion,
    run: (store) => store.undoRewind('s'),
    judged: 'whole',
    // A record may be completed by what is cut short then.
    looseRecords: true,
    completesRecords: true,
    calls: { ...REWIND_CALLS, unlink: 1, link: 2 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo of undo',
    prepare: async (world) => {
      await rewound(world);
      await world.store.undoRewind('s');
    },
    run: (store) => store.undoRewind('s'),
    judged: 'whole',
    calls: REWIND_CALLS,
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'restoreToSequence',
    prepare: sessionToRewind,
    run: (store) => store.restoreToSequence('s', WORKSPACE, 2),
    judged: 'whole',
    calls: { ...REWIND_CALLS },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'checkpoint restore of 2 files',
    prepare: sessionToRewind,
    run: (store) => store.rewind('s', { target: 2, part: 'files', paths: ['over.txt', 'deep/er/gone.txt'] }),
    judged: 'whole',
    calls: { create: 3, fsync: 5, rename: 4, link: 1, syncFolder: 6 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'rewind of files only',
    prepare: sessionToRewind,
    run: (store) => store.rewind('s', { target: 2, part: 'files' }),
    judged: 'whole',
    calls: REWIND_CALLS,
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo of a restore',
    prepare: async (world) => {
      await sessionToRewind(world);
      await world.store.rewind('s', { target: 2, part: 'files' });
    },
    run: (store) => store.undoRewind('s'),
    judged: 'whole',
    calls: { ...REWIND_CALLS, unlink: 1 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'rewind of events only',
    prepare: sessionToRewind,
    run: (store) => store.rewind('s', { target: 2, part: 'events' }),
    judged: 'whole',
    calls: { link: 1, create: 2, rename: 2, fsync: 2, syncFolder: 4 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'undo of a compaction',
    prepare: compacted,
    run: (store) => store.undoCompaction('s'),
    judged: 'whole',
    calls: { link: 1, create: 2, rename: 2, fsync: 2, syncFolder: 4 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'recovery from an interrupted rewind',
    prepare: sessionToRewind,
    crash: (tree) => interruptedIn(tree, (store) => store.rewind('s', { target: 2 })),
    run: (store) => store.updateTitleIfCurrent('s', 'no such title', 'never'),
    judged: 'whole',
    calls: { create: 1, fsync: 2, rename: 1, truncate: 1, syncFolder: 5 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'abort of an interrupted rewind',
    prepare: sessionToRewind,
    crash: interrupted,
    run: (store) => store.abortRewind('s'),
    settle: abortAndMend,
    judged: 'whole',
    looseRecords: true,
    calls: { create: 3, fsync: 3, rename: 3, link: 1, syncFolder: 5 },
  },
  {
    numbers: '5, 6, 7, 11',
    name: 'continuing an interrupted rewind',
    prepare: sessionToRewind,
    crash: interrupted,
    run: (store) => store.continueRewind('s'),
    settle: abortAndMend,
    judged: 'whole',
    looseRecords: true,
    calls: REWIND_CALLS,
  },
  ...SHAPE_SCENARIOS,
];

export const SCENARIOS: readonly Scenario[] = [...SESSION_SCENARIOS, ...REWIND_SCENARIOS];
