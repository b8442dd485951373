import { dirname, join } from 'node:path';
import { errnoOf } from '../errors.js';
import type { FileSystem } from './file-system.js';

/** Resolves the links of an absolute path as far as it is there; what is gone stays as it is written. */
export function realPathOf(fs: Pick<FileSystem, 'realpath'>, path: string): string {
  let gone = '';
  for (let there = path; ; there = dirname(there)) {
    try {
      return join(fs.realpath(there), gone);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      if (there === dirname(there)) return path;
      gone = join(there.slice(dirname(there).length), gone);
    }
  }
}
