import { lstat, unlink } from 'node:fs/promises';
import { errnoOf } from '../errors.js';

/**
 * Replaces a small file that can be made again: whole, or not at all, and never a reader who sees half of it.
 *
 * Nothing that must last is written here. The package takes a short write for a whole one, never syncs the folder and
 * writes through a link; so what stands at the path and is no regular file is removed first, and the durable writing
 * of the store is in durable-file.ts.
 * @param mode - Permission bits of the file.
 */
export async function replaceWhole(path: string, text: string, mode: number): Promise<void> {
  const [{ default: writeFileAtomic }] = await Promise.all([import('write-file-atomic'), removeLink(path)]);
  await writeFileAtomic(path, text, { mode, fsync: false });
}

async function removeLink(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isFile()) await unlink(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
