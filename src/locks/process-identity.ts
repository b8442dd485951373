import { readFile, readlink } from 'node:fs/promises';
import { getPriority, hostname, platform } from 'node:os';
// biome-ignore lint/plugin: nothing else tells this process its number where there is no /proc
import { pid as ownPid } from 'node:process';

/** Enough about a process to tell later, from another one, whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Changes with each start of the system. Undefined outside Linux, as are the two below. */
  readonly bootId: string | undefined;
  /** Process numbers mean something within their namespace only: a container has its own. Undefined without /proc. */
  readonly pidNamespace: string | undefined;
  /** Clock ticks from boot to the start of the process: process numbers come round again. */
  readonly startTime: string | undefined;
}

export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  const [bootId, pidNamespace, state] = await Promise.all([
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').then((text) => text.trim(), unknown),
    readlink('/proc/self/ns/pid').catch(unknown),
    processState(pid),
  ]);
  return { pid, host: hostname(), bootId, pidNamespace, startTime: state?.startTime };
}

/** Without /proc nobody can tell that this process has ended. */
export async function identifyThisProcess(): Promise<ProcessIdentity> {
  // A /proc that was mounted in another namespace speaks of other processes.
  if ((await readlink('/proc/self').catch(unknown)) === String(ownPid)) return identifyProcess(ownPid);
  return { pid: ownPid, host: hostname(), bootId: undefined, pidNamespace: undefined, startTime: undefined };
}

/**
 * Whether a process has ended for certain, seen from `here`. False for every one that cannot be judged: on another host
 * (also of the same name, started at another time), in another container, or where there is no /proc.
 */
export async function hasEnded(process: ProcessIdentity, here: ProcessIdentity): Promise<boolean> {
  if (process.host !== here.host) return false;
  if (process.bootId !== here.bootId || process.pidNamespace !== here.pidNamespace) return false;
  if (NAMESPACED.has(platform()) && here.pidNamespace === undefined) return false;
  if (!isRunning(process.pid)) return true;
  const state = await processState(process.pid);
  if (state === undefined || process.startTime === undefined) return false;
  return state.isZombie || state.startTime !== process.startTime;
}

const NAMESPACED: ReadonlySet<string> = new Set(['linux', 'android']);

/** Whether a process of this number exists in our namespace, whoever owns it. */
export function isRunning(pid: number): boolean {
  try {
    getPriority(pid);
    return true;
  } catch (error) {
    return (error as { info?: { code?: unknown } | null }).info?.code !== 'ESRCH';
  }
}

async function processState(pid: number): Promise<{ isZombie: boolean; startTime: string } | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(unknown);
  // pid (command) state …: the command may hold spaces and brackets, so the fields are counted from its end.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTime] = [fields?.[0], fields?.[19]];
  if (state === undefined || startTime === undefined) return undefined;
  return { isZombie: state === 'Z' || state === 'X', startTime };
}

function unknown(): undefined {
  return undefined;
}
