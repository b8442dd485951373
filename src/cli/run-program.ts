import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import process from 'node:process';
import { errnoOf, SystemError } from '../errors.js';

/** What another program said and how it ended. */
export interface ProgramResult {
  readonly code: number;
  readonly out: Uint8Array;
  readonly err: string;
}

/** What a program is run with. */
export interface ProgramSurroundings {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_ERROR_CHARS = 64 * 1024;

/**
 * Runs a command line of the user's own in the system's shell, with a text on its stdin.
 * @throws SystemError (`SYSTEM`) when it cannot be started, or says more than anybody could want.
 * @throws the reason of the signal when that aborts; the shell is ended first.
 */
export async function runInShell(
  command: string,
  input: string,
  { cwd, env, signal }: ProgramSurroundings,
): Promise<ProgramResult> {
  const child = spawn(command, { shell: true, cwd, env, stdio: ['pipe', 'pipe', 'pipe'], signal });
  const out: Uint8Array[] = [];
  let size = 0;
  let err = '';
  child.stdout.on('data', (part: Uint8Array) => {
    size += part.length;
    if (size > MAX_OUTPUT_BYTES) child.kill();
    else out.push(part);
  });
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    err = (err + part).slice(-MAX_ERROR_CHARS);
  });
  // It need not read all of it, or any.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const code = await ending(child, command, signal);
  if (size > MAX_OUTPUT_BYTES) throw new SystemError(`${command}: gave more than 16 MiB`, 'EFBIG', undefined);
  return { code, out: Buffer.concat(out), err };
}

/**
 * Runs a program in place of this one: it has the terminal, and its exit code is ours. No shell is between.
 * @param path - Absolute.
 * @throws SystemError (`SYSTEM`) when it cannot be started.
 */
export async function runInPlace(
  path: string,
  args: readonly string[],
  { cwd, env }: Omit<ProgramSurroundings, 'signal'>,
): Promise<number> {
  // Ctrl-C goes to both, and is for the program: it decides whether that ends it.
  const stay = () => {};
  process.on('SIGINT', stay);
  try {
    return await ending(spawn(path, args, { cwd, env, stdio: 'inherit', shell: false }), path);
  } finally {
    process.off('SIGINT', stay);
  }
}

/** Gives the exit code of a process, 128 and more when a signal ended it, as a shell tells it. */
function ending(child: ChildProcess, name: string, signal?: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      // What it started may hold the pipes for longer: nobody waits for that.
      if (signal?.aborted === true) return reject(signal.reason);
      const errno = errnoOf(cause) ?? 'EIO';
      reject(new SystemError(`${name} cannot be started: ${errno}`, errno, name, { cause }));
    });
    child.once('close', (code, by) => {
      resolve(code ?? 128 + (by === null ? 0 : constants.signals[by]));
    });
  });
}
