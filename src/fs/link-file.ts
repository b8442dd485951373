import { errnoOf } from '../errors.js';
import { createFile, syncFile } from './durable-file.js';
import type { FileSystem } from './file-system.js';
import { writeFully } from './jsonl.js';
import { readChunks } from './read-chunks.js';

// What a file system says that has no hard links, or no more of them for this file.
const NO_LINKS = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']);

/** A second name that is there already is left alone. The folder is not synced. False without hard links. */
export function linkFile(fs: FileSystem, from: string, to: string): boolean {
  try {
    fs.link(from, to);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return true;
    if (code !== undefined && NO_LINKS.has(code)) return false;
    throw error;
  }
}

/** Copies a regular file, synced; a copy that fails leaves nothing. The folder is not synced. */
export function copyFile(fs: FileSystem, from: string, to: string, mode: number): void {
  createFile(fs, to, new Uint8Array(0), mode);
  const source = fs.openRead(from);
  try {
    const target = fs.openAppend(to);
    try {
      for (const chunk of readChunks(fs, source)) writeFully(fs, target, chunk);
      syncFile(fs, target, to);
    } catch (error) {
      fs.unlink(to);
      throw error;
    } finally {
      fs.close(target);
    }
  } finally {
    fs.close(source);
  }
}
