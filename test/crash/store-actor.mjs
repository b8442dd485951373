// A process that works on a store until it is killed, or until it has done its share.
//   ROLE ROOT SESSION STATE JOURNAL [COUNT]
// Before and after each call one byte of the STATE file says what is under way, so that whoever kills the process knows
// where it was hit; what was acknowledged goes to the JOURNAL, a line of JSON for each call.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { openStore } from '../../dist/index.js';

const [role, root, session, statePath, journal, countText] = process.argv.slice(2);
const count = countText === undefined ? Number.POSITIVE_INFINITY : Number(countText);
const state = openSync(statePath, 'w+');
const store = openStore({ root, lockTimeoutMs: 60_000 });
let calls = 0;

/** Runs one call with the state set to its letter. */
async function during(letter, work) {
  writeSync(state, letter, 0);
  const result = await work();
  writeSync(state, '.', 0);
  return result;
}

function acknowledge(what) {
  appendFileSync(journal, `${JSON.stringify(what)}\n`);
}

const nonce = () => `${process.pid}-${Date.now()}-${calls}`;

/** Appends one event as the reference program does, with nothing of ours: flock, read the end, write, sync, replace. */
function appendAsForeigner() {
  const folder = `${root}/${session}`;
  const lock = openSync(`${folder}/session.lock`, 'a+', 0o600);
  spawnSync('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'inherit', lock] });
  try {
    const metadata = JSON.parse(readFileSync(`${folder}/metadata.json`, 'utf8'));
    const text = readFileSync(`${folder}/events.jsonl`, 'utf8');
    if (text !== '' && !text.endsWith('\n')) throw new Error('a torn tail, and only a crash of the system leaves one');
    const last = text.trimEnd().split('\n').at(-1);
    const sequence = Math.max(metadata.eventCount, last === '' ? 0 : JSON.parse(last).sequence) + 1;
    const createdAt = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const content = nonce();
    const event = {
      id: `${session}:${sequence}`,
      sessionId: session,
      sequence,
      type: 'message',
      createdAt,
      payload: { content, role: 'foreign' },
    };
    const log = openSync(`${folder}/events.jsonl`, 'a', 0o600);
    writeSync(log, `${JSON.stringify(event)}\n`);
    fsyncSync(log);
    closeSync(log);
    const { eventCount: _, lastEventType: __, ...others } = metadata;
    const next = { ...others, updatedAt: createdAt, eventCount: sequence, lastEventType: 'message' };
    const temp = `${folder}/metadata.json.tmp-${process.pid}`;
    writeFileSync(temp, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
    renameSync(temp, `${folder}/metadata.json`);
    return { session, id: event.id, content };
  } finally {
    closeSync(lock);
  }
}

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
    acknowledge(await during('a', () => appendAsForeigner()));
  },
  async fork() {
    const fork = await during('f', () => store.fork(session));
    acknowledge({ fork: fork.sessionId, events: fork.eventCount });
  },
  async child() {
    const child = await during('c', () => store.createChild(session, { agentName: 'worker' }));
    acknowledge({ child: child.sessionId });
  },
  // Three files have one version at all times, except while this process edits them itself.
  async rewind() {
    const workspace = `${root}/../space-${session}`;
    mkdirSync(workspace, { recursive: true });
    const names = ['one.txt', 'deep/two.txt', 'three.txt'];
    const version = nonce();
    await during('e', () => {
      mkdirSync(`${workspace}/deep`, { recursive: true });
      for (const name of names) writeFileSync(`${workspace}/${name}`, `before ${version}`);
    });
    const target = (await during('a', () => store.appendEvent(session, { type: 'message', payload: { version } })))
      .sequence;
    await during('a', () => store.captureToolCheckpoint(session, workspace, 'edit', names));
    await during('e', () => {
      for (const name of names) writeFileSync(`${workspace}/${name}`, `after ${version}`);
    });
    await during('a', () => store.appendEvent(session, { type: 'tool_result', payload: { status: 'ok' } }));
    await during('r', () => store.rewind(session, { target, workspace }));
    acknowledge({ rewound: version });
    await during('r', () => store.undoRewind(session));
    await during('r', () => store.undoRewind(session));
  },
};

// Ends with whoever started it.
let isOrphan = false;
process.stdin.on('end', () => {
  isOrphan = true;
});
process.stdin.resume();
process.stdout.write('ready\n');
for (; calls < count && !isOrphan; calls += 1) await roles[role]();
process.stdin.destroy();
