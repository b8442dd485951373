import { createHash } from 'node:crypto';
import { ensureFolder, isMissing, removeQuietly, syncFile, syncFileAt, syncFolder } from '../fs/durable-file.js';
import { describeKind, type FileKind, type FileSystem, UnexpectedKindError } from '../fs/file-system.js';
import { writeFully } from '../fs/jsonl.js';
import { type BlobHash, parseBlobHash } from '../model/ids.js';
import type { StoreDeps } from './deps.js';
import { FILE_MODE, FOLDER_MODE, type SessionPaths, TEMP_PREFIX } from './layout.js';

/** What is found where a blob should be. */
export type BlobCheck =
  | { readonly kind: 'intact'; readonly bytes: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'altered' }
  | { readonly kind: 'refused'; readonly found: string };

const CHUNK_BYTES = 256 * 1024;

/**
 * checkpoints/blobs of one session: file contents by hash. Nothing is ever deleted here, also not what an operation that
 * fails has put in: whoever found it there meanwhile counts on it, and wrote nothing.
 */
export class BlobStore {
  readonly #deps: StoreDeps;
  readonly #paths: SessionPaths;

  #isPrepared = false;

  constructor(deps: StoreDeps, paths: SessionPaths) {
    this.#deps = deps;
    this.#paths = paths;
  }

  pathOf(hash: BlobHash): string {
    return `${this.#paths.blobs}/${hash}`;
  }

  /** Makes the folders for blobs, synced. */
  prepare(): void {
    if (this.#isPrepared) return;
    ensureFolder(this.#deps.fs, this.#paths.checkpoints, FOLDER_MODE);
    ensureFolder(this.#deps.fs, this.#paths.blobs, FOLDER_MODE);
    this.#isPrepared = true;
  }

  /** Reads a blob through and tells whether it is what its name says. */
  check(hash: BlobHash): BlobCheck {
    const found = this.#foundForFolder();
    if (found !== undefined) return { kind: 'refused', found: `behind ${describeKind(found)}` };
    return checkContent(this.#deps.fs, this.pathOf(hash), hash);
  }

  /**
   * Stores the content of an open file under its hash, durably, unless an intact blob is there; an altered one is replaced.
   *
   * The file is read once, in pieces, while it is copied: the hash that is given back is of the bytes that are kept.
   * @param limit - Bytes after which to give up; undefined is given then.
   */
  storeFile(
    fd: number,
    limit = Number.POSITIVE_INFINITY,
  ): { readonly hash: BlobHash; readonly bytes: number } | undefined {
    const { fs } = this.#deps;
    this.prepare();
    // Beside the log, where a sweep finds it without reading thousands of blobs.
    const temp = `${this.#paths.folder}/${TEMP_PREFIX}${this.#deps.newId()}`;
    try {
      const stored = copyToNewFile(fs, fd, temp, limit);
      const found = stored === undefined ? undefined : this.check(stored.hash).kind;
      if (stored === undefined) {
        removeQuietly(fs, temp);
        return undefined;
      }
      if (found === 'intact') {
        removeQuietly(fs, temp);
        // Who put it there may not have synced it: Zero writes blobs long before the event that names them.
        syncFileAt(fs, this.pathOf(stored.hash));
      } else {
        fs.rename(temp, this.pathOf(stored.hash));
      }
      syncFolder(fs, this.#paths.blobs);
      return stored;
    } catch (error) {
      removeQuietly(fs, temp);
      throw error;
    }
  }

  /** Gives what stands in place of one of the folders, or undefined: a link there would lead every blob elsewhere. */
  #foundForFolder(): FileKind | undefined {
    for (const path of [this.#paths.checkpoints, this.#paths.blobs]) {
      const found = this.#deps.fs.lstat(path)?.kind;
      if (found !== 'directory') return found;
    }
    return undefined;
  }
}

function copyToNewFile(
  fs: FileSystem,
  from: number,
  path: string,
  limit: number,
): { readonly hash: BlobHash; readonly bytes: number } | undefined {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const to = fs.create(path, FILE_MODE);
  try {
    let bytes = 0;
    for (;;) {
      const count = fs.read(from, chunk, 0, chunk.length, bytes);
      if (count === 0) break;
      bytes += count;
      if (bytes > limit) return undefined;
      const piece = chunk.subarray(0, count);
      hash.update(piece);
      writeFully(fs, to, piece);
    }
    syncFile(fs, to, path);
    return { hash: hash.digest('hex') as BlobHash, bytes };
  } finally {
    fs.close(to);
  }
}

/** Gives the hash of a text as UTF-8. */
export function hashText(text: string): BlobHash {
  return createHash('sha256').update(text, 'utf8').digest('hex') as BlobHash;
}

/** Gives the hash of bytes. */
export function hashBytes(bytes: Uint8Array): BlobHash {
  return createHash('sha256').update(bytes).digest('hex') as BlobHash;
}

/** Gives the hash and size of an open file, read in pieces. */
export function hashOpenFile(fs: FileSystem, fd: number): { readonly hash: BlobHash; readonly bytes: number } {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = 0;
  for (;;) {
    const count = fs.read(fd, chunk, 0, chunk.length, at);
    if (count === 0) break;
    hash.update(chunk.subarray(0, count));
    at += count;
  }
  return { hash: hash.digest('hex') as BlobHash, bytes: at };
}

/** Tells whether the file at a path is regular and has this hash. */
export function checkContent(fs: FileSystem, path: string, expected: BlobHash): BlobCheck {
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
    return parseBlobHash(hash) === expected ? { kind: 'intact', bytes } : { kind: 'altered' };
  } finally {
    fs.close(fd);
  }
}
