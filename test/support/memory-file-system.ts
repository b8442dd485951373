import { posix } from 'node:path';
import type { FileKind, FileStat, FileSystem, FolderEntry, FolderHandle } from '../../src/fs/file-system.js';
import { UnexpectedKindError } from '../../src/fs/file-system.js';

/** What an inode is. Never changed in place, so that trees can share it. */
export type Inode = FileInode | FolderInode | LinkInode;

interface Owned {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
}
export interface FileInode extends Owned {
  readonly kind: 'file';
  readonly data: Uint8Array;
}
export interface FolderInode extends Owned {
  readonly kind: 'directory';
  readonly entries: ReadonlyMap<string, number>;
}
export interface LinkInode extends Owned {
  readonly kind: 'link';
  readonly target: string;
}

/** Every inode by number, those that no name leads to included. */
export type Tree = ReadonlyMap<number, Inode>;

/** Inode numbers are what some file systems really have: as doubles, all of them would be equal. */
const FIRST_INODE_NUMBER = 2n ** 63n;

/** The inode of `/`. */
export const ROOT_INODE = 1;

/** One thing that a call did to the disk; a rename is one. `sync` makes what came before it last. */
export type Effect =
  | {
      readonly kind: 'make';
      readonly folder: number;
      readonly name: string;
      readonly inode: number;
      readonly as: Inode;
      readonly at: number;
    }
  | {
      readonly kind: 'link';
      readonly folder: number;
      readonly name: string;
      readonly inode: number;
      readonly at: number;
    }
  | {
      readonly kind: 'remove';
      readonly folder: number;
      readonly name: string;
      readonly inode: number;
      readonly at: number;
    }
  | {
      readonly kind: 'rename';
      readonly folder: number;
      readonly name: string;
      readonly toFolder: number;
      readonly toName: string;
      readonly inode: number;
      readonly at: number;
    }
  | {
      readonly kind: 'write';
      readonly inode: number;
      readonly offset: number;
      readonly bytes: Uint8Array;
      readonly at: number;
    }
  | { readonly kind: 'truncate'; readonly inode: number; readonly length: number; readonly at: number }
  | { readonly kind: 'mode'; readonly inode: number; readonly mode: number }
  | { readonly kind: 'owner'; readonly inode: number; readonly uid: number; readonly gid: number }
  | { readonly kind: 'modified'; readonly inode: number; readonly at: number }
  | { readonly kind: 'sync'; readonly inode: number };

export type CallName = Exclude<keyof FileSystem, never> | 'syncFolder';

/** Calls after which something on the disk is different. */
export const MUTATING_CALLS: ReadonlySet<CallName> = new Set<CallName>([
  'create',
  'write',
  'truncate',
  'fchmod',
  'mkdir',
  'rename',
  'link',
  'symlink',
  'unlink',
  'rmdir',
  'chown',
  'setModified',
]);

/** Sees every call before it is made, and every effect after it. */
export interface Watcher {
  /** May throw in place of the call; an error that it gives back lets a write take half of its bytes first. */
  readonly call?: (name: CallName, path: string) => Error | undefined;
  readonly effect?: (effect: Effect) => void;
}

interface OpenFile {
  readonly inode: number;
  readonly path: string;
  readonly use: 'reads' | 'writes' | 'appends';
  /** Where the next write goes, unless it appends. */
  position: number;
}

/** An empty tree: `/` alone. */
export function emptyTree(at: number): Tree {
  return new Map([[ROOT_INODE, { kind: 'directory', mode: 0o755, uid: 0, gid: 0, mtimeMs: at, entries: new Map() }]]);
}

/** Carries one effect into a tree, also when effects before it are missing: names and bytes land where they would. */
export function applyEffect(tree: Map<number, Inode>, effect: Effect): void {
  switch (effect.kind) {
    case 'make':
      if (!tree.has(effect.inode)) tree.set(effect.inode, effect.as);
      setEntry(tree, effect.folder, effect.name, effect.inode, effect.at);
      return;
    case 'link':
      setEntry(tree, effect.folder, effect.name, effect.inode, effect.at);
      return;
    case 'remove':
      removeEntry(tree, effect.folder, effect.name, effect.inode, effect.at);
      return;
    case 'rename':
      removeEntry(tree, effect.folder, effect.name, effect.inode, effect.at);
      setEntry(tree, effect.toFolder, effect.toName, effect.inode, effect.at);
      return;
    case 'write':
      changeFile(tree, effect.inode, ({ data }) => ({
        data: written(data, effect.offset, effect.bytes),
        mtimeMs: effect.at,
      }));
      return;
    case 'truncate':
      changeFile(tree, effect.inode, ({ data }) => ({ data: resized(data, effect.length), mtimeMs: effect.at }));
      return;
    case 'mode':
      change(tree, effect.inode, { mode: effect.mode });
      return;
    case 'owner':
      change(tree, effect.inode, { uid: effect.uid, gid: effect.gid });
      return;
    case 'modified':
      change(tree, effect.inode, { mtimeMs: effect.at });
      return;
    case 'sync':
      return;
    default:
      effect satisfies never;
  }
}

