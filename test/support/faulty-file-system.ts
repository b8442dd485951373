import { type FileSystem, type FolderHandle, nodeFileSystem } from '../../src/fs/file-system.js';

/** A call that changes something, or makes a change last. */
export type FaultyCall =
  | 'create'
  | 'write'
  | 'truncate'
  | 'fsync'
  | 'fchmod'
  | 'mkdir'
  | 'rename'
  | 'link'
  | 'symlink'
  | 'unlink'
  | 'rmdir'
  | 'syncFolder';

/** What goes wrong, and when. */
export interface Fault {
  /** The call that fails; any of them when left out. */
  readonly on?: FaultyCall;
  /** Which of these calls fails, from 1. */
  readonly nth: number;
  /** An error of the system; `short` writes half of what it is asked to; `half` does that and fails as a full disk. */
  readonly as: 'EIO' | 'ENOSPC' | 'EACCES' | 'short' | 'half';
  /** Whether every later one of these calls fails, too: a disk that is full, a process that is gone. */
  readonly lasting?: boolean;
}

export interface FaultyFileSystem extends FileSystem {
  /** The changing calls in the order in which they were made, failed ones included, with their path where they have one. */
  readonly calls: readonly string[];
  /** Whether the fault has come up. */
  readonly hit: boolean;
}

/** Gives the real file system with one fault in it. */
export function faultyFileSystem(fault: Fault, inner: FileSystem = nodeFileSystem): FaultyFileSystem {
  const calls: string[] = [];
  let matching = 0;
  let hit = false;

  function comesUp(call: FaultyCall, path: string): boolean {
    calls.push(`${call} ${path}`.trimEnd());
    if (fault.on !== undefined && fault.on !== call) return false;
    matching += 1;
    const failsNow = matching === fault.nth || (fault.lasting === true && matching > fault.nth);
    hit ||= failsNow;
    return failsNow;
  }

  function attempt<T>(call: FaultyCall, path: string, work: () => T): T {
    if (comesUp(call, path))
      throw systemError(fault.as === 'short' || fault.as === 'half' ? 'EIO' : fault.as, call, path);
    return work();
  }

  function write(fd: number, bytes: Uint8Array, offset: number, length: number): number {
    if (!comesUp('write', '')) return inner.write(fd, bytes, offset, length);
    if (fault.as !== 'short' && fault.as !== 'half') throw systemError(fault.as, 'write', '');
    const written = inner.write(fd, bytes, offset, Math.max(1, Math.floor(length / 2)));
    if (fault.as === 'half') throw systemError('ENOSPC', 'write', '');
    return written;
  }

  function openFolder(path: string): FolderHandle {
    const folder = inner.openFolder(path);
    return { ...folder, path: folder.path, sync: () => attempt('syncFolder', path, () => folder.sync()) };
  }

  return {
    ...inner,
    get calls() {
      return calls;
    },
    get hit() {
      return hit;
    },
    create: (path, mode) => attempt('create', path, () => inner.create(path, mode)),
    write,
    openFolder,
    truncate: (fd, length) => attempt('truncate', '', () => inner.truncate(fd, length)),
    fsync: (fd) => attempt('fsync', '', () => inner.fsync(fd)),
    fchmod: (fd, mode) => attempt('fchmod', '', () => inner.fchmod(fd, mode)),
    mkdir: (path, mode) => attempt('mkdir', path, () => inner.mkdir(path, mode)),
    rename: (from, to) => attempt('rename', to, () => inner.rename(from, to)),
    link: (from, to) => attempt('link', to, () => inner.link(from, to)),
    symlink: (target, path) => attempt('symlink', path, () => inner.symlink(target, path)),
    unlink: (path) => attempt('unlink', path, () => inner.unlink(path)),
    rmdir: (path) => attempt('rmdir', path, () => inner.rmdir(path)),
  };
}

function systemError(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call}${path === '' ? '' : ` '${path}'`}`), { code, syscall: call, path });
}
