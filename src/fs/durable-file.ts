import { DurabilityUnknownError, errnoOf } from '../errors.js';
import { type FileSystem, UnexpectedKindError } from './file-system.js';
import { readFully, writeFully } from './jsonl.js';

/** Makes a file with these bytes and syncs it; what was begun is removed when it fails. The folder is not synced. */
export function createFile(fs: FileSystem, path: string, bytes: Uint8Array, mode: number): void {
  const fd = fs.create(path, mode);
  try {
    writeFully(fs, fd, bytes);
    syncFile(fs, fd, path);
  } catch (error) {
    closeQuietly(fs, fd);
    removeQuietly(fs, path);
    throw error;
  }
  fs.close(fd);
}

/**
 * Replaces a file whole, or leaves the old one: what write-file-atomic does not do safely (atomic-file.ts).
 * @param tempPath - A random name in the same folder.
 */
export function replaceFile(fs: FileSystem, path: string, tempPath: string, bytes: Uint8Array, mode: number): void {
  createFile(fs, tempPath, bytes, mode);
  try {
    fs.rename(tempPath, path);
  } catch (error) {
    removeQuietly(fs, tempPath);
    throw error;
  }
  syncFolderOf(fs, path);
}

/**
 * Appends bytes to what is there, and syncs both. When it fails the file has its old length again.
 * @throws {@link DurabilityUnknownError} when the sync failed: a second fsync would succeed and have written nothing.
 */
export function appendDurably(fs: FileSystem, path: string, bytes: Uint8Array): void {
  const fd = fs.openAppend(path);
  try {
    const before = fs.fstat(fd).size;
    // Whoever wrote or cut before may have been killed before it synced; lost later, that would tear what comes now.
    if (before > 0) syncFile(fs, fd, path);
    try {
      writeFully(fs, fd, bytes);
    } catch (error) {
      fs.truncate(fd, before);
      fs.fsync(fd);
      throw error;
    }
    try {
      fs.fsync(fd);
    } catch (cause) {
      fs.truncate(fd, before);
      throw new DurabilityUnknownError(path, { cause });
    }
  } finally {
    closeQuietly(fs, fd);
  }
}

export function truncateDurably(fs: FileSystem, path: string, length: number): void {
  const fd = fs.openAppend(path);
  try {
    fs.truncate(fd, length);
    syncFile(fs, fd, path);
  } finally {
    closeQuietly(fs, fd);
  }
}

/** The whole content of a regular file, or undefined when there is none. */
export function readWholeFile(fs: FileSystem, path: string): Uint8Array | undefined {
  let fd: number;
  try {
    fd = fs.openRead(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    const { size } = fs.fstat(fd);
    const bytes = new Uint8Array(size);
    return bytes.subarray(0, readFully(fs, fd, bytes, 0, size));
  } finally {
    fs.close(fd);
  }
}

export function syncFile(fs: FileSystem, fd: number, path: string): void {
  try {
    fs.fsync(fd);
  } catch (cause) {
    throw new DurabilityUnknownError(path, { cause });
  }
}

/** Syncs a regular file that somebody else wrote, who may not have. */
export function syncFileAt(fs: FileSystem, path: string): void {
  const fd = fs.openRead(path);
  try {
    syncFile(fs, fd, path);
  } finally {
    fs.close(fd);
  }
}

export function syncFolder(fs: FileSystem, path: string): void {
  const folder = fs.openFolder(path);
  try {
    folder.sync();
  } catch (cause) {
    throw new DurabilityUnknownError(path, { cause });
  } finally {
    folder.close();
  }
}

export function syncFolderOf(fs: FileSystem, path: string): void {
  syncFolder(fs, path.slice(0, path.lastIndexOf('/')) || '/');
}

/**
 * Makes a folder unless it is there, and syncs its entry in any case: whoever made it may have been killed before.
 * @throws {@link UnexpectedKindError} when a link, or anything else that is no folder, stands in its place.
 */
export function ensureFolder(fs: FileSystem, path: string, mode = 0o700): void {
  const found = fs.lstat(path)?.kind;
  if (found === undefined) makeFolder(fs, path, mode);
  else if (found !== 'directory') throw new UnexpectedKindError(path, found);
  syncFolderOf(fs, path);
}

function makeFolder(fs: FileSystem, path: string, mode: number): void {
  try {
    fs.mkdir(path, mode);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && fs.lstat(path)?.kind === 'directory') return;
    throw error;
  }
}

/** Whether an error of the system says that nothing is at the path. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Removes a file that is of no use any more; that it cannot be removed must not hide why. */
export function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlink(path);
  } catch {
    // A sweep takes it later.
  }
}

function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.close(fd);
  } catch {
    // The bytes are synced, or the error on the way says more.
  }
}

/** Removes a folder of ours with all below it; what cannot be removed stays for a sweep. */
export function removeTree(fs: FileSystem, folder: string): void {
  try {
    for (const entry of fs.readdir(folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.kind === 'directory') removeTree(fs, path);
      else removeQuietly(fs, path);
    }
    fs.rmdir(folder);
  } catch {
    // Hidden from everybody, and older than an hour it is swept.
  }
}
