import { randomInt } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, type FileHandle, lstat, open } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, PathRefusedError } from '../errors.js';
import { settleMode } from '../fs/refused-step.js';

/** One way to take flock(2) on a file from Node, which has no call for it. */
export interface FlockWay {
  readonly how: 'flock-command' | 'perl' | 'o_exlock';
  /**
   * Opens the file, which is created when missing, and tries once to take flock(LOCK_EX) on it.
   * @throws {@link FlockWayError} when it cannot be done this way here.
   */
  tryLock(path: string, until: AbortSignal): Promise<LockTry>;
  /** The same, and waits for somebody else's lock to go until the signal aborts. */
  waitForLock(path: string, until: AbortSignal): Promise<LockTry>;
}

export type LockTry =
  | { readonly kind: 'locked'; readonly file: FileHandle }
  | { readonly kind: 'held' }
  /** It ended before it was known: whether anybody has the lock cannot be told. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** A way to take flock does not work on this system or for this file. */
export class FlockWayError extends Error {
  override readonly name = 'FlockWayError';
}

/** The ways to take flock on this platform, the best first; none on Windows. */
export async function findFlockWays(
  system: NodeJS.Platform = platform(),
  folders: readonly string[] = SYSTEM_FOLDERS,
): Promise<readonly FlockWay[]> {
  if (system === 'darwin' || system === 'freebsd' || system === 'openbsd') return [openExclusively];
  if (system !== 'linux' && system !== 'android') return [];
  const [flock, perl] = await Promise.all([findCommand('flock', folders), findCommand('perl', folders)]);
  const ways: FlockWay[] = [];
  if (flock !== undefined) {
    ways.push(throughCommand('flock-command', flock, { once: ['-x', '-n', '3'], waiting: ['-x', '3'] }));
  }
  if (perl !== undefined) {
    ways.push(throughCommand('perl', perl, { once: ['-e', PERL_FLOCK, '6'], waiting: ['-e', PERL_FLOCK, '2'] }));
  }
  return ways;
}

// Fixed folders and not PATH: that may lead into a workspace, where anybody can have put a program called flock.
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];

async function findCommand(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

// 2 is LOCK_EX, 6 is LOCK_EX | LOCK_NB. Ends as flock(1) does: 1 without a word means that somebody else has it.
const PERL_FLOCK =
  'open(my $file, "+<&=", 3) or die "$!\\n"; flock($file, $ARGV[0]) and exit 0; $!{EWOULDBLOCK} and exit 1; die "$!\\n"';

/** How long to wait for word of a child that was killed, milliseconds: it may hang in a call to a disk that is gone. */
const LAST_WORD_MS = 100;

/** A command that inherits our descriptor locks the file for us and ends; the lock stays until we close it or die. */
function throughCommand(
  how: FlockWay['how'],
  command: string,
  args: { readonly once: readonly string[]; readonly waiting: readonly string[] },
): FlockWay {
  async function run(path: string, args: readonly string[], until: AbortSignal): Promise<LockTry> {
    const file = await openLockFile(path);
    let outcome: LockTry | undefined;
    try {
      outcome = outcomeOf(await runOn(file, command, args, until), command, file);
      return outcome;
    } finally {
      if (outcome?.kind !== 'locked') await file.close();
    }
  }
  return {
    how,
    tryLock: (path, until) => run(path, args.once, until),
    waitForLock: async (path, until) => {
      const outcome = await run(path, args.waiting, until);
      return outcome.kind === 'held' ? { kind: 'unknown', reason: `${command} did not wait` } : outcome;
    },
  };
}

/** Exit 0 is a lock, and nothing else is. */
function outcomeOf(end: CommandEnd | undefined, command: string, file: FileHandle): LockTry {
  if (end === undefined) return { kind: 'unknown', reason: `${command} did not end` };
  const { code, signal, message } = end;
  if (code === 0) return { kind: 'locked', file };
  if (code === 1 && message === '') return { kind: 'held' };
  // With a message it says why it cannot; exit 1 with one is how busybox reports everything.
  if (code !== null && message !== '') throw new FlockWayError(`${command}: ${message}`);
  return { kind: 'unknown', reason: `${command} ended with ${signal ?? `exit code ${code}`}` };
}

interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly message: string;
}

