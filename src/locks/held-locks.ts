import { lstat, open, readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ignoring } from '../errors.js';
import { identityOf } from '../fs/file-system.js';
import type { LockHolder } from './lock-holder.js';
import { isRunning } from './process-identity.js';

/**
 * Reads which files on the file system of a directory are locked with flock, taking none; undefined without /proc.
 * A lock that was taken in another PID namespace may be missing.
 */
export async function readHeldLocks(directory: string): Promise<{ isHeld(ino: bigint): boolean } | undefined> {
  const listed = await listLocks(directory);
  if (listed === undefined) return undefined;
  return { isHeld: (ino) => listed.pids.has(`${listed.device}:${ino}`) };
}

/** Finds a process that holds flock on a file, by all open descriptors: for an error message, not for a loop. */
export async function findLockHolder(path: string): Promise<LockHolder | undefined> {
  // Only a name for a message: whatever cannot be read here must not replace the message.
  return await holderOf(path).catch(ignoring());
}

async function holderOf(path: string): Promise<LockHolder | undefined> {
  const { ino } = identityOf(await lstat(path, { bigint: true }));
  const listed = await listLocks(dirname(path));
  if (listed === undefined) return undefined;
  const file = `${listed.device}:${ino}`;
  // The kernel lists who asked for the lock: perhaps a command that asked for somebody else and has ended. So whoever
  // has the locked descriptor counts; who asked is second best, where descriptors cannot be read.
  const askers = listed.pids.get(file) ?? [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  for (const pid of [...askers, ...pids]) {
    if (await hasLockedDescriptor(pid, file)) return await describe(pid);
  }
  const asker = askers.find(isRunning);
  return asker === undefined ? undefined : await describe(asker);
}

interface ListedLocks {
  /** As /proc/locks writes it: `fe:00`. */
  readonly device: string;
  /** Who asked for the locks that are held, by `device:inode`. */
  readonly pids: ReadonlyMap<string, readonly number[]>;
}

// 12: FLOCK  ADVISORY  WRITE 4711 fe:00:9979884 0 EOF   (one that waits has -> before FLOCK)
const HELD_FLOCK = /^\d+: FLOCK +\S+ +\S+ +(-?\d+) +([0-9a-f]+:[0-9a-f]+:\d+) /gm;

async function listLocks(directory: string): Promise<ListedLocks | undefined> {
  const device = await deviceOf(directory).catch(ignoring());
  const locks = await readFile('/proc/locks', 'utf8').catch(ignoring());
  if (device === undefined || locks === undefined) return undefined;
  const pids = new Map<string, number[]>();
  for (const [, pid, file = ''] of locks.matchAll(HELD_FLOCK)) {
    pids.set(file, [...(pids.get(file) ?? []), Number(pid)]);
  }
  return { device, pids };
}

// stat's device number will not do: on btrfs it is the subvolume's, and /proc/locks has the file system's.
async function deviceOf(directory: string): Promise<string | undefined> {
  const handle = await open(directory, 'r');
  try {
    const mount = /^mnt_id:\s+(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8'))?.[1];
    const mounts = await readFile('/proc/self/mountinfo', 'utf8');
    const [, major, minor] = new RegExp(`^${mount} \\d+ (\\d+):(\\d+) `, 'm').exec(mounts) ?? [];
    if (major === undefined || minor === undefined) return undefined;
    return [major, minor].map((part) => Number(part).toString(16).padStart(2, '0')).join(':');
  } finally {
    await handle.close();
  }
}

async function hasLockedDescriptor(pid: number, file: string): Promise<boolean> {
  const folder = `/proc/${pid}/fdinfo`;
  const locked = new RegExp(`^lock:\\s+\\d+: FLOCK .* ${file} `, 'm');
  // What cannot be read is gone meanwhile, or another user's.
  for (const descriptor of await readdir(folder).catch(() => [])) {
    const info = await readFile(`${folder}/${descriptor}`, 'utf8').catch(() => '');
    if (locked.test(info)) return true;
  }
  return false;
}

async function describe(pid: number): Promise<LockHolder> {
  const command = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return { pid, name: command === '' ? `process ${pid}` : `process ${pid} (${command.trimEnd()})` };
}
