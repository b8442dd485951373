import type { FileSystem } from './file-system.js';

/**
 * Gives a file system that calls a function before each change, and not before what only reads or syncs.
 * @param beforeChange - What it throws keeps the change from being made.
 */
export function watchedFileSystem(fs: FileSystem, beforeChange: () => void): FileSystem {
  const watched =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      beforeChange();
      return call(...args);
    };
  return {
    ...fs,
    create: watched(fs.create),
    write: watched(fs.write),
    truncate: watched(fs.truncate),
    fchmod: watched(fs.fchmod),
    mkdir: watched(fs.mkdir),
    rename: watched(fs.rename),
    link: watched(fs.link),
    symlink: watched(fs.symlink),
    unlink: watched(fs.unlink),
    rmdir: watched(fs.rmdir),
    chown: watched(fs.chown),
    setModified: watched(fs.setModified),
  };
}
