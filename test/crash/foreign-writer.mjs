// What the reference program does on disk, made from FORMAT.md, 1 to 4, with nothing of ours.
import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';

/** The present time as it is stored: whole seconds, cut. */
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Appends one event under flock on `session.lock`: reads the end, writes, syncs, replaces the metadata.
 * @param tell - `onLocked` is called once the lock is held, `onWriting` when the next call writes.
 * @returns What is in the log now.
 */
export function appendAsForeigner(root, session, content, tell = {}) {
  const folder = `${root}/${session}`;
  const lock = openSync(`${folder}/session.lock`, 'a+', 0o600);
  try {
    // The lock stays with the descriptor when the command has ended.
    const { status } = spawnSync('flock', ['-x', '3'], { stdio: ['ignore', 'ignore', 'inherit', lock] });
    if (status !== 0) throw new Error(`flock ended with ${status}`);
    tell.onLocked?.();
    const metadata = JSON.parse(readFileSync(`${folder}/metadata.json`, 'utf8'));
    const text = readFileSync(`${folder}/events.jsonl`, 'utf8');
    if (text !== '' && !text.endsWith('\n')) throw new Error('a torn tail, and only a crash of the system leaves one');
    const last = text.trimEnd().split('\n').at(-1);
    const sequence = Math.max(metadata.eventCount, last === '' ? 0 : JSON.parse(last).sequence) + 1;
    const createdAt = now();
    const id = `${session}:${sequence}`;
    const payload = { content, role: 'foreign' };
    const event = { id, sessionId: session, sequence, type: 'message', createdAt, payload };
    tell.onWriting?.();
    const log = openSync(`${folder}/events.jsonl`, 'a', 0o600);
    writeSync(log, `${JSON.stringify(event)}\n`);
    fsyncSync(log);
    closeSync(log);
    const { eventCount: _, lastEventType: __, ...others } = metadata;
    writeMetadata(folder, { ...others, updatedAt: createdAt, eventCount: sequence, lastEventType: 'message' });
    return { session, id, content };
  } finally {
    closeSync(lock);
  }
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

function writeMetadata(folder, metadata) {
  const temp = `${folder}/metadata.json.tmp-${process.pid}`;
  const fd = openSync(temp, 'w', 0o600);
  writeFileSync(fd, `${JSON.stringify(metadata, null, 2)}\n`);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temp, `${folder}/metadata.json`);
  const entries = openSync(folder, 'r');
  fsyncSync(entries);
  closeSync(entries);
}
