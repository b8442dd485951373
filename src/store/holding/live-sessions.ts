import { errnoOf } from '../../errors.js';
import { readWholeFile } from '../../fs/durable-file.js';
import type { FileStat } from '../../fs/file-system.js';
import { findProcess } from '../../locks/find-process.js';
import { readHeldLocks } from '../../locks/held-locks.js';
import type { StoreDeps } from '../base/deps.js';
import { sessionPaths } from '../base/layout.js';

/** Which sessions other processes have open, as far as they said so where Zero says it. */
export interface OpenSessions {
  /** Gives the processes that have a session open, in rising order. */
  processesOf(sessionId: string): readonly number[];
}

/** Which sessions are in use right now. */
export interface LiveSessions extends OpenSessions {
  /**
   * Tells whether a process has a session open, or holds its lock; undefined where no process has said so and the
   * system does not tell who holds what (no /proc).
   */
  isLive(sessionId: string): boolean | undefined;
}

/** What is read of one registry: more is not one that Zero wrote. */
const MAX_ENTRIES = 1_000;
const MAX_ENTRY_BYTES = 64 * 1024;

/** Reads which sessions are in use; nothing is locked or created for it. */
export async function readLiveSessions(deps: Pick<StoreDeps, 'root' | 'fs' | 'peerRegistries'>): Promise<LiveSessions> {
  const held = await readHeldLocks(deps.root);
  const { processesOf } = readOpenSessions(deps);
  const isLocked = (sessionId: string) => {
    const lock = deps.fs.lstat(sessionPaths(`${deps.root}/${sessionId}`).lock);
    return lock !== undefined && held?.isHeld(lock.ino);
  };
  return {
    processesOf,
    isLive: (sessionId) => processesOf(sessionId).length > 0 || (held === undefined ? undefined : isLocked(sessionId)),
  };
}

/**
 * Reads which sessions the running Zeros have open: each keeps a small file in a registry of the user. What stands there
 * is only a hint: the process has to exist and to belong to the owner of the file, and what cannot be read says nothing.
 */
export function readOpenSessions(deps: Pick<StoreDeps, 'fs' | 'peerRegistries'>): OpenSessions {
  const processes = new Map<string, Set<number>>();
  for (const path of deps.peerRegistries.flatMap((registry) => entriesOf(deps, registry))) {
    const entry = ignoringSystemErrors(() => readEntry(deps, path));
    if (entry === undefined) continue;
    const known = processes.get(entry.sessionId) ?? new Set();
    processes.set(entry.sessionId, known.add(entry.pid));
  }
  return { processesOf: (sessionId) => [...(processes.get(sessionId) ?? [])].sort((a, b) => a - b) };
}

function entriesOf({ fs }: Pick<StoreDeps, 'fs'>, registry: string): readonly string[] {
  const entries = ignoringSystemErrors(() => (fs.stat(registry)?.kind === 'directory' ? fs.readdir(registry) : []));
  return (entries ?? [])
    .filter(({ name, kind }) => kind === 'file' && name.endsWith('.json'))
    .slice(0, MAX_ENTRIES)
    .map(({ name }) => `${registry}/${name}`);
}

function readEntry(
  { fs }: Pick<StoreDeps, 'fs'>,
  path: string,
): { readonly sessionId: string; readonly pid: number } | undefined {
  const stat = fs.lstat(path);
  if (stat === undefined || stat.kind !== 'file' || stat.size > MAX_ENTRY_BYTES) return undefined;
  const bytes = readWholeFile(fs, path);
  const entry = bytes === undefined ? undefined : parseObject(bytes);
  const { sessionId, pid } = entry ?? {};
  if (typeof sessionId !== 'string' || typeof pid !== 'number') return undefined;
  return isProcessOfOwner(pid, stat) ? { sessionId, pid } : undefined;
}

function isProcessOfOwner(pid: number, { uid }: FileStat): boolean {
  const found = findProcess(pid);
  return found !== undefined && (found.uid === undefined || found.uid === uid);
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function ignoringSystemErrors<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
