import { createHash } from 'node:crypto';
import { ensureFolder, isMissing, removeQuietly, syncFile, syncFileAt, syncFolder } from '../../fs/durable-file.js';
import { describeKind, type FileKind, type FileSystem, sameFile, UnexpectedKindError } from '../../fs/file-system.js';
import { writeFully } from '../../fs/jsonl.js';
import { copyFile, linkFile } from '../../fs/link-file.js';
import { readChunks } from '../../fs/read-chunks.js';
import type { FileState } from '../../model/event.js';
import { type BlobHash, parseBlobHash } from '../../model/ids.js';
import type { StoreDeps } from '../base/deps.js';
import { BLOBS_DIR, FILE_MODE, FOLDER_MODE, newTempPath, type SessionPaths } from '../base/layout.js';

/** What was read of a file. */
interface Hashed {
  readonly hash: BlobHash;
  readonly bytes: number;
}

/** What is found where a blob should be. */
type BlobCheck =
  /** `path` is where: the kept copy where that of the store is not what its name says. */
  | { readonly kind: 'intact'; readonly bytes: number; readonly path: string }
  | { readonly kind: 'missing' }
  | { readonly kind: 'altered' }
  | { readonly kind: 'refused'; readonly found: string };

/**
 * The blobs of one session: file contents by hash, in checkpoints/blobs, and kept copies of them in `.zs/`, which no
 * prune of Zero's reaches (FORMAT.md, 5 and 6). Nothing is ever deleted here, also not what an operation that fails has
 * put in: whoever found it there meanwhile counts on it, and wrote nothing.
 */
export class BlobStore {
  readonly #deps: StoreDeps;
  readonly #paths: SessionPaths;
  #isPrepared = false;

  constructor(deps: StoreDeps, paths: SessionPaths) {
    this.#deps = deps;
    this.#paths = paths;
  }

