import { derivedFileSystem } from './derived-file-system.js';
import type { FileSystem } from './file-system.js';

/** @param beforeChange - Called before each change, not before a read or a sync; what it throws prevents the change. */
export function watchedFileSystem(fs: FileSystem, beforeChange: () => void): FileSystem {
  const watched =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      beforeChange();
      return call(...args);
    };
  return derivedFileSystem(fs, {
    create: watched(fs.create.bind(fs)),
    write: watched(fs.write.bind(fs)),
    truncate: watched(fs.truncate.bind(fs)),
    fchmod: watched(fs.fchmod.bind(fs)),
    mkdir: watched(fs.mkdir.bind(fs)),
    rename: watched(fs.rename.bind(fs)),
    link: watched(fs.link.bind(fs)),
    symlink: watched(fs.symlink.bind(fs)),
    unlink: watched(fs.unlink.bind(fs)),
    rmdir: watched(fs.rmdir.bind(fs)),
    chown: watched(fs.chown.bind(fs)),
    setModified: watched(fs.setModified.bind(fs)),
  });
}
