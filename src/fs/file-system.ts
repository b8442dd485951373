import * as fs from 'node:fs';
import { platform } from 'node:os';
import { ProcMissingError } from '../errors.js';
import { type WhyFixed, whyFixed } from './fixed-entry.js';
import { type OnRefused, tolerate } from './refused-step.js';

/** What stands at a path, never followed. */
export type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileStat {
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits, with set-uid, set-gid and sticky. */
  readonly mode: number;
  /** Milliseconds since 1970, with fraction. */
  readonly mtimeMs: number;
  readonly dev: bigint;
  readonly ino: bigint;
  /** When it was made, nanoseconds since 1970; 0 where the file system does not tell. */
  readonly birthNs: bigint;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
}

/** Tells one file from all others. 64 bits, so no doubles; an inode number is used again, but with another birth. */
export type FileIdentity = Pick<FileStat, 'dev' | 'ino' | 'birthNs'>;

export function sameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.ino === b.ino && a.dev === b.dev && a.birthNs === b.birthNs;
}

export function identityOf(stat: Pick<fs.BigIntStats, 'dev' | 'ino' | 'birthtimeNs'>): FileIdentity {
  return {
    // Node hands these out as signed; the kernel, and /proc/locks, count without a sign.
    dev: BigInt.asUintN(64, stat.dev),
    ino: BigInt.asUintN(64, stat.ino),
    birthNs: tellsBirth() ? stat.birthtimeNs : 0n,
  };
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/**
 * The few calls that the store needs of a file system.
 *
 * They are synchronous: for many small files that is several times faster than promises, and a crash test can stop
 * between any two. No call but {@link stat} follows a link in the last component. Errors are the system's, with `code`.
 */
export interface FileSystem {
  lstat(path: string): FileStat | undefined;
  /** Follows links. */
  stat(path: string): FileStat | undefined;
  readlink(path: string): string;
  /** Whether entries of a folder may be made and removed. */
  mayChange(path: string): boolean;
  /** Why an entry of a folder that may be changed can be neither replaced nor removed, or undefined. */
  whyFixed(path: string): WhyFixed | undefined;
  /** Entries by name, in byte order. */
  readdir(path: string): readonly FolderEntry[];
  realpath(path: string): string;

  /** Opens a regular file for reading; a link, a folder or a special file is refused at once, never waited for. */
  openRead(path: string): number;
  /** Opens an existing regular file for appending. */
  openAppend(path: string): number;
  /** Makes a file that must not exist, with exactly this mode, whatever the umask. */
  create(path: string, mode: number): number;
  /** Opens a folder, so that what is done below it stays below it whatever is renamed meanwhile. */
  openFolder(path: string): FolderHandle;
  fstat(fd: number): FileStat;
  read(fd: number, into: Uint8Array, offset: number, length: number, position: number): number;
  /** May write less than asked: the result is the count. */
  write(fd: number, bytes: Uint8Array, offset: number, length: number): number;
  truncate(fd: number, length: number): void;
  fsync(fd: number): void;
  fchmod(fd: number, mode: number): void;
  close(fd: number): void;

  /** Makes a folder that must not exist, with exactly this mode. */
  mkdir(path: string, mode: number): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  symlink(target: string, path: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Changes the owner of a file, folder or link; a link is not followed. */
  chown(path: string, uid: number, gid: number): void;
  /** Sets the time of the last change, milliseconds since 1970; a link is not followed. */
  setModified(path: string, mtimeMs: number): void;
}

/** An open folder; `path` leads to it while it is open, and throws a ProcMissingError on a Linux without /proc. */
export interface FolderHandle {
  readonly path: string;
  sync(): void;
  close(): void;
}

/** A file that is not what it has to be. The store turns it into an error of its own. */
export class UnexpectedKindError extends Error {
  readonly code = 'EKIND';
  readonly path: string;
  readonly found: FileKind;
  constructor(path: string, found: FileKind) {
    super(`${path} is ${describeKind(found)}`);
    this.path = path;
    this.found = found;
  }
}

export function describeKind(kind: FileKind): string {
  return KIND_WORDS[kind];
}

const KIND_WORDS: Readonly<Record<FileKind, string>> = {
  file: 'a regular file',
  directory: 'a folder',
  link: 'a symbolic link',
  other: 'a special file',
};

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = fs.constants;

/** @param onRefused - Told when a mode cannot be given to something new, which then has that of its mount. */
export function nodeFileSystemWith(onRefused: OnRefused): FileSystem {
  return {
    lstat: (path) => statOf(() => fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })),
    stat: (path) => statOf(() => fs.statSync(path, { bigint: true, throwIfNoEntry: false })),
    readlink: (path) => fs.readlinkSync(path),
    readdir: (path) => {
      const entries = fs.readdirSync(path, { withFileTypes: true });
      const named = entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
      return named.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    realpath: (path) => fs.realpathSync(path),
    mayChange: (path) => {
      try {
        fs.accessSync(path, fs.constants.W_OK | fs.constants.X_OK);
        return true;
      } catch {
        return false;
      }
    },
    whyFixed,
    openRead: (path) => openRegular(path, O_RDONLY),
    openAppend: (path) => openRegular(path, O_WRONLY | O_APPEND),
    create: (path, mode) => {
      const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
      try {
        tolerate('chmod', onRefused, () => fs.fchmodSync(fd, mode));
      } catch (error) {
        fs.closeSync(fd);
        fs.unlinkSync(path);
        throw error;
      }
      return fd;
    },
    openFolder,
    fstat: (fd) => toFileStat(fs.fstatSync(fd, { bigint: true })),
    read: (fd, into, offset, length, position) => fs.readSync(fd, into, offset, length, position),
    write: (fd, bytes, offset, length) => fs.writeSync(fd, bytes, offset, length),
    truncate: (fd, length) => fs.ftruncateSync(fd, length),
    fsync: (fd) => fs.fsyncSync(fd),
    fchmod: (fd, mode) => fs.fchmodSync(fd, mode),
    close: (fd) => fs.closeSync(fd),
    mkdir: (path, mode) => {
      // With what its owner needs to open it, whatever mode it is to have.
      fs.mkdirSync(path, { mode: mode | 0o700 });
      if (platform() === 'win32') return;
      // The umask takes bits off. By a descriptor that refuses links: a link put there must not pass the mode on.
      const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      try {
        tolerate('chmod', onRefused, () => fs.fchmodSync(fd, mode));
      } finally {
        fs.closeSync(fd);
      }
    },
    rename: (from, to) => fs.renameSync(from, to),
    link: (from, to) => fs.linkSync(from, to),
    symlink: (target, path) => fs.symlinkSync(target, path),
    unlink: (path) => fs.unlinkSync(path),
    rmdir: (path) => fs.rmdirSync(path),
    chown: (path, uid, gid) => fs.lchownSync(path, uid, gid),
    setModified: (path, mtimeMs) => fs.lutimesSync(path, mtimeMs / 1000, mtimeMs / 1000),
  };
}

/** For callers that need not be told of what the machine refuses. */
export const nodeFileSystem: FileSystem = nodeFileSystemWith(() => {});

function openFolder(path: string): FolderHandle {
  const fd = fs.openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return {
    // Through the descriptor a path cannot be led elsewhere by a rename or a link that somebody puts in its way.
    get path() {
      return platform() === 'linux' ? pathOfDescriptor(fd) : path;
    },
    sync: () => fs.fsyncSync(fd),
    close: () => fs.closeSync(fd),
  };
}

let isProcThere = false;

// Without /proc nothing is found below such a path, and nothing would look like a file that is not there.
function pathOfDescriptor(fd: number): string {
  const path = `/proc/self/fd/${fd}`;
  isProcThere ||= sameFile(nodeFileSystem.stat(path), nodeFileSystem.fstat(fd));
  if (!isProcThere) throw new ProcMissingError();
  return path;
}

// Non-blocking, so that a pipe cannot hold us; the kind is judged on what was opened, not on what was there before.
function openRegular(path: string, flags: number): number {
  let fd: number;
  try {
    fd = fs.openSync(path, flags | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const found = kindInTheWay(path, error);
    throw found === undefined ? error : new UnexpectedKindError(path, found);
  }
  const found = kindOf(fs.fstatSync(fd));
  if (found === 'file') return fd;
  fs.closeSync(fd);
  throw new UnexpectedKindError(path, found);
}

function kindInTheWay(path: string, error: unknown): FileKind | undefined {
  const code = (error as NodeJS.ErrnoException).code;
  if (code !== 'ELOOP' && code !== 'EISDIR' && code !== 'ENXIO' && code !== 'EMLINK') return undefined;
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  const kind = stat === undefined ? undefined : kindOf(stat);
  return kind === 'file' ? undefined : kind;
}

function statOf(call: () => fs.BigIntStats | undefined): FileStat | undefined {
  try {
    const stat = call();
    return stat === undefined ? undefined : toFileStat(stat);
  } catch (error) {
    // A file where a folder is needed: nothing is at that path.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function toFileStat(stat: fs.BigIntStats): FileStat {
  return {
    kind: kindOf(stat),
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o7777,
    mtimeMs: millisecondsOf(stat.mtimeNs),
    ...identityOf(stat),
    nlink: Number(stat.nlink),
    uid: Number(stat.uid),
    gid: Number(stat.gid),
  };
}

// As Node itself does it for stats that are not bigint: the fraction stays as exact as a double can hold it.
function millisecondsOf(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000_000n) * 1000 + Number(nanoseconds % 1_000_000_000n) / 1_000_000;
}

let birthIsTold: boolean | undefined;

// Where Linux refuses statx, Node gives the time of the last change, which every append moves. A file of /proc has no
// birth: one that seems to have shows it.
function tellsBirth(): boolean {
  if (birthIsTold !== undefined) return birthIsTold;
  const proc = fs.lstatSync('/proc/version', { bigint: true, throwIfNoEntry: false });
  birthIsTold = platform() !== 'linux' || proc === undefined || proc.birthtimeNs === 0n;
  return birthIsTold;
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): FileKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
