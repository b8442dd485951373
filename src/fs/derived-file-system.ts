import type { FileSystem } from './file-system.js';

// Every call, so that one is not forgotten when another is added.
const CALLS: Readonly<Record<keyof FileSystem, true>> = {
  lstat: true,
  stat: true,
  readlink: true,
  mayChange: true,
  whyFixed: true,
  readdir: true,
  realpath: true,
  openRead: true,
  openAppend: true,
  create: true,
  openFolder: true,
  fstat: true,
  read: true,
  write: true,
  truncate: true,
  fsync: true,
  fchmod: true,
  close: true,
  mkdir: true,
  rename: true,
  link: true,
  symlink: true,
  unlink: true,
  rmdir: true,
  chown: true,
  setModified: true,
};

/** Does some calls in another way, and all others as the file system does them, also one that is a class. */
export function derivedFileSystem(fs: FileSystem, changes: Partial<FileSystem>): FileSystem {
  const calls = Object.keys(CALLS) as (keyof FileSystem)[];
  const same = Object.fromEntries(calls.map((name) => [name, (fs[name] as () => unknown).bind(fs)]));
  return { ...(same as unknown as FileSystem), ...changes };
}
