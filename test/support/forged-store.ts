import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { logIdentity } from './unfinished-rewind.js';

/** A store with a session `s` that a stranger made, and beside it folders that it would like to write to. */
export interface ForgedStore {
  readonly root: string;
  /** All folders that somebody works in. */
  readonly workspaces: string;
  /** The folder that the session says it is from, where it says one that is absolute. */
  readonly cwd: string | undefined;
  /** Gives a path in the folder of the session. */
  path(name: string): string;
}

/** Where the stranger put an intent, or what else. */
export type Place = (forger: Forger) => void;

/** What the session says its folder is, seen from the folder of all workspaces. */
export type CwdKind = 'missing' | 'blank' | 'gone' | 'another' | 'own' | 'linked' | 'swapped';
export const CWD_KINDS: readonly CwdKind[] = ['missing', 'blank', 'gone', 'another', 'own', 'linked', 'swapped'];

/** Folders that are there, and that a forged intent names. */
export const VICTIMS = ['home/.ssh', 'project/.git/hooks', 'project'] as const;

// There are thousands of these stores, and nothing in them has to survive a power cut.
const FAST_FOLDER = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const REWIND_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const OLDER_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAA';
const EVIL = 'echo evil\n';
const KNOWN = 'known\n';

/** Makes a store in a folder of its own; {@link removeForgedStore} takes it away. */
export function forgedStore(place: Place, cwdKind: CwdKind, victim: (typeof VICTIMS)[number]): ForgedStore {
  const top = realpathSync(mkdtempSync(join(FAST_FOLDER, 'zs-forged-')));
  const workspaces = join(top, 'workspaces');
  for (const folder of [...VICTIMS, 'own']) layWorkspace(join(workspaces, folder));
  const target = join(workspaces, victim);
  const root = join(top, 'sessions');
  const cwd = cwdOf(cwdKind, workspaces, target);
  place(new Forger(root, cwd, target));
  if (cwdKind === 'swapped') {
    renameSync(join(workspaces, 'own'), join(workspaces, 'own-away'));
    symlinkSync(target, join(workspaces, 'own'));
  }
  return { root, workspaces, cwd: cwd?.startsWith('/') ? cwd : undefined, path: (name) => join(root, 's', name) };
}

export function removeForgedStore({ root }: ForgedStore): void {
  rmSync(dirname(root), { recursive: true, force: true });
}

/** Lays a session as a stranger likes it. */
export class Forger {
  readonly root: string;
  readonly cwd: string | undefined;
  readonly victim: string;

  constructor(root: string, cwd: string | undefined, victim: string) {
    this.root = root;
    this.cwd = cwd;
    this.victim = victim;
  }

  /** Makes a session that has worked, and ends with these lines; `metadata` adds to what it says of itself. */
  session(lines: readonly object[], id = 's', metadata: object = {}): void {
    const folder = join(this.root, id);
    mkdirSync(join(folder, 'checkpoints', 'blobs'), { recursive: true, mode: 0o700 });
    for (const content of [EVIL, KNOWN]) writeFileSync(join(folder, 'checkpoints', 'blobs', hashOf(content)), content);
    const events = [...WORK, ...lines];
    const times = { createdAt: TIME, updatedAt: TIME };
    const counts = { eventCount: events.length, lastEventType: 'message' };
    const cwd = this.cwd === undefined ? {} : { cwd: this.cwd };
    writeFileSync(
      join(folder, 'metadata.json'),
      JSON.stringify({ sessionId: id, ...cwd, ...times, ...counts, ...metadata }),
    );
    writeFileSync(join(folder, 'events.jsonl'), logOf(id, events));
  }

