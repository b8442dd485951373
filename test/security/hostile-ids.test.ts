import { readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../src/fs/file-system.js';
import { type LockProvider, openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import { runCommandLine } from '../support/run-cli.js';
import { aSession } from '../support/session-builder.js';
import { tempStore } from '../support/temp-store.js';

const HOSTILE_IDS = [
  ...['..', '.', '../victim', '../../victim', 'a/b', '/victim', '/', './a', 'a/', 'a/..', '..\\victim', 'a\\b'],
  ...['-x', '--root', '_x', 'a b', 'a.b', '.zs-new-x', '.zs-locks', 'session.lock', 'a:b', 'C:'],
  ...['a\0', '\0', 'a\0b', 'a\nb', '\u001b[2J', 'a\u0000/../b', '\u200ba', '\ufeffa', '\u202ea'],
  ...['\u0430dmin', 'e\u0301', 'é', 'ａ', '%2e%2e', '$(touch x)', '~', '*', 'a'.repeat(129), 'a'.repeat(100_000)],
];

/** Every public method that takes the id of a session, in each place where it takes one. */
const OPERATIONS: Readonly<Record<string, (store: SessionStore, id: string) => Promise<unknown>>> = {
  create: (store, id) => store.create({ sessionId: id }),
  get: (store, id) => store.get(id),
  require: (store, id) => store.require(id),
  measure: (store, id) => store.measure(id),
  logFile: (store, id) => store.logFile(id),
  rawLog: async (store, id) => [...store.rawLog(id)],
  updateTitle: (store, id) => store.updateTitle(id, 't'),
  updateTitleIfCurrent: (store, id) => store.updateTitleIfCurrent(id, '', 't'),
  updateModel: (store, id) => store.updateModel(id, 'm'),
  appendEvent: (store, id) => store.appendEvent(id, aMessage()),
  'appendEvents, none': (store, id) => store.appendEvents(id, []),
  appendEventUnlessExists: (store, id) => store.appendEventUnlessExists(id, aMessage()),
  appendEventUnlessAny: (store, id) => store.appendEventUnlessAny(id, aMessage(), () => false),
  appendEventsUnlessAny: (store, id) => store.appendEventsUnlessAny(id, [aMessage()], () => false),
  readEvents: (store, id) => store.readEvents(id),
  readRehydratedEvents: (store, id) => store.readRehydratedEvents(id),
  replayEvents: (store, id) => firstOf(store.replayEvents(id)),
  events: (store, id) => firstOf(store.events(id)),
  scanEvents: (store, id) => firstOf(store.scanEvents(id)),
  rawLines: (store, id) => firstOf(store.rawLines(id)),
  fork: (store, id) => store.fork(id),
  createChild: (store, id) => store.createChild(id),
  listChildren: (store, id) => store.listChildren(id),
  lineage: (store, id) => store.lineage(id),
  tree: (store, id) => store.tree(id),
  captureToolCheckpoint: (store, id) => store.captureToolCheckpoint(id, '/tmp', 't', ['a']),
  restoreToSequence: (store, id) => store.restoreToSequence(id, '/tmp', 0),
  truncateEvents: (store, id) => store.truncateEvents(id, 0),
  cutCalls: (store, id) => store.cutCalls(id, 0),
  planRewind: (store, id) => store.planRewind(id, { targetSequence: 0 }),
  applyRewind: (store, id) => store.applyRewind(id, '/tmp', 0),
  previewRewind: (store, id) => store.previewRewind(id, { target: 0 }),
  rewind: (store, id) => store.rewind(id, { target: 0 }),
  previewUndo: (store, id) => store.previewUndo(id),
  undoRewind: (store, id) => store.undoRewind(id),
  abortRewind: (store, id) => store.abortRewind(id),
  continueRewind: (store, id) => store.continueRewind(id),
  listCheckpoints: (store, id) => store.listCheckpoints(id),
  filesAt: (store, id) => store.filesAt(id, 0),
  rewindHistory: (store, id) => store.rewindHistory(id),
  planCompaction: (store, id) => store.planCompaction(id),
  planSummary: (store, id) => store.planSummary(id),
  undoCompaction: (store, id) => store.undoCompaction(id),
  recordSpec: (store, id) => store.recordSpec(id, { specId: 'x', specStatus: 'draft' }),
  findSpecImplementation: (store, id) => store.findSpecImplementation('x', id),
  ensureSpecImplementation: (store, id) => store.ensureSpecImplementation({ specId: 'x', specSourceSessionId: id }),
  'prepareExec, new': (store, id) => store.prepareExec({ sessionId: id }),
  'prepareExec, called by': (store, id) => store.prepareExec({ callingSessionId: id }),
  'prepareExec, resume': (store, id) => store.prepareExec({ resume: id }),
  'prepareExec, fork': (store, id) => store.prepareExec({ fork: id }),
  execContext: (store, id) => store.execContext(id),
  createGoal: (store, id) => store.createGoal(id, 'all of it'),
  editGoal: (store, id) => store.editGoal(id, 'all of it'),
  updateGoal: (store, id) => store.updateGoal(id, 'paused'),
  clearGoal: (store, id) => store.clearGoal(id),
  addGoalUsage: (store, id) => store.addGoalUsage(id, 1),
  pauseGoalIfActive: (store, id) => store.pauseGoalIfActive(id, 'later'),
  reserveGoalContinuation: (store, id) => store.reserveGoalContinuation(id),
  resetGoalContinuations: (store, id) => store.resetGoalContinuations(id),
};

/** Those that give a new session an id beside one that is there; that there is none of those is said first. */
const NEW_FROM_OTHERS: typeof OPERATIONS = {
  fork: (store, id) => store.fork('s', { sessionId: id }),
  createChild: (store, id) => store.createChild('s', { sessionId: id }),
  'prepareExec, called by': (store, id) => store.prepareExec({ sessionId: id, callingSessionId: 's' }),
  'prepareExec, fork': (store, id) => store.prepareExec({ sessionId: id, fork: 's' }),
};

/** Opens a store that tells of every call; that the links of its root are resolved is done by then. */
function openedStore(calls: string[]): SessionStore {
  const store = openStore({ root: '/no/such/store', fileSystem: watched(calls), locks: watchedLocks(calls) });
  calls.length = 0;
  return store;
}

describe('a hostile id', () => {
  test('34. given to any operation, then it is refused before any call to the file system or a lock', async () => {
    expect(HOSTILE_IDS.length).toBeGreaterThanOrEqual(30);
    for (const [name, run] of Object.entries(OPERATIONS)) {
      for (const id of HOSTILE_IDS) {
        const calls: string[] = [];
        const store = openedStore(calls);

        const code = await run(store, id).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        );

        expect([name, id, code, calls]).toEqual([name, id, 'INVALID_ID', []]);
      }
    }
  });

  test('34. given for a session that is made from another, then no path is made of it, and nothing changes', async () => {
    const calls: string[] = [];
    const { store, root, tree, text } = tempStore(aSession().withMessages(1), { fileSystem: watched(calls) });
    const before = [tree(), text('events.jsonl'), text('metadata.json')];

    for (const [name, run] of Object.entries(NEW_FROM_OTHERS)) {
      for (const id of HOSTILE_IDS) {
        await expect(run(store, id), `${name} ${JSON.stringify(id)}`).rejects.toMatchObject({ code: 'INVALID_ID' });
      }
    }

    const paths = new Set(calls.filter((call) => call.includes('/')).map((call) => call.slice(call.indexOf('/'))));
    expect(paths.size).toBeGreaterThan(0);
    expect([...paths].filter((path) => path !== root && !`${path}/`.startsWith(`${root}/s/`))).toEqual([]);
    expect([tree(), text('events.jsonl'), text('metadata.json')]).toEqual(before);
  });

  test('34. given to a snapshot, which says that nothing was captured, then no call is made either', async () => {
    for (const id of HOSTILE_IDS) {
      const calls: string[] = [];
      const store = openedStore(calls);

      expect(await store.snapshotForCheckpoint(id, '/tmp', 't', ['a'])).toEqual({ ok: false, payload: null });

      expect([id, calls]).toEqual([id, []]);
    }
  });

  test.each([' a', 'a\n', '\u2003a\u0085', '\ta '])(
    '34. given %j, which is an id in space, then it is the trimmed one, and no folder has the space',
    async (id) => {
      const { store, root } = tempStore(aSession('other'));

      await store.create({ sessionId: id });
      await store.appendEvent(id, aMessage());
      await store.fork(id, { sessionId: id.replace('a', 'b') });

      expect(readdirSync(root).filter((name) => !name.startsWith('.'))).toEqual(['a', 'b', 'other']);
    },
  );

  test.each([
    ...['show', 'path', 'children', 'lineage', 'tree', 'fork', 'rewind --to 0', 'checkpoint list'],
    ...['rename t', 'compact --summary s', 'append', 'resume'],
  ])('34. given to the command %s, then it names no session, and nothing outside is looked for', async (words) => {
    const { root, tree } = tempStore(aSession('s').withMessages(1));
    writeFileSync(join(dirname(root), 'victim'), 'x');
    const before = tree();
    const [command = '', ...rest] = words.split(' ');
    const [subcommand, args] = command === 'checkpoint' ? [[command, rest[0] ?? ''], rest.slice(1)] : [[command], rest];

    for (const id of ['..', '../victim', '/etc', 'a/b', 'a\0', '.zs-locks', 'a'.repeat(129), '%2e%2e']) {
      const { code } = await runCommandLine([...subcommand, id, ...args], { root, stdin: '{"type":"error"}' });

      expect([id, code]).toEqual([id, 3]);
    }
    expect(tree()).toEqual(before);
  });
});

describe('a name that another system keeps, or takes for another', () => {
  const RESERVED = ['CON', 'nul', 'Com1', 'aux', 'PRN', 'lpt9', ' con ', 'COM9', 'LpT1'];

  test('57. a device name is refused to whatever makes a session, on every platform, and nothing is made', async () => {
    for (const id of RESERVED) {
      const { store, tree } = tempStore(aSession('s').withMessages(1).withMetadata({ cwd: '/tmp' }));
      const before = tree();

      for (const make of [
        store.create({ sessionId: id }),
        store.fork('s', { sessionId: id }),
        store.createChild('s', { sessionId: id }),
        store.prepareExec({ sessionId: id }),
        store.prepareExec({ sessionId: id, callingSessionId: 's' }),
        store.prepareExec({ sessionId: id, fork: 's' }),
      ])
        await expect(make).rejects.toMatchObject({ code: 'INVALID_ID' });

      expect(tree()).toEqual(before);
    }
  });

  test('57. one that is there already can be read, and names that only begin so are free', async () => {
    const { store } = tempStore(aSession('CON').withMessages(1));

    expect(await store.readEvents('CON')).toHaveLength(1);
    for (const id of ['COM0', 'COM10', 'console', 'nul-1', 'xCON']) await store.create({ sessionId: id });
    expect(await store.list()).toHaveLength(6);
  });

  test('57. ids that differ in case only are two sessions here, each under its exact name', async () => {
    const { store, root } = tempStore(aSession('abc').withMessages(1));

    await store.create({ sessionId: 'Abc' });
    await store.appendEvents('Abc', [aMessage(), aMessage()]);

    expect((await store.list()).map(({ sessionId, eventCount }) => [sessionId, eventCount])).toEqual([
      ['Abc', 2],
      ['abc', 1],
    ]);
    expect((await runCommandLine(['path', 'ABC'], { root })).code).toBe(3);
  });

  test('57. on a file system that takes them for one, the second is refused and the first is not written', async () => {
    const { store, root, text } = tempStore(aSession('abc').withMessages(1), { fileSystem: oneCase() });
    const before = [text('events.jsonl'), text('metadata.json')];

    await expect(store.create({ sessionId: 'Abc' })).rejects.toMatchObject({ code: 'SESSION_EXISTS' });
    await expect(store.appendEvent('Abc', aMessage())).rejects.toMatchObject({ code: 'METADATA_DAMAGED' });

    expect([text('events.jsonl'), text('metadata.json'), readdirSync(root)]).toEqual([...before, ['abc']]);
  });
});

async function firstOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of stream) return item;
  return undefined;
}

