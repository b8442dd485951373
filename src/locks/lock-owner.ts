import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { ignoring } from '../errors.js';
import { replaceWhole } from '../fs/atomic-file.js';
import type { ProcessIdentity } from './process-identity.js';

/** Who made a lock directory: the process, and a token that no other taking of the lock shares. */
export interface LockOwner extends ProcessIdentity {
  readonly token: string;
}

/** Beside the lock directory and not inside: rmdir is how it is released. */
export function ownerPathOf(lockPath: string): string {
  return `${lockPath}.owner`;
}

/** Not synced: after a power cut there is no owner to find. */
export async function writeLockOwner(lockPath: string, owner: LockOwner): Promise<void> {
  await replaceWhole(ownerPathOf(lockPath), `${JSON.stringify(owner)}\n`, 0o600);
}

/**
 * Undefined when the file is missing, cut short, or not one of ours. Synchronous, for a process that exits, and so that
 * nothing comes between a look and a commit.
 */
export function readLockOwner(lockPath: string): LockOwner | undefined {
  try {
    const descriptor = openSync(ownerPathOf(lockPath), READ_ONLY);
    try {
      return fstatSync(descriptor).size > LONGEST_OWNER ? undefined : parseOwner(readFileSync(descriptor, 'utf8'));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return ignoring()(error);
  }
}

export async function removeLockOwner(lockPath: string): Promise<void> {
  await unlink(ownerPathOf(lockPath)).catch(ignoring('ENOENT'));
}

// Neither a link nor a pipe that somebody put there is followed or waited for. Windows has neither flag.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const READ_ONLY = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Longer files are not ours. */
const LONGEST_OWNER = 4096;

function parseOwner(text: string): LockOwner | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // cut short by a crash
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, host, token, bootId, pidNamespace, startTime } = value as Readonly<Record<string, unknown>>;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined;
  if (typeof host !== 'string' || typeof token !== 'string') return undefined;
  const optional = (field: unknown) => (typeof field === 'string' ? field : undefined);
  return {
    pid,
    host,
    token,
    bootId: optional(bootId),
    pidNamespace: optional(pidNamespace),
    startTime: optional(startTime),
  };
}
