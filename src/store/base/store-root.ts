import { dirname, join } from 'node:path';
import { errnoOf, SystemError } from '../../errors.js';
import { isMissing } from '../../fs/durable-file.js';
import { describeKind, type FileKind, type FileSystem } from '../../fs/file-system.js';

/**
 * Gives the folder of a store with every link on the way to it resolved, once: what is made below it is synced through
 * its own name, which must be no link. What of it is not there yet keeps its name.
 * @param root - Absolute.
 * @throws SystemError (`SYSTEM`) when it is no folder, or leads to nowhere: that is no empty store, but a
 *   volume that is not mounted, or a typing error.
 */
export function resolveRoot(fs: FileSystem, root: string): string {
  const real = realPathOf(fs, root);
  if (real === undefined) return join(resolveRoot(fs, dirname(root)), root.slice(dirname(root).length));
  const kind = kindOf(fs, real);
  if (kind !== undefined && kind !== 'directory') throw refused(root, 'ENOTDIR', `is ${describeKind(kind)}`);
  return real;
}

/** Gives a path without links, as far as they can be read; undefined where nothing is. */
function realPathOf(fs: FileSystem, path: string): string | undefined {
  try {
    return fs.realpath(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ELOOP') throw refused(path, code, 'is a symbolic link that leads in a circle');
    if (!isMissing(error)) return path; // whoever reads there says why it cannot be read
    if (fs.lstat(path)?.kind !== 'link') return undefined;
    throw refused(path, 'ENOENT', `is a symbolic link to ${JSON.stringify(fs.readlink(path))}, where nothing is`);
  }
}

function kindOf(fs: FileSystem, path: string): FileKind | undefined {
  try {
    return fs.lstat(path)?.kind;
  } catch {
    return undefined; // as above
  }
}

function refused(path: string, errno: string, reason: string): SystemError {
  return new SystemError(`The store ${JSON.stringify(path)} ${reason}`, errno, path);
}
