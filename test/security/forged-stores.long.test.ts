import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/registry.js';
import { openStore, type SessionStore } from '../../src/index.js';
import { aMessage } from '../support/event-builder.js';
import {
  CWD_KINDS,
  type CwdKind,
  type ForgedStore,
  forgedStore,
  PLACES,
  type Place,
  removeForgedStore,
  VICTIMS,
  watch,
} from '../support/forged-store.js';
import { inProcessLocks } from '../support/in-process-locks.js';
import { type CliRun, runCommandLine } from '../support/run-cli.js';

// A session can come from anywhere, with any log, any kept record and any metadata (FORMAT.md, 5). A watcher sees every
// folder that somebody works in: no command but one that goes back, explicitly, may change a file in any of them.

/** Command lines by the command that they are of; those that go back are further down. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  list: ['list --all', 'list --all --json'],
  tree: ['tree s'],
  show: ['show s --events', 'show s --replay'],
  children: ['children s'],
  lineage: ['lineage s'],
  path: ['path s'],
  create: ['create --id other'],
  append: ['append s'],
  rename: ['rename s anew', 'rename s anew -q'],
  compact: ['compact s', 'compact s --summary short --allow-partial', 'compact s --undo'],
  'checkpoint capture': ['checkpoint capture s overwritten', 'checkpoint capture s made --tool t'],
  'checkpoint list': ['checkpoint list s'],
  'checkpoint show': ['checkpoint show s 2', 'checkpoint show s 2 overwritten'],
  'checkpoint diff': ['checkpoint diff s 0'],
  'spec record': ['spec record s draft --id spec'],
  'spec implement': ['spec implement s spec'],
  'spec show': ['spec show s'],
  fork: ['fork s', 'fork s --at 2'],
  resume: ['resume s', 'resume s --prompt go'],
  rewind: [
    'rewind s --history',
    'rewind s --to 1 --dry-run',
    'rewind s --to 1 --events-only',
    'rewind s --undo --dry-run',
    'rewind s --to 1 --events-only --force',
  ],
  'checkpoint restore': ['checkpoint restore s --to 1 --dry-run'],
};

/** They know no session of a store. */
const ELSEWHERE: ReadonlySet<string> = new Set(['schema', 'completion', 'info', 'demo']);

/** Commands that go back, explicitly, and name no folder. */
const GOING_BACK = [
  'rewind s --to 1 --force --allow-partial',
  'rewind s --undo --force --allow-partial',
  'checkpoint restore s --to 1 --force',
  'rewind s --continue --force --allow-partial',
];

/** What is recorded then is a folder that is there. */
const HAS_FOLDER: ReadonlySet<CwdKind> = new Set(['another', 'own', 'linked', 'swapped']);

const WRITERS: readonly ((store: SessionStore) => Promise<unknown>)[] = [
  (store) => store.appendEvents('s', [aMessage('one'), aMessage('two')]),
  (store) => store.appendEventUnlessExists('s', aMessage(), () => false),
  (store) => store.updateTitle('s', 'anew'),
  (store) => store.updateModel('s', 'model'),
  (store) => store.createChild('s', { agentName: 'worker' }),
  (store) => store.createGoal('s', 'all of it'),
  (store) => store.truncateEvents('s', 1),
  (store) => store.prepareExec({ resume: 's' }),
];

const STORES: readonly (readonly [string, CwdKind, Place])[] = Object.entries(PLACES).flatMap(([name, place]) =>
  CWD_KINDS.map((kind) => [name, kind, place] as const),
);

/** Each place with one kind of cwd: each kind comes up several times. */
const ONE_OF_EACH = STORES.filter(
  (_, at) => at % CWD_KINDS.length === Math.floor(at / CWD_KINDS.length) % CWD_KINDS.length,
);

test('every command is among those that are tried, on more than forty stores', () => {
  const names = COMMANDS.map(({ name }) => name).filter((name) => !ELSEWHERE.has(name));

  expect(Object.keys(LINES).sort()).toEqual([...names].sort());
  expect(STORES.length).toBeGreaterThanOrEqual(40);
});

const IS_ROOT = process.geteuid?.() === 0;
/** An account that owns nothing. */
const NOBODY = 65534;

