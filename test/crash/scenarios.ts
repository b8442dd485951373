import type { CompactionPlan, SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import type { CallName } from '../support/memory-file-system.js';
import { edit, WORKSPACE, type World } from './world.js';

/** One operation on one prepared store, and what may be found after a crash in it. */
export interface Scenario {
  /** The acceptance tests that it belongs to (RELIABILITY.md, 5). */
  readonly numbers: string;
  readonly name: string;
  /** Makes what is there before; all of it is on the disk for good. */
  readonly prepare: (world: World) => Promise<unknown>;
  /** What the user, or another program, did just before and nobody synced. */
  readonly unsynced?: (world: World) => void;
  readonly run: (store: SessionStore) => Promise<unknown>;
  /** The cheap writing command that puts things right. */
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

async function rewound(world: World): Promise<void> {
  await sessionToRewind(world);
  await world.store.rewind('s', { target: 2 });
}

const CREATE_CALLS = { mkdir: 2, create: 2, fsync: 2, syncFolder: 2, rename: 1 };
const REWIND_CALLS = { create: 6, fsync: 8, rename: 5, unlink: 1, symlink: 1, link: 1, syncFolder: 8 };

export const SCENARIOS: readonly Scenario[] = [
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
];