/** The real file system, which notes every call, with its paths. */
function watched(calls: string[]): FileSystem {
  return wrapped((call, args) => calls.push([call, ...args.filter((arg) => typeof arg === 'string')].join(' ')));
}

function watchedLocks(calls: string[]): LockProvider {
  return {
    withLock: (id) => {
      calls.push(`lock ${id}`);
      return Promise.reject(new Error('no lock should have been asked for'));
    },
  };
}

/** A file system that tells no case apart, as those of Windows and macOS. */
function oneCase(): FileSystem {
  return wrapped((_, args) => {
    for (const [at, arg] of args.entries()) {
      if (typeof arg === 'string') args[at] = arg.replace(/\/Abc(?=\/|$)/, '/abc');
    }
  });
}

/** The real file system; `before` sees the arguments of each call, and may change them. */
function wrapped(before: (call: string, args: unknown[]) => void): FileSystem {
  return new Proxy(nodeFileSystem, {
    get:
      (target, name: keyof FileSystem) =>
      (...args: unknown[]) => {
        before(name, args);
        return (target[name] as (...args: unknown[]) => unknown)(...args);
      },
  });
}

test('the list of operations has every method of a store that takes the id of a session', () => {
  const withoutId = ['constructor', 'root', 'list', 'listWithFaults', 'resolve', 'latest', 'listResumable'];
  const others = [
    'latestResumable',
    'checkpointsEnabled',
    'liveSessions',
    'leftOvers',
    'allLeftOvers',
    'nameInFolder',
    'workTreeTest',
  ];
  // The same as readRehydratedEvents; no call of its own; a plan or a file that only another operation gives.
  const alike = ['readReplayEvents', 'snapshotForCheckpoint', 'recordCompaction', 'readFileAt'];
  const tested = Object.keys(OPERATIONS).map((name) => name.replace(/,.*/, ''));
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(openStore({ root: '/no/such/store' })));

  expect(methods.filter((name) => ![...withoutId, ...others, ...alike, ...tested].includes(name))).toEqual([]);
});