function change(tree: Map<number, Inode>, number: number, changes: Partial<Owned>): void {
  const inode = tree.get(number);
  if (inode !== undefined) tree.set(number, { ...inode, ...changes });
}

function changeFile(tree: Map<number, Inode>, number: number, changed: (file: FileInode) => Partial<FileInode>): void {
  const inode = tree.get(number);
  if (inode?.kind === 'file') tree.set(number, { ...inode, ...changed(inode) });
}

function setEntry(tree: Map<number, Inode>, number: number, name: string, entry: number, at: number): void {
  const folder = tree.get(number);
  if (folder?.kind !== 'directory') return;
  tree.set(number, { ...folder, mtimeMs: at, entries: new Map(folder.entries).set(name, entry) });
}

function removeEntry(tree: Map<number, Inode>, number: number, name: string, entry: number, at: number): void {
  const folder = tree.get(number);
  if (folder?.kind !== 'directory' || folder.entries.get(name) !== entry) return;
  const entries = new Map(folder.entries);
  entries.delete(name);
  tree.set(number, { ...folder, mtimeMs: at, entries });
}

function written(data: Uint8Array, offset: number, bytes: Uint8Array): Uint8Array {
  const result = new Uint8Array(Math.max(data.length, offset + bytes.length));
  result.set(data);
  result.set(bytes, offset);
  return result;
}

function resized(data: Uint8Array, length: number): Uint8Array {
  const result = new Uint8Array(length);
  result.set(data.subarray(0, length));
  return result;
}

/**
 * A file system in memory that does what the real one does for the calls that the store makes, as root would see it:
 * permissions are kept and not enforced. Folder handles are paths that lead to the inode, whatever is renamed.
 */
export class MemoryFileSystem implements FileSystem {
  readonly #tree: Map<number, Inode>;
  readonly #now: () => number;
  readonly #watcher: Watcher;
  readonly #open = new Map<number, OpenFile>();
  #nextFd = 3;
  #nextInode: number;

  constructor(tree: Tree, now: () => number, watcher: Watcher = {}) {
    this.#tree = new Map(tree);
    this.#now = now;
    this.#watcher = watcher;
    this.#nextInode = Math.max(...tree.keys()) + 1;
  }

