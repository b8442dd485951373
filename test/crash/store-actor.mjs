// A process that works on a store until it is killed, or until it has done its share.
//   ROLE ROOT SESSION STATE JOURNAL [COUNT]
// The STATE file says at each moment what is under way, so that whoever kills the process knows where it was hit: a
// letter for the call, `.` between two calls, then how many calls that change the disk were begun in it, 0 while the lock
// is waited for or something is read. On stdout the letter is told when a call begins, `/` when it has its lock, and `.`
// when it ends. What was acknowledged goes to the JOURNAL, a line of JSON for each call.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeFileSystem } from '../../dist/fs/file-system.js';
import { openStore } from '../../dist/index.js';
import { fileLocks } from '../../dist/store/holding/file-locks.js';
import {
  appendAsForeigner,
  appendEventsAsForeigner,
  rewindAsForeigner,
  snapshotAsForeigner,
} from './foreign-writer.mjs';

const [role, root, session, statePath, journal, countText] = process.argv.slice(2);
const count = countText === undefined ? Number.POSITIVE_INFINITY : Number(countText);
const state = openSync(statePath, 'w+');
const underWay = { letter: '.', changes: 0 };
let calls = 0;

function mark(letter, changes) {
  underWay.letter = letter;
  underWay.changes = changes;
  writeSync(state, `${letter}${String(changes).padStart(6, '0')}`, 0);
}

const tell = (sign) => process.stdout.write(sign);

/** To be called just before each call that changes the disk or syncs it. */
const aboutToChange = () => mark(underWay.letter, underWay.changes + 1);

const CHANGING = [
  ...['create', 'write', 'truncate', 'fsync', 'fchmod', 'mkdir', 'rename'],
  ...['link', 'symlink', 'unlink', 'rmdir', 'chown', 'setModified'],
];

/** The file system of the machine, which tells of changes. Locks do not go through it: waiting for one is no change. */
function tellingFileSystem() {
  const telling = { ...nodeFileSystem };
  for (const name of CHANGING) {
    telling[name] = (...args) => {
      aboutToChange();
      return nodeFileSystem[name](...args);
    };
  }
  telling.openFolder = (path) => {
    const folder = nodeFileSystem.openFolder(path);
    const sync = () => {
      aboutToChange();
      folder.sync();
    };
    return { ...folder, sync };
  };
  return telling;
}

/** The locks of the product. Whoever gives one back writes no more. */
function tellingLocks() {
  const locks = fileLocks({ root, timeoutMs: 60_000, flock: 'auto', warn: () => {} });
  return {
    withLock: (id, folder, work) =>
      locks.withLock(id, folder, async (hold) => {
        tell('/');
        try {
          return await work(hold);
        } finally {
          mark(underWay.letter, 0);
        }
      }),
  };
}

const store = openStore({ root, fileSystem: tellingFileSystem(), locks: tellingLocks() });

/** Runs one call with the state set to its letter. */
async function during(letter, work) {
  mark(letter, 0);
  tell(letter);
  const result = await work();
  mark('.', 0);
  tell('.');
  return result;
}

function acknowledge(what) {
  appendFileSync(journal, `${JSON.stringify(what)}\n`);
}

const nonce = () => `${process.pid}-${Date.now()}-${calls}`;

// All files have one version at all times, except while this process edits them itself.
const WORKSPACE = `${root}/../space-${session}`;
const FILES = Array.from({ length: 8 }, (_, at) => `${at % 3 === 0 ? 'deep/' : ''}file-${at}.txt`);

const writeFiles = (content) =>
  during('e', () => {
    mkdirSync(`${WORKSPACE}/deep`, { recursive: true });
    for (const name of FILES) writeFileSync(`${WORKSPACE}/${name}`, content);
  });

/** Edits the files as a tool does, between a checkpoint and its result; gives the event to go back to. */
async function editFiles(version) {
  await writeFiles(`before ${version}`);
  const message = await during('a', () => store.appendEvent(session, { type: 'message', payload: { version } }));
  await during('k', () => store.captureToolCheckpoint(session, WORKSPACE, 'edit', FILES));
  await writeFiles(`after ${version}`);
  await during('a', () => store.appendEvent(session, { type: 'tool_result', payload: { status: 'ok' } }));
  return message.sequence;
}

// What the log was before: afterwards it has to be that, or the new one.
const rememberLog = () => copyFileSync(`${root}/${session}/events.jsonl`, `${statePath}.before`);

async function rewind(target) {
  rememberLog();
  await during('r', () => store.rewind(session, { target, workspace: WORKSPACE }));
  acknowledge({ rewound: target });
}

async function undo() {
  rememberLog();
  await during('u', () => store.undoRewind(session));
  acknowledge({ undone: nonce() });
}

let target;

/** What a rewind or an undo may say where somebody else works on the same session. */
const REFUSALS = ['CONFLICT', 'INCOMPLETE', 'STALE_PLAN', 'EVENT_NOT_FOUND', 'REWIND_NOT_FOUND'];

async function unlessRefused(work) {
  try {
    await work();
  } catch (error) {
    mark('.', 0);
    tell('.');
    // A killed rewind that the foreign program wrote after: somebody has to settle it.
    if (error.code === 'INTERRUPTED_REWIND') await store.abortRewind(session);
    else if (!REFUSALS.includes(error.code)) throw error;
  }
}

const contentsOf = (lines) => lines.flatMap((line) => JSON.parse(line).payload?.content ?? []);

