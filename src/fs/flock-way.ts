import { randomInt } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { access, constants, lstat, open } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf, PathRefusedError } from '../errors.js';

/** One way to take flock(2) on a file from Node, which has no call for it. */
export interface FlockWay {
  readonly how: 'flock-command' | 'perl' | 'o_exlock';
  /**
   * Opens the file, which is created when missing, and takes flock(LOCK_EX) on it.
   *
   * @param until - Waits for the lock until this is aborted; without it, tries once.
   * @returns the open file, locked until it is closed; undefined when somebody else has the lock.
   * @throws {@link FlockWayError} when it cannot be done this way here; a system error when the file cannot be opened.
   */
  openLocked(path: string, until?: AbortSignal): Promise<FileHandle | undefined>;
}

/** A way to take flock does not work on this system or for this file. */
export class FlockWayError extends Error {
  override readonly name = 'FlockWayError';
}

/** Finds the ways to take flock on this platform, the best first; none on Windows. */
export async function findFlockWays(system: NodeJS.Platform = platform()): Promise<readonly FlockWay[]> {
  if (system === 'darwin' || system === 'freebsd' || system === 'openbsd') return [openExclusively];
  if (system !== 'linux' && system !== 'android') return [];
  const [flock, perl] = await Promise.all([findCommand('flock'), findCommand('perl')]);
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

async function findCommand(name: string): Promise<string | undefined> {
  for (const folder of SYSTEM_FOLDERS) {
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

/** A single try takes milliseconds; one that takes this long, milliseconds, is given up as if the lock were held. */
const ONE_TRY_MS = 5_000;

/** How long to wait for word of a child that was killed, milliseconds. */
const MISSED_END_MS = 1_000;

/**
 * flock belongs to the open file, not to the process: a command that inherits our descriptor locks it for us and ends,
 * and the lock stays until we close the file or die.
 * @see PERFORMANCE.md, 5
 */
function throughCommand(
  how: FlockWay['how'],
  command: string,
  args: { readonly once: readonly string[]; readonly waiting: readonly string[] },
): FlockWay {
  return {
    how,
    async openLocked(path, until) {
      const file = await openLockFile(path);
      try {
        const limit = until ?? AbortSignal.timeout(ONE_TRY_MS);
        const end = await runOn(file, command, until === undefined ? args.once : args.waiting, limit);
        if (end.code === 0) return file;
        // Exit 1 with a message is how busybox reports everything else.
        const isHeld = end.code === 1 && end.message === '' && until === undefined;
        // A terminal sends Ctrl-C to the command as well.
        const wasCutShort = limit.aborted || end.signal === 'SIGINT';
        if (!isHeld && !wasCutShort) throw new FlockWayError(`${command}: ${end.message || (end.signal ?? end.code)}`);
      } catch (error) {
        await file.close();
        throw error;
      }
      await file.close();
      return undefined;
    },
  };
}

interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it wrote to stderr, trimmed. */
  readonly message: string;
}

async function runOn(
  file: FileHandle,
  command: string,
  args: readonly string[],
  until: AbortSignal,
): Promise<CommandEnd> {
  // Loaded here because readers take no lock, and it is one of the slow modules to load.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    if (until.aborted) return resolve({ code: null, signal: null, message: '' });
    const child = spawn(command, args, { cwd: '/', env: {}, stdio: ['ignore', 'ignore', 'pipe', file.fd] });
    let message = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      message = (message + text).slice(0, 500);
    });
    let giveUp: NodeJS.Timeout | undefined;
    const stopWaiting = () => {
      child.kill('SIGKILL');
      // Should word of its end never come, nobody may wait for it for ever.
      giveUp = setTimeout(() => resolve({ code: null, signal: 'SIGKILL', message: '' }), MISSED_END_MS);
    };
    until.addEventListener('abort', stopWaiting, { once: true });
    child.on('error', (cause) => {
      until.removeEventListener('abort', stopWaiting);
      reject(isMissing(cause) ? new FlockWayError(`${command}: ${cause.message}`, { cause }) : cause);
    });
    child.on('close', (code, signal) => {
      clearTimeout(giveUp);
      until.removeEventListener('abort', stopWaiting);
      resolve({ code, signal, message: message.trim() });
    });
  });
}

// Too many processes or open files (EAGAIN, EMFILE) is no reason to think that there is no flock.
function isMissing(cause: Error): boolean {
  return ['ENOENT', 'EACCES', 'EPERM', 'ENOEXEC'].includes(errnoOf(cause) ?? '');
}

/** The BSDs and macOS take flock while they open a file. Written from their documentation: not tried on a machine. */
const O_EXLOCK = 0x20;

const openExclusively: FlockWay = {
  how: 'o_exlock',
  async openLocked(path, until) {
    for (;;) {
      try {
        return await openLockFile(path, O_EXLOCK);
      } catch (error) {
        if (errnoOf(error) !== 'EAGAIN')
          throw isUnsupported(error) ? new FlockWayError('O_EXLOCK', { cause: error }) : error;
      }
      if (until === undefined || until.aborted) return undefined;
      // Short and uneven: a longer pause loses against a holder that comes back at once (RELIABILITY.md, 3.1).
      await sleep(randomInt(2, 6));
    }
  },
};

function isUnsupported(error: unknown): boolean {
  return ['ENOTSUP', 'EOPNOTSUPP', 'ENOLCK'].includes(errnoOf(error) ?? '');
}

async function openLockFile(path: string, moreFlags = 0): Promise<FileHandle> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;
  const flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | moreFlags;
  for (;;) {
    try {
      await refuseSpecialFile(path);
      const file = await open(path, flags);
      return await onlyRegular(file, path);
    } catch (error) {
      if (errnoOf(error) === 'ELOOP') continue; // a link by now: refused at the next turn
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
    try {
      const file = await open(path, flags | O_CREAT | O_EXCL, 0o600);
      await file.chmod(0o600); // whatever the umask took away
      return file;
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error; // else made by somebody else meanwhile
    }
  }
}

async function refuseSpecialFile(path: string): Promise<void> {
  const found = await lstat(path);
  if (!found.isFile()) throw new PathRefusedError(path, kindOf(found));
}

// Looked at again once open, since it can have been exchanged in between; O_NONBLOCK keeps a pipe from stopping us.
async function onlyRegular(file: FileHandle, path: string): Promise<FileHandle> {
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  throw new PathRefusedError(path, kindOf(found));
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) return 'a symbolic link';
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a named pipe';
  return 'not a regular file';
}