  /** Makes the folders for blobs, synced. */
  prepare(): void {
    if (this.#isPrepared) return;
    ensureFolder(this.#deps.fs, this.#paths.checkpoints, FOLDER_MODE);
    ensureFolder(this.#deps.fs, this.#paths.blobs, FOLDER_MODE);
    this.#isPrepared = true;
  }

  /** Looks for a whole copy of a blob, reading it through; without one it tells what the store has in its place. */
  check(hash: BlobHash): BlobCheck {
    const own = this.#checkOwn(hash);
    if (own.kind === 'intact' || own.kind === 'refused') return own;
    for (const path of this.#keptPlaces(hash)) {
      const kept = checkContent(this.#deps.fs, path, hash);
      if (kept.kind === 'intact') return kept;
    }
    return own;
  }

  /** Where a blob may be, the store's own first; for those who verify what they read. */
  *places(hash: BlobHash): Generator<string> {
    const own = this.#pathOf(hash);
    if (this.#foundForFolder() === undefined && this.#isFile(own)) yield own;
    for (const path of this.#keptPlaces(hash)) if (this.#isFile(path)) yield path;
  }

  /**
   * Gives blobs a second name in `.zs/blobs`, durably, so that no prune of Zero's takes them away.
   * @param stays - Whether the log to come still names a blob: without hard links no copy is made of such a one.
   * @returns Those of which there is no whole copy, and which are not kept.
   */
  keep(hashes: Iterable<BlobHash>, stays: (hash: BlobHash) => boolean): readonly BlobHash[] {
    const { fs } = this.#deps;
    const wanted = new Set(hashes);
    if (wanted.size === 0) return [];
    ensureFolder(fs, this.#paths.keep, FOLDER_MODE);
    ensureFolder(fs, this.#paths.keptBlobs, FOLDER_MODE);
    for (const { name, kind } of fs.readdir(this.#paths.keptBlobs)) {
      if (kind === 'file') wanted.delete(name as BlobHash);
    }
    const lost = [...wanted].filter((hash) => {
      const found = this.check(hash);
      if (found.kind !== 'intact') return true;
      this.#nameAgain(found.path, `${this.#paths.keptBlobs}/${hash}`, !stays(hash));
      return false;
    });
    // Also what was linked by one who was killed before it synced.
    syncFolder(fs, this.#paths.keptBlobs);
    return lost;
  }

  /** Restores kept copies, durably, where the store's own is missing or altered. */
  restore(hashes: Iterable<BlobHash>): void {
    const { fs } = this.#deps;
    let any = false;
    for (const hash of new Set(hashes)) {
      const own = this.#pathOf(hash);
      // A second name of the same file: what befell the one befell the other.
      if (sameFile(fs.lstat(own), fs.lstat(`${this.#paths.keptBlobs}/${hash}`))) continue;
      const found = this.check(hash);
      if (found.kind !== 'intact' || found.path === own) continue;
      this.prepare();
      const temp = newTempPath(this.#deps, this.#paths);
      this.#nameAgain(found.path, temp, true);
      fs.rename(temp, own);
      any = true;
    }
    if (any) syncFolder(fs, this.#paths.blobs);
  }

  /**
   * Stores the content of an open file under its hash, durably; an altered blob is replaced. The file is read once, while
   * it is copied: the hash is of the bytes that are kept. After `limit` bytes it gives up, and gives undefined.
   */
  storeFile(fd: number, limit = Number.POSITIVE_INFINITY): Hashed | undefined {
    const { fs } = this.#deps;
    this.prepare();
    const temp = newTempPath(this.#deps, this.#paths);
    try {
      const stored = copyToNewFile(fs, fd, { path: temp, limit });
      if (stored === undefined) {
        removeQuietly(fs, temp);
        return undefined;
      }
      if (this.#checkOwn(stored.hash).kind === 'intact') {
        removeQuietly(fs, temp);
        // Who put it there may not have synced it: Zero writes blobs long before the event that names them.
        syncFileAt(fs, this.#pathOf(stored.hash));
      } else {
        fs.rename(temp, this.#pathOf(stored.hash));
      }
      syncFolder(fs, this.#paths.blobs);
      return stored;
    } catch (error) {
      removeQuietly(fs, temp);
      throw error;
    }
  }

  #pathOf(hash: BlobHash): string {
    return `${this.#paths.blobs}/${hash}`;
  }

  #checkOwn(hash: BlobHash): BlobCheck {
    const found = this.#foundForFolder();
    if (found !== undefined) return { kind: 'refused', found: `behind ${describeKind(found)}` };
    return checkContent(this.#deps.fs, this.#pathOf(hash), hash);
  }

  /** Where a kept copy may be: records of the first version have a folder for blobs of their own. */
  *#keptPlaces(hash: BlobHash): Generator<string> {
    const { kept, keep, keptBlobs } = this.#paths;
    if (!this.#isFolder(keep)) return;
    if (this.#isFolder(keptBlobs)) yield `${keptBlobs}/${hash}`;
    if (!this.#isFolder(kept)) return;
    for (const { name } of [...this.#deps.fs.readdir(kept)].reverse()) {
      const folder = `${kept}/${name}`;
      const blobs = `${folder}/${BLOBS_DIR}`;
      if (this.#isFolder(folder) && this.#isFolder(blobs)) yield `${blobs}/${hash}`;
    }
  }

  #nameAgain(from: string, to: string, orCopy: boolean): void {
    const temp = () => newTempPath(this.#deps, this.#paths);
    linkOrCopy(this.#deps.fs, from, { to, temp, orCopy });
  }

  #isFolder(path: string): boolean {
    return this.#deps.fs.lstat(path)?.kind === 'directory';
  }

  #isFile(path: string): boolean {
    return this.#deps.fs.lstat(path)?.kind === 'file';
  }

  /** What stands in place of one of the folders, or undefined: a link there would lead every blob elsewhere. */
  #foundForFolder(): FileKind | undefined {
    for (const path of [this.#paths.checkpoints, this.#paths.blobs]) {
      const found = this.#deps.fs.lstat(path)?.kind;
      if (found !== 'directory') return found;
    }
    return undefined;
  }
}

/** Gives a file a second name, or, if that is wanted, the name to a copy; under another name until that is whole. */
export function linkOrCopy(
  fs: FileSystem,
  from: string,
  { to, temp, orCopy = true }: { readonly to: string; readonly temp: () => string; readonly orCopy?: boolean },
): void {
  if (linkFile(fs, from, to) || !orCopy) return;
  const copy = temp();
  copyFile(fs, from, copy, FILE_MODE);
  fs.rename(copy, to);
}

function copyToNewFile(
  fs: FileSystem,
  from: number,
  { path, limit }: { readonly path: string; readonly limit: number },
): Hashed | undefined {
  const hash = createHash('sha256');
  const to = fs.create(path, FILE_MODE);
  try {
    let bytes = 0;
    for (const chunk of readChunks(fs, from)) {
      bytes += chunk.length;
      if (bytes > limit) return undefined;
      hash.update(chunk);
      writeFully(fs, to, chunk);
    }
    syncFile(fs, to, path);
    return { hash: hash.digest('hex') as BlobHash, bytes };
  } finally {
    fs.close(to);
  }
}

export function hashText(text: string): BlobHash {
  return createHash('sha256').update(text, 'utf8').digest('hex') as BlobHash;
}

export function hashBytes(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}

/** Reads an open file in pieces. */
export function hashOpenFile(fs: FileSystem, fd: number): Hashed {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const chunk of readChunks(fs, fd)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { hash: hash.digest('hex') as BlobHash, bytes };
}

function checkContent(fs: FileSystem, path: string, expected: BlobHash): BlobCheck {
  let fd: number;
  try {
    fd = fs.openRead(path);
  } catch (error) {
    if (isMissing(error)) return { kind: 'missing' };
    if (error instanceof UnexpectedKindError) return { kind: 'refused', found: describeKind(error.found) };
    throw error;
  }
  try {
    const { hash, bytes } = hashOpenFile(fs, fd);
    return parseBlobHash(hash) === expected ? { kind: 'intact', bytes, path } : { kind: 'altered' };
  } finally {
    fs.close(fd);
  }
}

/** Why the content of a state cannot be had, or undefined. */
export function unavailableReason(blobs: BlobStore, wanted: FileState): string | undefined {
  if (wanted.kind !== 'stored') return undefined;
  const found = wanted.hash === undefined ? undefined : blobs.check(wanted.hash);
  return found?.kind === 'intact' ? undefined : whyUnavailable(wanted, found);
}

export function whyUnavailable(
  { blob, hash }: FileState & { kind: 'stored' },
  found: Exclude<BlobCheck, { kind: 'intact' }> | undefined,
): string {
  if (found === undefined) return `its blob has the name ${JSON.stringify(blob)}, which is no hash`;
  const named = `its blob ${hash?.slice(0, 8)}…`;
  if (found.kind === 'refused') return `${named} is ${found.found}`;
  return found.kind === 'missing' ? `${named} is missing` : `${named} was altered`;
}