  /** The tree as it is now; later calls do not change it. */
  snapshot(): Tree {
    return new Map(this.#tree);
  }

  /** Files and folders that were opened and not closed. */
  get openCount(): number {
    return this.#open.size;
  }

  lstat(path: string): FileStat | undefined {
    this.#called('lstat', path);
    return this.#statOf(path, false);
  }

  stat(path: string): FileStat | undefined {
    this.#called('stat', path);
    return this.#statOf(path, true);
  }

  readlink(path: string): string {
    this.#called('readlink', path);
    const inode = this.#existing(path, 'readlink', false);
    const link = this.#inode(inode);
    if (link.kind !== 'link') throw systemError('EINVAL', 'readlink', path);
    return link.target;
  }

  mayChange(path: string): boolean {
    this.#called('mayChange', path);
    const found = this.#find(path, true);
    return typeof found !== 'string' && found.inode !== undefined;
  }

  /** Nothing is mounted, or marked, in memory. */
  whyFixed(): undefined {}

  readdir(path: string): readonly FolderEntry[] {
    this.#called('readdir', path);
    const folder = this.#inode(this.#existing(path, 'scandir', true));
    if (folder.kind !== 'directory') throw systemError('ENOTDIR', 'scandir', path);
    return [...folder.entries]
      .map(([name, inode]) => ({ name, kind: this.#inode(inode).kind as FileKind }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  realpath(path: string): string {
    this.#called('realpath', path);
    // Node takes `..` as text before it looks at anything.
    const found = this.#find(posix.normalize(path), true);
    if (typeof found === 'string') throw systemError(found, 'lstat', path);
    if (found.inode === undefined) throw systemError('ENOENT', 'lstat', path);
    return found.path;
  }

  openRead(path: string): number {
    this.#called('openRead', path);
    return this.#openRegular(path, 'reads');
  }

  openAppend(path: string): number {
    this.#called('openAppend', path);
    return this.#openRegular(path, 'appends');
  }

  create(path: string, mode: number): number {
    this.#called('create', path);
    const inode = this.#make(path, 'open', { kind: 'file', data: new Uint8Array(0), ...this.#owned(mode) });
    return this.#opened(inode, path, 'writes');
  }

  openFolder(path: string): FolderHandle {
    this.#called('openFolder', path);
    const found = this.#find(path, false);
    if (typeof found === 'string') throw systemError(found, 'open', path);
    if (found.inode === undefined) throw systemError('ENOENT', 'open', path);
    const { kind } = this.#inode(found.inode);
    if (kind !== 'directory') throw systemError('ENOTDIR', 'open', path);
    const number = found.inode;
    const fd = this.#opened(number, found.path, 'reads');
    return {
      path: `/proc/self/fd/${fd}`,
      sync: () => {
        this.#called('syncFolder', path);
        this.#effect({ kind: 'sync', inode: number });
      },
      close: () => {
        this.#called('close', path);
        this.#open.delete(fd);
      },
    };
  }

  fstat(fd: number): FileStat {
    const { inode, path } = this.#file(fd, 'fstat');
    this.#called('fstat', path);
    return this.#toStat(inode);
  }

  read(fd: number, into: Uint8Array, offset: number, length: number, position: number): number {
    const { inode, path, use } = this.#file(fd, 'read');
    this.#called('read', path);
    if (use !== 'reads') throw systemError('EBADF', 'read', path);
    const { data } = this.#inode(inode) as FileInode;
    const piece = data.subarray(position, position + length);
    into.set(piece, offset);
    return piece.length;
  }

  write(fd: number, bytes: Uint8Array, offset: number, length: number): number {
    const file = this.#file(fd, 'write');
    const { inode, path, use } = file;
    const fails = this.#called('write', path);
    if (use === 'reads') throw systemError('EBADF', 'write', path);
    const taken = fails === undefined ? length : Math.floor(length / 2);
    const at = use === 'appends' ? (this.#inode(inode) as FileInode).data.length : file.position;
    // A Buffer's own slice would share the caller's bytes.
    const piece = new Uint8Array(bytes.subarray(offset, offset + taken));
    if (taken > 0) this.#effect({ kind: 'write', inode, offset: at, bytes: piece, at: this.#now() });
    file.position = at + taken;
    if (fails !== undefined) throw fails;
    return taken;
  }

  truncate(fd: number, length: number): void {
    const { inode, path, use } = this.#file(fd, 'ftruncate');
    this.#called('truncate', path);
    if (use === 'reads') throw systemError('EINVAL', 'ftruncate', path);
    this.#effect({ kind: 'truncate', inode, length, at: this.#now() });
  }

  fsync(fd: number): void {
    const { inode, path } = this.#file(fd, 'fsync');
    this.#called('fsync', path);
    this.#effect({ kind: 'sync', inode });
  }

  fchmod(fd: number, mode: number): void {
    const { inode, path } = this.#file(fd, 'fchmod');
    this.#called('fchmod', path);
    this.#effect({ kind: 'mode', inode, mode: mode & 0o7777 });
  }

  close(fd: number): void {
    const { path } = this.#file(fd, 'close');
    this.#called('close', path);
    this.#open.delete(fd);
  }

  mkdir(path: string, mode: number): void {
    this.#called('mkdir', path);
    this.#make(path, 'mkdir', { kind: 'directory', entries: new Map(), ...this.#owned(mode) });
  }

  symlink(target: string, path: string): void {
    this.#called('symlink', path);
    if (target === '') throw systemError('ENOENT', 'symlink', path);
    this.#make(path, 'symlink', { kind: 'link', target, ...this.#owned(0o777) });
  }

  rename(from: string, to: string): void {
    this.#called('rename', to);
    const source = this.#place(from, 'rename');
    const target = this.#place(to, 'rename');
    if (source.inode === undefined) throw systemError('ENOENT', 'rename', from);
    if (source.inode === target.inode) return;
    this.#checkReplace(source.inode, target, from);
    const { folder, name, inode } = { folder: source.folder, name: source.name, inode: source.inode };
    this.#effect({
      kind: 'rename',
      folder,
      name,
      toFolder: target.folder,
      toName: target.name,
      inode,
      at: this.#now(),
    });
  }

  link(from: string, to: string): void {
    this.#called('link', to);
    const source = this.#existing(from, 'link', false);
    const target = this.#place(to, 'link');
    if (target.inode !== undefined) throw systemError('EEXIST', 'link', to);
    if (this.#inode(source).kind === 'directory') throw systemError('EPERM', 'link', from);
    this.#effect({ kind: 'link', folder: target.folder, name: target.name, inode: source, at: this.#now() });
  }

  unlink(path: string): void {
    this.#called('unlink', path);
    const { folder, name, inode } = this.#place(path, 'unlink');
    if (inode === undefined) throw systemError('ENOENT', 'unlink', path);
    if (this.#inode(inode).kind === 'directory') throw systemError('EISDIR', 'unlink', path);
    this.#effect({ kind: 'remove', folder, name, inode, at: this.#now() });
  }

  rmdir(path: string): void {
    this.#called('rmdir', path);
    const { folder, name, inode } = this.#place(path, 'rmdir');
    if (inode === undefined) throw systemError('ENOENT', 'rmdir', path);
    const found = this.#inode(inode);
    if (found.kind !== 'directory') throw systemError('ENOTDIR', 'rmdir', path);
    if (found.entries.size > 0) throw systemError('ENOTEMPTY', 'rmdir', path);
    this.#effect({ kind: 'remove', folder, name, inode, at: this.#now() });
  }

  chown(path: string, uid: number, gid: number): void {
    this.#called('chown', path);
    this.#effect({ kind: 'owner', inode: this.#existing(path, 'lchown', false), uid, gid });
  }

  setModified(path: string, mtimeMs: number): void {
    this.#called('setModified', path);
    this.#effect({ kind: 'modified', inode: this.#existing(path, 'lutimes', false), at: mtimeMs });
  }

  #called(name: CallName, path: string): Error | undefined {
    return this.#watcher.call?.(name, path);
  }

  #effect(effect: Effect): void {
    applyEffect(this.#tree, effect);
    this.#watcher.effect?.(effect);
  }

  #owned(mode: number): Owned {
    return { mode: mode & 0o7777, uid: 0, gid: 0, mtimeMs: this.#now() };
  }

  #make(path: string, syscall: string, as: Inode): number {
    const { folder, name, inode } = this.#place(path, syscall);
    if (inode !== undefined) throw systemError('EEXIST', syscall, path);
    const number = this.#nextInode;
    this.#nextInode += 1;
    this.#effect({ kind: 'make', folder, name, inode: number, as, at: this.#now() });
    return number;
  }

  #openRegular(path: string, use: OpenFile['use']): number {
    const inode = this.#existing(path, 'open', false);
    const { kind } = this.#inode(inode);
    if (kind !== 'file') throw new UnexpectedKindError(path, kind);
    return this.#opened(inode, path, use);
  }

  #opened(inode: number, path: string, use: OpenFile['use']): number {
    const fd = this.#nextFd;
    this.#nextFd += 1;
    this.#open.set(fd, { inode, path, use, position: 0 });
    return fd;
  }

  #file(fd: number, syscall: string): OpenFile {
    const file = this.#open.get(fd);
    if (file === undefined) throw systemError('EBADF', syscall, '');
    return file;
  }