/** Runs a command with a file as its descriptor 3; undefined when it had not ended by itself in time. */
async function runOn(
  file: FileHandle,
  command: string,
  args: readonly string[],
  until: AbortSignal,
): Promise<CommandEnd | undefined> {
  // Loaded here because readers take no lock, and it is one of the slow modules to load.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    if (until.aborted) return resolve(undefined);
    const child = spawn(command, args, { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe', file.fd] });
    let message = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      message = (message + text).slice(0, 500);
    });
    let lastWord: NodeJS.Timeout | undefined;
    const stopWaiting = () => {
      child.kill('SIGKILL');
      lastWord = setTimeout(() => {
        // Let go of: it keeps neither this call nor the process waiting.
        child.stderr?.destroy();
        child.unref();
        resolve(undefined);
      }, LAST_WORD_MS);
    };
    until.addEventListener('abort', stopWaiting, { once: true });
    child.on('error', (cause) => {
      until.removeEventListener('abort', stopWaiting);
      reject(UNUSABLE.has(errnoOf(cause) ?? '') ? new FlockWayError(`${command}: ${cause.message}`, { cause }) : cause);
    });
    child.on('close', (code, signal) => {
      clearTimeout(lastWord);
      until.removeEventListener('abort', stopWaiting);
      resolve(until.aborted && code !== 0 ? undefined : { code, signal, message: message.trim() });
    });
  });
}

// Too many processes or open files (EAGAIN, EMFILE) is no reason to think that there is no flock.
const UNUSABLE: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'EPERM', 'ENOEXEC']);

/** The BSDs and macOS take flock while they open a file. Written from their documentation: not tried on a machine. */
const O_EXLOCK = 0x20;

const openExclusively: FlockWay = {
  how: 'o_exlock',
  async tryLock(path) {
    try {
      return { kind: 'locked', file: await openLockFile(path, O_EXLOCK) };
    } catch (error) {
      if (errnoOf(error) === 'EAGAIN') return { kind: 'held' };
      throw UNSUPPORTED.has(errnoOf(error) ?? '') ? new FlockWayError('O_EXLOCK', { cause: error }) : error;
    }
  },
  async waitForLock(path, until) {
    for (;;) {
      const outcome = await openExclusively.tryLock(path, until);
      if (outcome.kind !== 'held' || until.aborted) return outcome;
      // Short and uneven: a longer pause loses against a holder that comes back at once (RELIABILITY.md, 3.1).
      await sleep(randomInt(2, 6));
    }
  },
};

const UNSUPPORTED: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOLCK']);

async function openLockFile(path: string, moreFlags = 0): Promise<FileHandle> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | moreFlags;
  for (;;) {
    try {
      requireRegular(path, await lstat(path));
      return await onlyRegular(await open(path, flags), path);
    } catch (error) {
      if (errnoOf(error) === 'ELOOP') continue; // a link by now: refused at the next turn
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    try {
      const file = await open(path, flags | O_CREAT | O_EXCL, 0o600);
      await settleMode(() => file.chmod(0o600)); // whatever the umask took away
      return file;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error; // else made by somebody else meanwhile
    }
  }
}

// Looked at again once open, since it can have been exchanged in between; O_NONBLOCK keeps a pipe from stopping us.
async function onlyRegular(file: FileHandle, path: string): Promise<FileHandle> {
  try {
    requireRegular(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function requireRegular(path: string, found: Stats): void {
  if (found.isFile()) return;
  const kind = found.isDirectory() ? 'a folder' : found.isFIFO() ? 'a named pipe' : 'not a regular file';
  throw new PathRefusedError(path, found.isSymbolicLink() ? 'a symbolic link' : kind);
}