describe.each([
  ['root', IS_ROOT, STORES, undefined],
  ['a user', true, IS_ROOT ? ONE_OF_EACH : STORES, IS_ROOT ? NOBODY : undefined],
] as const)('finding 1: forged stores, as %s', (_who, isPossible, stores, uid) => {
  beforeAll(() => {
    if (uid !== undefined) process.seteuid?.(uid);
  });
  afterAll(() => {
    if (uid !== undefined) process.seteuid?.(0);
  });

  describe.runIf(isPossible)('whatever is asked for', () => {
    test.each(ONE_OF_EACH)('%s, cwd %s: no command changes a file in any workspace', async (_, kind, place) => {
      for (const [at, line] of Object.values(LINES).flat().entries()) {
        await onForged(place, kind, at, (forged) => run(forged, line, uid));
      }
    });

    test.each(ONE_OF_EACH)('%s, cwd %s: nor does the library', async (_, kind, place) => {
      await onForged(place, kind, 1, async ({ root }) => {
        const store = openStore({ root, locks: inProcessLocks });
        for (const write of WRITERS) await write(store).catch(() => {});
      });
    });

    test.each(stores)('%s, cwd %s: nor do those that write, one after the other', async (_, kind, place) => {
      await onForged(place, kind, 2, async (forged) => {
        for (const line of [
          'rename s anew',
          'append s',
          'checkpoint capture s made',
          'rewind s --abort',
          'rename s again',
        ]) {
          await run(forged, line, uid);
        }
      });
    });

    test.each(stores)('%s, cwd %s: who goes back changes the recorded folder alone', async (_, kind, place) => {
      for (const [at, line] of GOING_BACK.entries()) await goBackOn(place, kind, at, line, uid);
    });
  });
});

describe('finding 1: what a command says of a forged intent', () => {
  test.each(['append s', 'rename s anew', 'checkpoint capture s overwritten', 'rename s anew -q'])(
    'given %s, then it is a warning that -q does not hide, with how to settle it',
    async (line) => {
      const forged = forgedStore(placeOf('an intent at the end, as an earlier version wrote it'), 'own', VICTIMS[0]);
      try {
        const { code, err } = await run(forged, line);

        expect(code).toBe(0);
        expect(err).toMatch(/^warning: Session s: the rewind begun with event 4 .*not made here.*--abort/m);
      } finally {
        removeForgedStore(forged);
      }
    },
  );

  test.each([
    'rewind s --to 1',
    'rewind s --to 1 --dry-run',
    'rewind s --undo',
    'checkpoint restore s --to 1',
    'rewind s --continue',
  ])('given %s, then it is refused (7)', async (line) => {
    const forged = forgedStore(placeOf('an intent and its kept record'), 'own', VICTIMS[0]);
    try {
      expect((await run(forged, line)).code).toBe(7);
    } finally {
      removeForgedStore(forged);
    }
  });

  test('given an undo of a kept record that names another folder, then it is refused (6), and with that named it is done', async () => {
    const forged = forgedStore(placeOf('an intent in a kept log'), 'own', VICTIMS[0]);
    try {
      const victim = `${forged.workspaces}/${VICTIMS[0]}`;

      expect((await run(forged, 'rewind s --undo --force')).code).toBe(6);
      const named = await run(forged, `rewind s --undo --workspace ${victim}`);

      expect([named.code, named.out]).toEqual([0, expect.stringContaining(`Files in ${victim}\n`)]);
    } finally {
      removeForgedStore(forged);
    }
  });
});

function placeOf(name: string): Place {
  const place = PLACES[name];
  if (place === undefined) throw new Error(`no place ${name}`);
  return place;
}

/** Goes back in a forged store: what is done is done in the folder that the session has recorded. */
async function goBackOn(place: Place, kind: CwdKind, at: number, line: string, uid?: number): Promise<void> {
  const forged = forgedStore(place, kind, VICTIMS[at % VICTIMS.length] ?? VICTIMS[0]);
  try {
    const before = watch(forged.workspaces);

    const { code, out, err } = await run(forged, line, uid);

    const changed = watch(forged.workspaces).filter((entry) => !before.includes(entry));
    if (code !== 0 || !HAS_FOLDER.has(kind)) expect([line, changed, out + err]).toEqual([line, [], out + err]);
    if (kind === 'own') expect(changed.filter((entry) => !entry.includes('/workspaces/own'))).toEqual([]);
  } finally {
    removeForgedStore(forged);
  }
}

/** Does something to a forged store, and holds it to what the watcher sees. */
async function onForged(
  place: Place,
  kind: CwdKind,
  at: number,
  act: (forged: ForgedStore) => Promise<unknown>,
): Promise<void> {
  const forged = forgedStore(place, kind, VICTIMS[at % VICTIMS.length] ?? VICTIMS[0]);
  try {
    const before = watch(forged.workspaces);

    await act(forged);

    expect(watch(forged.workspaces)).toEqual(before);
  } finally {
    removeForgedStore(forged);
  }
}

function run(forged: ForgedStore, line: string, uid?: number): Promise<CliRun> {
  const stdin = line.startsWith('append') ? '{"type":"message","payload":{"role":"user","content":"hi"}}\n' : '';
  return runCommandLine([...line.split(' '), '--no-flock', '--no-input'], {
    root: forged.root,
    cwd: forged.workspaces,
    stdin,
    ...(uid === undefined ? {} : { uid }),
  });
}