  /** Keeps a record as a rewind does, of a log that ends with these lines. */
  record(lines: readonly object[], id = REWIND_ID, blobs = '.zs/blobs'): void {
    const folder = join(this.root, 's', '.zs', 'kept', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'events.jsonl'), logOf('s', [...WORK, ...lines]));
    const kept = join(this.root, 's', blobs);
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    for (const content of [EVIL, KNOWN]) writeFileSync(join(kept, hashOf(content)), content);
  }

  /**
   * Gives an intent that would make, overwrite and delete files of the victim: each of them is in the state in which a
   * rewind that was interrupted leaves it.
   */
  intent(facts: object = {}, session = 's'): object {
    const evil = { blob: hashOf(EVIL), bytes: EVIL.length, mode: 0o755 };
    const known = { blob: hashOf(KNOWN), bytes: KNOWN.length, mode: 0o644 };
    const files = [
      { path: 'made', ...evil, to: { absent: true } },
      { path: 'new/deep/made', ...evil, to: { absent: true } },
      { path: 'overwritten', ...evil, to: known },
      { path: 'deleted', absent: true, newDirs: 9, to: known },
    ];
    const rewind = { id: REWIND_ID, session, target: 1, workspace: this.victim, ...facts };
    return { type: 'session_checkpoint', payload: { tool: 'zero-sessions/rewind-intent', files, rewind } };
  }
}

/** What a session of a stranger did first: it made a file that a rewind removes, and changed one that it restores. */
const WORK: readonly object[] = [
  { type: 'message', payload: { role: 'user', content: 'go' } },
  {
    type: 'session_checkpoint',
    payload: {
      tool: 'write_file',
      files: [
        { path: 'deleted', absent: true },
        { path: 'overwritten', blob: hashOf(EVIL), bytes: EVIL.length, mode: 0o755 },
      ],
    },
  },
  { type: 'message', payload: { role: 'assistant', content: 'done' } },
];
export const A_MESSAGE = { type: 'message', payload: { role: 'user', content: 'later' } };
const A_MARKER = {
  type: 'session_rewind',
  payload: {
    targetSequence: 1,
    report: { targetSequence: 1, filesRestored: 1, filesDeleted: 1 },
    rewindId: REWIND_ID,
  },
};
const TIME = '2026-07-09T12:00:00Z';