  #inode(number: number): Inode {
    const inode = this.#tree.get(number);
    if (inode === undefined) throw new Error(`there is no inode ${number}`);
    return inode;
  }

  #statOf(path: string, follows: boolean): FileStat | undefined {
    const found = this.#find(path, follows);
    if (found === 'ENOENT' || found === 'ENOTDIR') return undefined;
    if (typeof found === 'string') throw systemError(found, follows ? 'stat' : 'lstat', path);
    return found.inode === undefined ? undefined : this.#toStat(found.inode);
  }

  #toStat(number: number): FileStat {
    const inode = this.#inode(number);
    const { kind, mode, mtimeMs, uid, gid } = inode;
    const size =
      inode.kind === 'file' ? inode.data.length : inode.kind === 'link' ? Buffer.byteLength(inode.target) : 4096;
    const names = (): number => this.#namesOf(number);
    return {
      kind,
      size,
      mode,
      mtimeMs,
      uid,
      gid,
      dev: 1n,
      ino: FIRST_INODE_NUMBER + BigInt(number),
      // No number is used a second time here.
      birthNs: BigInt(number),
      get nlink() {
        return names();
      },
    };
  }

  #namesOf(number: number): number {
    let names = 0;
    for (const inode of this.#tree.values()) {
      if (inode.kind !== 'directory') continue;
      for (const entry of inode.entries.values()) if (entry === number) names += 1;
    }
    return names;
  }

  #existing(path: string, syscall: string, follows: boolean): number {
    const found = this.#find(path, follows);
    if (typeof found === 'string') throw systemError(found, syscall, path);
    if (found.inode === undefined) throw systemError('ENOENT', syscall, path);
    return found.inode;
  }

  /** Finds the folder and the name that a path ends in; the last component is not followed. */
  #place(path: string, syscall: string): { folder: number; name: string; inode: number | undefined } {
    const found = this.#find(path, false);
    if (typeof found === 'string') throw systemError(found, syscall, path);
    return found;
  }

  #checkReplace(
    source: number,
    target: { readonly folder: number; readonly inode: number | undefined },
    from: string,
  ): void {
    const moved = this.#inode(source);
    if (moved.kind === 'directory' && this.#isInside(target.folder, source))
      throw systemError('EINVAL', 'rename', from);
    if (target.inode === undefined) return;
    const replaced = this.#inode(target.inode);
    if (moved.kind === 'directory') {
      if (replaced.kind !== 'directory') throw systemError('ENOTDIR', 'rename', from);
      if (replaced.entries.size > 0) throw systemError('ENOTEMPTY', 'rename', from);
    } else if (replaced.kind === 'directory') {
      throw systemError('EISDIR', 'rename', from);
    }
  }

  #isInside(folder: number, above: number): boolean {
    if (folder === above) return true;
    const inode = this.#inode(above);
    if (inode.kind !== 'directory') return false;
    return [...inode.entries.values()].some(
      (entry) => this.#inode(entry).kind === 'directory' && this.#isInside(folder, entry),
    );
  }

  /** Walks a path as the kernel does; gives the error's code when it cannot be walked to its last component. */
  #find(
    path: string,
    follows: boolean,
  ): { folder: number; name: string; inode: number | undefined; path: string } | string {
    const start = this.#startOf(path);
    if (start === undefined) return 'ENOENT';
    const names = [...start.names];
    let parts = start.rest;
    let folder = start.folder;
    const above: number[] = [...start.above];
    let name = '.';
    let inode: number | undefined = folder;
    let links = 0;
    while (parts.length > 0) {
      const [part, ...rest] = parts as [string, ...string[]];
      parts = rest;
      if (part === '.' || part === '') continue;
      const here: Inode | undefined = inode === undefined ? undefined : this.#inode(inode);
      if (here === undefined) return 'ENOENT';
      if (here.kind !== 'directory') return 'ENOTDIR';
      folder = inode as number;
      if (part === '..') {
        inode = above.pop() ?? ROOT_INODE;
        names.pop();
        name = '..';
        continue;
      }
      name = part;
      const entry: number | undefined = here.entries.get(part);
      const next: Inode | undefined = entry === undefined ? undefined : this.#inode(entry);
      if (next?.kind === 'link' && (parts.length > 0 || follows)) {
        links += 1;
        if (links > 40) return 'ELOOP';
        parts = [...next.target.split('/'), ...parts];
        if (next.target.startsWith('/')) {
          inode = ROOT_INODE;
          above.length = 0;
          names.length = 0;
        }
        continue;
      }
      above.push(folder);
      names.push(part);
      inode = entry;
    }
    return { folder, name, inode, path: `/${names.join('/')}` };
  }

  #startOf(
    path: string,
  ): { folder: number; above: readonly number[]; names: readonly string[]; rest: string[] } | undefined {
    const opened = /^\/proc\/self\/fd\/(\d+)(?:\/(.*))?$/.exec(path);
    if (opened === null) return { folder: ROOT_INODE, above: [], names: [], rest: path.split('/') };
    const file = this.#open.get(Number(opened[1]));
    if (file === undefined) return undefined;
    return { folder: file.inode, above: [], names: file.path.split('/').slice(1), rest: (opened[2] ?? '').split('/') };
  }
}

/** Gives an error as the system would. */
export function systemError(code: string, syscall: string, path: string): Error {
  const message = `${code}: injected or found, ${syscall}${path === '' ? '' : ` '${path}'`}`;
  return Object.assign(new Error(message), { code, syscall, path });
}
