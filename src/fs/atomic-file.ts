import { randomUUID } from 'node:crypto';
import { lstat, rename, unlink, writeFile } from 'node:fs/promises';
import { ignoring } from '../errors.js';
import { refusalOf } from './refused-step.js';

/**
 * Replaces a small file that can be made again: whole, or not at all, and no reader sees half of it.
 *
 * For nothing that must last: the package takes a short write for a whole one, never syncs the folder and writes
 * through a link, so a link is removed first. The durable writing of the store is in durable-file.ts.
 */
export async function replaceWhole(path: string, text: string, mode: number): Promise<void> {
  const [{ default: writeFileAtomic }] = await Promise.all([import('write-file-atomic'), removeLink(path)]);
  try {
    await writeFileAtomic(path, text, { mode, fsync: false });
  } catch (error) {
    if (refusalOf('chmod', error) === undefined) throw error;
    // The package insists on a mode and an owner, which some mounts refuse to set.
    const temp = `${path}.${randomUUID()}`;
    await writeFile(temp, text, { mode, flag: 'wx' });
    await rename(temp, path);
  }
}

async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(ignoring('ENOENT'));
  if (found?.isFile() === false) await unlink(path).catch(ignoring('ENOENT'));
}