const roles = {
  async append() {
    const size = 1 + (calls % 3);
    const contents = Array.from(
      { length: size },
      (_, at) => `${nonce()}-${at}${'x'.repeat(calls % 17 === 0 ? 6_000 : 9)}`,
    );
    const inputs = contents.map((content) => ({ type: 'message', payload: { content, role: 'user' } }));
    const events = await during('a', () => store.appendEvents(session, inputs));
    for (const [at, { id }] of events.entries()) acknowledge({ session, id, content: contents[at] });
  },
  async one() {
    const content = nonce();
    const event = await during('a', () => store.appendEvent(session, { type: 'message', payload: { content } }));
    acknowledge({ session, id: event.id, content });
  },
  async foreign() {
    const tellOf = { onLocked: () => tell('/'), onWriting: aboutToChange };
    acknowledge(await during('a', () => appendAsForeigner(root, session, nonce(), tellOf)));
  },
  /** A foreign program that works with files: blobs first and without a lock, and back again now and then. */
  async foreignTool() {
    const content = nonce();
    const path = FILES[calls % FILES.length];
    mkdirSync(`${WORKSPACE}/deep`, { recursive: true });
    const payload = snapshotAsForeigner(root, session, WORKSPACE, 'edit', [path]);
    writeFileSync(`${WORKSPACE}/${path}`, content);
    const message = { type: 'message', payload: { content, role: 'foreign' } };
    const [, { id }] = appendEventsAsForeigner(root, session, [{ type: 'session_checkpoint', payload }, message]);
    acknowledge({ session, id, content });
    if (calls % 4 !== 3) return;
    const lines = readFileSync(`${root}/${session}/events.jsonl`, 'utf8').split('\n').filter(Boolean);
    const to = JSON.parse(lines[Math.floor(lines.length * 0.7)]).sequence;
    acknowledge({ dropped: contentsOf(rewindAsForeigner(root, session, WORKSPACE, to).dropped) });
  },
  /** Edits, goes back and forth on a session that a foreign program works on as well. */
  async beside() {
    const content = nonce();
    const event = await during('a', () => store.appendEvent(session, { type: 'message', payload: { content } }));
    acknowledge({ session, id: event.id, content });
    await unlessRefused(async () => {
      await during('k', () => store.captureToolCheckpoint(session, WORKSPACE, 'edit', FILES.slice(0, 3)));
      await during('r', () =>
        store.rewind(session, { target: event.sequence, workspace: WORKSPACE, force: true, allowPartial: true }),
      );
    });
    await unlessRefused(() => during('u', () => store.undoRewind(session, { force: true, allowPartial: true })));
  },
  /** One foreign event for each session of the store. */
  async everywhere() {
    for (const name of readdirSync(root)) {
      // Without metadata it is a claim that its maker was killed over, and no session.
      if (name.startsWith('.') || !existsSync(`${root}/${name}/metadata.json`)) continue;
      acknowledge(appendAsForeigner(root, name, `everywhere ${nonce()}`));
    }
  },
  async fork() {
    const fork = await during('f', () => store.fork(session));
    acknowledge({ fork: fork.sessionId, events: fork.eventCount });
  },
  async child() {
    const child = await during('c', () => store.createChild(session, { agentName: 'worker' }));
    acknowledge({ child: child.sessionId });
  },
  /** There, back, and there again, each time with another edit. */
  async rewind() {
    await rewind(await editFiles(nonce()));
    await undo();
    await undo();
  },
  /** There and back, again and again, with one edit. */
  async undo() {
    target ??= await editFiles(nonce());
    await rewind(target);
    await undo();
  },
  /** Works on one of two sessions, each of which is the implementation of a spec of the other. */
  async crossed() {
    const { sessionId } = await store.createChild(session);
    acknowledge({ child: sessionId });
    const fork = await store.fork(session);
    acknowledge({ fork: fork.sessionId, events: fork.eventCount });
    await store.ensureSpecImplementation({ specId: 'p', specSourceSessionId: session, prompt: nonce() });
  },
  /** The commands that no other role runs. */
  async various() {
    const content = nonce();
    const specId = `p${calls}`;
    await during('t', () => store.updateTitle(session, content));
    await during('m', () => store.updateModel(session, content));
    await during('a', () =>
      store.appendEventUnlessExists(session, { type: 'message', payload: { content } }, () => false),
    );
    await during('s', () => store.recordSpec(session, { specId, specStatus: 'draft' }));
    // Now and then only: it reads the whole list of sessions.
    const wish = { specId, specSourceSessionId: session, prompt: 'build' };
    if (calls % 10 === 0) await during('i', () => store.ensureSpecImplementation(wish));
    if ((await store.get(session)).goal === undefined) await during('g', () => store.createGoal(session, content, 9));
    await during('g', () => store.addGoalUsage(session, 1));
    await during('g', () => store.clearGoal(session));
    const plan = await store.planCompaction(session, { preserveLast: 1 });
    await during('p', () => store.recordCompaction(session, { plan, summary: content }));
    await during('p', () => store.undoCompaction(session));
    await during('x', () => store.truncateEvents(session, Number.MAX_SAFE_INTEGER));
  },
};

// Ends with whoever started it.
let isOrphan = false;
process.stdin.on('end', () => {
  isOrphan = true;
});
process.stdin.resume();
tell('!');
for (; calls < count && !isOrphan; calls += 1) {
  await roles[role]();
  // Whoever has a share to do is in the others' way all the time; the rest leave each other some room, since a machine
  // that is busy with queues alone has little left to be hit in a write.
  if (countText === undefined) await sleep(((calls * 7) % 12) * 6);
}
process.stdin.destroy();
