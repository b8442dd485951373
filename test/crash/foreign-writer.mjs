// What the reference program does on disk, made from FORMAT.md, 1 to 4, with nothing of ours.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** The present time as it is stored: whole seconds, cut. */
const now = (date = new Date()) => date.toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Appends events under flock on `session.lock`: reads the end, writes, syncs, replaces the metadata.
 * @param tell - `onLocked` is called once the lock is held, `onWriting` when the next call writes; `isAlone` leaves the
 *   lock out, where nobody else can be writing; `now` is the present time.
 * @returns The events as they were written.
 */
export function appendEventsAsForeigner(root, session, inputs, tell = {}) {
  return underLock(root, session, tell, (folder) => appendHere(folder, session, inputs, tell));
}

/** Appends one message. @returns What is in the log now. */
export function appendAsForeigner(root, session, content, tell = {}) {
  const [{ id }] = appendEventsAsForeigner(
    root,
    session,
    [{ type: 'message', payload: { content, role: 'foreign' } }],
    tell,
  );
  return { session, id, content };
}

/**
 * Goes back: restores what it can, cuts the log, counts `eventCount` down with it, appends a marker under a number that
 * was used before, and removes the blobs that no event names any more.
 * @returns The lines that it dropped, and its report.
 */
export function rewindAsForeigner(root, session, workspace, target, tell = {}) {
  return underLock(root, session, tell, (folder) => {
    const lines = linesOf(`${folder}/events.jsonl`);
    const [kept, dropped] = [
      lines.filter((line) => numberOf(line) <= target),
      lines.filter((line) => numberOf(line) > target),
    ];
    const report = restore(folder, workspace, target, dropped);
    tell.onWriting?.();
    replaceFile(`${folder}/events.jsonl`, kept.map((line) => `${line}\n`).join(''));
    const last = kept.at(-1) === undefined ? undefined : JSON.parse(kept.at(-1));
    updateMetadata(folder, {
      updatedAt: now(tell.now?.()),
      eventCount: last?.sequence ?? 0,
      lastEventType: last?.type,
    });
    appendHere(folder, session, [{ type: 'session_rewind', payload: { targetSequence: target, report } }], tell);
    pruneBlobs(folder);
    return { dropped, report };
  });
}

/**
 * Stores the content of files as they are and takes no lock: the event that names them comes later, from the caller.
 * @returns The payload for that event.
 */
export function snapshotAsForeigner(root, session, workspace, tool, paths) {
  const blobs = `${root}/${session}/checkpoints/blobs`;
  const files = paths.map((path) => {
    const at = `${workspace}/${path}`;
    if (!existsSync(at)) return { path, absent: true };
    const content = readFileSync(at);
    const blob = createHash('sha256').update(content).digest('hex');
    mkdirSync(blobs, { recursive: true, mode: 0o700 });
    // What is there already is not written again.
    if (!existsSync(`${blobs}/${blob}`)) replaceFile(`${blobs}/${blob}`, content);
    return { path, blob, bytes: content.length, mode: statSync(at).mode & 0o777 };
  });
  return { tool, files };
}

/** Makes a fork with all events and blobs of another session. */
export function forkAsForeigner(root, parent, session, tell = {}) {
  return underLock(root, parent, tell, (folder) => {
    const { cwd } = JSON.parse(readFileSync(`${folder}/metadata.json`, 'utf8'));
    const events = linesOf(`${folder}/events.jsonl`).map((line) => JSON.parse(line));
    const copied = events.filter(({ type }) => type !== 'provider_usage');
    const last = events.at(-1);
    const at = now(tell.now?.());
    const into = `${root}/${session}`;
    mkdirSync(into, { mode: 0o700 });
    const lineage = { parentSessionId: parent, rootSessionId: parent };
    const from = last === undefined ? {} : { forkedFromEventId: last.id, forkedFromSequence: last.sequence };
    const times = { createdAt: at, updatedAt: at, eventCount: 0 };
    writeMetadata(into, { sessionId: session, sessionKind: 'fork', title: 'fork', cwd, ...lineage, ...from, ...times });
    closeSync(openSync(`${into}/events.jsonl`, 'a', 0o600));
    const parts = {
      parentSessionId: parent,
      parentEventCount: events.length,
      copiedEventCount: copied.length,
      ...from,
    };
    const inputs = [
      ...copied.map(({ type, payload }) => ({ type, payload })),
      { type: 'session_fork', payload: parts },
    ];
    appendHere(into, session, inputs, tell);
    const blobs = `${folder}/checkpoints/blobs`;
    if (!existsSync(blobs)) return;
    mkdirSync(`${into}/checkpoints/blobs`, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(blobs)) copyFileSync(`${blobs}/${name}`, `${into}/checkpoints/blobs/${name}`);
  });
}

