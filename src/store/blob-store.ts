import { createHash } from 'node:crypto';
import { createFile, ensureFolder, isMissing, removeQuietly, syncFolder } from '../fs/durable-file.js';
import { describeKind, type FileSystem, UnexpectedKindError } from '../fs/file-system.js';
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

/** checkpoints/blobs of one session: file contents by hash. Nothing is ever deleted here. */
export class BlobStore {
  readonly #deps: StoreDeps;
  readonly #paths: SessionPaths;

  constructor(deps: StoreDeps, paths: SessionPaths) {
    this.#deps = deps;
    this.#paths = paths;
  }

  pathOf(hash: BlobHash): string {
    return `${this.#paths.blobs}/${hash}`;
  }

  /** Makes the folders for blobs, synced. */
  prepare(): void {
    ensureFolder(this.#deps.fs, this.#paths.checkpoints, FOLDER_MODE);
    ensureFolder(this.#deps.fs, this.#paths.blobs, FOLDER_MODE);
  }

  /** Reads a blob through and tells whether it is what its name says. */
  check(hash: BlobHash): BlobCheck {
    return checkContent(this.#deps.fs, this.pathOf(hash), hash);
  }

  /**
   * Stores content under its hash, durably, unless an intact blob is there; one that was altered is replaced.
   * @param content - Read once; the hash that is given back is of these bytes.
   */
  store(content: Uint8Array): BlobHash {
    const hash = hashOf(content);
    this.prepare();
    const present = this.check(hash);
    if (present.kind === 'intact') return hash;
    if (present.kind === 'refused') throw new UnexpectedKindError(this.pathOf(hash), 'other');
    const { fs } = this.#deps;
    const temp = `${this.#paths.blobs}/${TEMP_PREFIX}${this.#deps.newId()}`;
    createFile(fs, temp, content, FILE_MODE);
    try {
      fs.rename(temp, this.pathOf(hash));
    } catch (error) {
      removeQuietly(fs, temp);
      throw error;
    }
    syncFolder(fs, this.#paths.blobs);
    return hash;
  }
}

/** Gives the hash of bytes. */
export function hashOf(content: Uint8Array): BlobHash {
  return createHash('sha256').update(content).digest('hex') as BlobHash;
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