/** Everything that a stranger can do with an intent, or with what is kept. */
export const PLACES: Readonly<Record<string, Place>> = {
  'nothing but metadata': (forger) => forger.session([A_MESSAGE]),
  'an intent at the end, as an earlier version wrote it': (forger) => forger.session([forger.intent()]),
  'an intent that names no folder': (forger) => forger.session([forger.intent({ workspace: undefined })]),
  'an intent of an undo': (forger) => {
    forger.session([forger.intent({ undoes: OLDER_ID })]);
    forger.record([], OLDER_ID);
  },
  'an intent of a restore': (forger) => forger.session([forger.intent({ filesOnly: true })]),
  'an intent with the identity of another file': (forger) =>
    forger.session([forger.intent({ log: logIdentity(forger.victim) })]),
  'an intent with an identity of numbers': (forger) =>
    forger.session([forger.intent({ log: { dev: 0, ino: 0, birth: 0 } })]),
  'an intent with an empty identity': (forger) =>
    forger.session([forger.intent({ log: { dev: '', ino: '', birth: '' } })]),
  'an intent with the right inode and no birth': (forger) => {
    forger.session([forger.intent()]);
    const { dev, ino } = logIdentity(join(forger.root, 's', 'events.jsonl'));
    // Written in place, so the inode stays.
    writeFileSync(
      join(forger.root, 's', 'events.jsonl'),
      logOf('s', [...WORK, forger.intent({ log: { dev, ino, birth: '0' } })]),
    );
  },
  'an intent in front of an event': (forger) => forger.session([forger.intent(), A_MESSAGE]),
  'an intent without a newline': (forger) => {
    forger.session([forger.intent()]);
    const path = join(forger.root, 's', 'events.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd());
  },
  'an intent with a fragment behind it': (forger) => {
    forger.session([forger.intent()]);
    writeFileSync(join(forger.root, 's', 'events.jsonl'), '{"id":"s:5","se', { flag: 'a' });
  },
  'two intents': (forger) => forger.session([forger.intent({ id: OLDER_ID }), forger.intent()]),
  'an intent and its kept record': (forger) => {
    forger.session([forger.intent()]);
    forger.record([forger.intent()]);
  },
  'an intent in a kept log': (forger) => {
    forger.session([A_MARKER]);
    forger.record([forger.intent()]);
  },
  'an intent in a kept log that names no folder': (forger) => {
    forger.session([A_MARKER]);
    forger.record([forger.intent({ workspace: undefined })]);
  },
  'an intent in a kept log of the first version': (forger) => {
    forger.session([A_MARKER]);
    forger.record([forger.intent()], REWIND_ID, `.zs/kept/${REWIND_ID}/blobs`);
  },
  'kept logs of two folders': (forger) => {
    forger.session([A_MARKER]);
    forger.record([forger.intent({ id: OLDER_ID, workspace: forger.cwd ?? '/' })], OLDER_ID);
    forger.record([forger.intent()]);
  },
  'an intent in a kept log of a child': (forger) => {
    forger.session([A_MESSAGE]);
    forger.session([forger.intent({}, 'c')], 'c', { sessionKind: 'child', parentSessionId: 's', rootSessionId: 's' });
  },
  'an intent in a fork, of its parent': (forger) => {
    forger.session([forger.intent()], 'parent');
    forger.session([forger.intent({}, 'parent')], 's', FORK);
  },
  'an intent in a fork, of its own': (forger) => {
    forger.session([A_MESSAGE], 'parent');
    forger.session([forger.intent()], 's', FORK);
  },
  'a folder that was copied from where the intent was made': (forger) => {
    elsewhere(forger, (folder) =>
      cpSync(folder, join(forger.root, 's'), { recursive: true, preserveTimestamps: true }),
    );
  },
  'a log from a backup of where the intent was made': (forger) => {
    elsewhere(forger, (folder) => {
      forger.session([]);
      cpSync(join(folder, 'events.jsonl'), join(forger.root, 's', 'events.jsonl'), { preserveTimestamps: true });
    });
  },
};

const FORK = { sessionKind: 'fork', parentSessionId: 'parent', rootSessionId: 'parent' };

/** Makes the session where an intent of it is genuine, and takes it from there. */
function elsewhere(forger: Forger, take: (folder: string) => void): void {
  const root = join(dirname(forger.root), 'elsewhere');
  const there = new Forger(root, forger.cwd, forger.victim);
  there.session([there.intent()]);
  const log = logIdentity(join(root, 's', 'events.jsonl'));
  writeFileSync(join(root, 's', 'events.jsonl'), logOf('s', [...WORK, there.intent({ log })]));
  mkdirSync(forger.root, { recursive: true, mode: 0o700 });
  take(join(root, 's'));
}

function cwdOf(kind: CwdKind, workspaces: string, victim: string): string | undefined {
  switch (kind) {
    case 'missing':
      return undefined;
    case 'blank':
      return '';
    case 'gone':
      return join(workspaces, 'gone');
    case 'another':
      return victim;
    case 'own':
    case 'swapped':
      return join(workspaces, 'own');
    case 'linked':
      symlinkSync(victim, join(workspaces, 'link'));
      return join(workspaces, 'link');
    default:
      return kind satisfies never;
  }
}

function layWorkspace(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const name of ['overwritten', 'deleted']) writeFileSync(join(folder, name), KNOWN, { mode: 0o644 });
  // What recovery would sweep as staged by it.
  for (const place of [0, 1, 2, 3]) writeFileSync(join(folder, `.zs-tmp-${REWIND_ID}-${place}`), 'not ours');
}

function logOf(id: string, events: readonly object[]): string {
  return events
    .map((event, at) => JSON.stringify({ id: `${id}:${at + 1}`, sessionId: id, sequence: at + 1, ...withTime(event) }))
    .map((line) => `${line}\n`)
    .join('');
}

function withTime(event: object): object {
  const { type, ...rest } = event as { type: string };
  return { type, createdAt: TIME, ...rest };
}

function hashOf(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Gives everything below a folder: kind, mode, time, inode, and content or target. */
export function watch(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    const { mode, mtimeNs, ino } = lstatSync(path, { bigint: true });
    const facts = `${path} ${mode.toString(8)} ${mtimeNs} ${ino}`;
    if (entry.isDirectory()) return [facts, ...watch(path)];
    return [`${facts} ${entry.isSymbolicLink() ? readlinkSync(path) : readFileSync(path, 'utf8')}`];
  });
}