/**
 * Makes a session: mkdir, which is the claim on the id, then metadata, then an empty log.
 * @throws Error with the code `EEXIST` when the id is in use.
 */
export function createAsForeigner(root, session, title) {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const folder = `${root}/${session}`;
  mkdirSync(folder, { mode: 0o700 });
  const createdAt = now();
  writeMetadata(folder, { sessionId: session, title, createdAt, updatedAt: createdAt, eventCount: 0 });
  closeSync(openSync(`${folder}/events.jsonl`, 'a', 0o600));
}

function underLock(root, session, tell, work) {
  const folder = `${root}/${session}`;
  const lock = openSync(`${folder}/session.lock`, 'a+', 0o600);
  try {
    if (tell.isAlone !== true) {
      // The lock stays with the descriptor when the command has ended.
      const { status } = spawnSync('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'inherit', lock] });
      if (status !== 0) throw new Error(`flock ended with ${status}`);
    }
    tell.onLocked?.();
    return work(folder);
  } finally {
    closeSync(lock);
  }
}

function appendHere(folder, session, inputs, tell) {
  const { eventCount } = JSON.parse(readFileSync(`${folder}/metadata.json`, 'utf8'));
  const last = linesOf(`${folder}/events.jsonl`).at(-1);
  const first = Math.max(eventCount, last === undefined ? 0 : JSON.parse(last).sequence) + 1;
  const createdAt = now(tell.now?.());
  const events = inputs.map(({ type, payload }, at) => ({
    id: `${session}:${first + at}`,
    sessionId: session,
    sequence: first + at,
    type,
    createdAt,
    ...(payload === undefined ? {} : { payload }),
  }));
  tell.onWriting?.();
  const log = openSync(`${folder}/events.jsonl`, 'a', 0o600);
  writeSync(log, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  fsyncSync(log);
  closeSync(log);
  const { sequence, type } = events.at(-1);
  updateMetadata(folder, { updatedAt: createdAt, eventCount: sequence, lastEventType: type });
  return events;
}

/** Brings files back to what the dropped checkpoints say of them; the first to name a file wins. */
function restore(folder, workspace, target, dropped) {
  const wanted = new Map();
  for (const line of dropped) {
    const { type, payload } = JSON.parse(line);
    if (type !== 'session_checkpoint') continue;
    for (const file of payload.files) if (!wanted.has(file.path)) wanted.set(file.path, file);
  }
  const report = { targetSequence: target, filesRestored: 0, filesDeleted: 0 };
  const skipped = [];
  for (const [path, { blob, absent, mode = 0 }] of wanted) {
    const at = `${workspace}/${path}`;
    const content = blob === undefined ? undefined : readBlob(`${folder}/checkpoints/blobs`, blob);
    try {
      if (absent) {
        rmSync(at, { force: true });
        report.filesDeleted += 1;
      } else if (content === undefined) skipped.push(path);
      else {
        mkdirSync(dirname(at), { recursive: true });
        writeFileSync(at, content);
        if (mode !== 0) chmodSync(at, mode);
        report.filesRestored += 1;
      }
    } catch {
      skipped.push(path);
    }
  }
  return skipped.length > 0 ? { ...report, skipped } : report;
}

function readBlob(folder, name) {
  if (!existsSync(`${folder}/${name}`)) return undefined;
  const content = readFileSync(`${folder}/${name}`);
  return createHash('sha256').update(content).digest('hex') === name ? content : undefined;
}

function pruneBlobs(folder) {
  const blobs = `${folder}/checkpoints/blobs`;
  if (!existsSync(blobs)) return;
  const named = new Set();
  for (const line of linesOf(`${folder}/events.jsonl`)) {
    const { type, payload } = JSON.parse(line);
    if (type === 'session_checkpoint') for (const { blob } of payload.files) named.add(blob);
  }
  for (const name of readdirSync(blobs)) if (!named.has(name)) unlinkSync(`${blobs}/${name}`);
}

function linesOf(path) {
  const text = readFileSync(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error('a torn tail, and only a crash of the system leaves one');
  return text.split('\n').filter((line) => line !== '');
}

const numberOf = (line) => JSON.parse(line).sequence;

function updateMetadata(folder, changes) {
  const {
    updatedAt: _,
    eventCount: __,
    lastEventType: ___,
    ...others
  } = JSON.parse(readFileSync(`${folder}/metadata.json`, 'utf8'));
  writeMetadata(folder, { ...others, ...changes });
}

function writeMetadata(folder, metadata) {
  replaceFile(`${folder}/metadata.json`, `${JSON.stringify(metadata, null, 2)}\n`);
}

function replaceFile(path, content) {
  const temp = `${path}.tmp-${process.pid}`;
  const fd = openSync(temp, 'w', 0o600);
  writeFileSync(fd, content);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temp, path);
  const entries = openSync(dirname(path), 'r');
  fsyncSync(entries);
  closeSync(entries);
}
