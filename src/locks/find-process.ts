import { readFileSync } from 'node:fs';
import { ignoring } from '../errors.js';
import { isRunning } from './process-identity.js';

interface RunningProcess {
  readonly pid: number;
  /** Undefined where the system does not tell (no /proc). */
  readonly uid: number | undefined;
}

const LARGEST_PID = 2 ** 31 - 1;

/** Undefined when no process has this number, or the one that had it has ended. */
export function findProcess(pid: number): RunningProcess | undefined {
  // Asked for 0, the system would speak of ourselves.
  if (!Number.isInteger(pid) || pid < 1 || pid > LARGEST_PID || !isRunning(pid)) return undefined;
  const status = readStatus(pid);
  if (status === undefined) return { pid, uid: undefined };
  if (/^State:\s+[ZX]/m.test(status)) return undefined;
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return { pid, uid: uid === undefined ? undefined : Number(uid) };
}

function readStatus(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch (error) {
    return ignoring()(error);
  }
}
