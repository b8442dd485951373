import { type ChildProcess, spawn } from 'node:child_process';
import { constants, platform } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, SystemError } from '../errors.js';

/** What another program said and how it ended. */
interface ProgramResult {
  readonly code: number;
  readonly out: Uint8Array;
  readonly err: string;
}

/** What a program is run with. */
interface ProgramSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_CHARS = 64 * 1024;

/** How long a group that was asked to end may take before it is made to, milliseconds. */
const GRACE_MS = 2000;
const LOOK_AGAIN_MS = 20;
/** Windows has no groups: there the shell alone is ended. */
const HAS_GROUPS = platform() !== 'win32';

/**
 * Runs a command line of the user's own in the system's shell, with a text on its stdin.
 *
 * The shell and all that it starts are a group, which ends with us: when the signal aborts, when we exit, and what is
 * left of it when the shell has ended.
 * @throws SystemError (`SYSTEM`) when it cannot be started, or says more than anybody could want.
 * @throws the reason of the signal when that aborts; the group has ended then.
 */
export async function runInShell(
  command: string,
  input: string,
  { cwd, env, signal }: ProgramSurroundings,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const child = spawn(command, { shell: true, cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: HAS_GROUPS });
  const out: Uint8Array[] = [];
  let size = 0;
  let err = '';
  const tooMuch = new AbortController();
  child.stdout.on('data', (part: Uint8Array) => {
    size += part.length;
    if (size <= MAX_OUTPUT_BYTES) out.push(part);
    else tooMuch.abort(new SystemError(`${command}: gave more than 16 MiB`, 'EFBIG', undefined));
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err = (err + part).slice(-MAX_ERROR_CHARS);
  });
  // It need not read all of it, or any.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const killNow = () => signalGroup(child, 'SIGKILL');
  const done = new AbortController();
  process.on('exit', killNow);
  try {
    const stopped = endedBy(child, [signal, tooMuch.signal], done.signal);
    const code = await Promise.race([ending(child, command), stopped]);
    if (signal.aborted || tooMuch.signal.aborted) return await stopped;
    signalGroup(child, 'SIGTERM');
    return { code, out: Buffer.concat(out), err };
  } finally {
    done.abort();
    process.off('exit', killNow);
  }
}

/** Ends the group of a child when one of the signals aborts, and rejects with its reason once that is done. */
function endedBy(child: ChildProcess, signals: readonly AbortSignal[], done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of signals) {
      const end = () => void endGroup(child).then(() => reject(signal.reason));
      signal.addEventListener('abort', end, { once: true, signal: done });
    }
  });
}

async function endGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM');
  for (let waited = 0; isRunning(child) && waited < GRACE_MS; waited += LOOK_AGAIN_MS) await sleep(LOOK_AGAIN_MS);
  signalGroup(child, 'SIGKILL');
  // What does not end even so (a disk that does not answer) must not hold us.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  child.unref();
}

function isRunning(child: ChildProcess): boolean {
  return signalGroup(child, 0);
}

/** Sends a signal to a child and all that it started; tells whether there was anybody to get it. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(HAS_GROUPS ? -pid : pid, signal);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return errnoOf(error) === 'EPERM';
  }
}

/**
 * Runs a program in place of this one: it has the terminal, and its exit code is ours. No shell is between.
 *
 * Ctrl-C goes to both, and is for the program: it decides whether that ends it. What only we are sent is passed on.
 * @param path - Absolute.
 * @throws SystemError (`SYSTEM`) when it cannot be started.
 */
export async function runInPlace(
  path: string,
  args: readonly string[],
  { cwd, env }: Omit<ProgramSurroundings, 'signal'>,
): Promise<number> {
  const child = spawn(path, args, { cwd, env, stdio: 'inherit', shell: false });
  const stay = () => {};
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  process.on('SIGINT', stay).on('SIGTERM', passOn).on('SIGHUP', passOn);
  try {
    return await ending(child, path);
  } finally {
    process.off('SIGINT', stay).off('SIGTERM', passOn).off('SIGHUP', passOn);
  }
}

/** Gives the exit code of a process, 128 and more when a signal ended it, as a shell tells it. */
function ending(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      const errno = errnoOf(cause) ?? 'EIO';
      reject(new SystemError(`${name} cannot be started: ${errno}`, errno, name, { cause }));
    });
    child.once('close', (code, by) => {
      resolve(code ?? 128 + (by === null ? 0 : constants.signals[by]));
    });
  });
}
