import { ForeignOwnerError } from '../../errors.js';
import { derivedFileSystem } from '../../fs/derived-file-system.js';
import type { FileSystem } from '../../fs/file-system.js';

/** Whose files the store's are, and how they stay theirs. */
interface StoreOwnership {
  /** The file system to write through: under `asOwner` it gives what it makes to the owner of the store. */
  readonly fs: FileSystem;
  readonly assertOwner: () => void;
  /** Gives a file that somebody else's code made to the owner of the store. */
  readonly own: (path: string) => void;
}

/**
 * Keeps a store its owner's. A file that root leaves behind with mode 0600 locks its owner out of the session.
 * @param by - `uid`: the user id of this process; unknown (Windows, a library that does not care) checks nothing.
 * @see RELIABILITY.md, 4 and test 55
 */
export function storeOwnership(
  fs: FileSystem,
  root: string,
  { uid, asOwner = false }: { readonly uid?: number | undefined; readonly asOwner?: boolean | undefined },
): StoreOwnership {
  if (uid === undefined) return { fs, assertOwner: () => {}, own: () => {} };
  const foreign = (): { uid: number; gid: number } | undefined => {
    const stat = fs.stat(root);
    return stat === undefined || stat.uid === uid ? undefined : stat;
  };
  if (!asOwner) {
    return {
      fs,
      own: () => {},
      assertOwner: () => {
        const owner = foreign();
        if (owner !== undefined) throw new ForeignOwnerError(root, owner.uid);
      },
    };
  }
  const own = (path: string): void => {
    const owner = foreign();
    const stat = owner === undefined ? undefined : fs.lstat(path);
    if (owner !== undefined && stat !== undefined && stat.uid !== owner.uid) fs.chown(path, owner.uid, owner.gid);
  };
  return { fs: owningFileSystem(fs, own), assertOwner: () => {}, own };
}

function owningFileSystem(fs: FileSystem, own: (path: string) => void): FileSystem {
  return derivedFileSystem(fs, {
    create: (path, mode) => {
      const fd = fs.create(path, mode);
      own(path);
      return fd;
    },
    mkdir: (path, mode) => {
      fs.mkdir(path, mode);
      own(path);
    },
    symlink: (target, path) => {
      fs.symlink(target, path);
      own(path);
    },
  });
}
