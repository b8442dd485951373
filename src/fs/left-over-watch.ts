import { lstat } from 'node:fs/promises';
import { errnoOf } from '../errors.js';
import { identityOf } from './file-system.js';
import type { MonotonicClock } from './monotonic-clock.js';

/** Watches a folder that its holder touches: one that stays as it is has no holder any more. */
export interface LeftOverWatch {
  /** Tells whether the folder is there and has not changed for long enough, while it was looked at. */
  isLeftOver(): Promise<boolean>;
}

/**
 * Starts to watch a folder. No time of day is asked for: the holder's clock may differ from ours, and both may be moved.
 * @param unchangedMs - How long a folder stays as it is before it counts as left over.
 */
export function watchFolder(path: string, unchangedMs: number, clock: MonotonicClock): LeftOverWatch {
  let last: string | undefined;
  let since = 0;
  return {
    async isLeftOver() {
      const now = await stateOf(path);
      if (now === undefined || now !== last) {
        last = now;
        since = clock();
      }
      return now !== undefined && clock() - since >= unchangedMs;
    },
  };
}

/** Gives what a touch changes, and what tells one folder from another at its path; undefined when nothing is there. */
async function stateOf(path: string): Promise<string | undefined> {
  try {
    const stat = await lstat(path, { bigint: true });
    const { dev, ino, birthNs } = identityOf(stat);
    return [dev, ino, birthNs, stat.mtimeNs, stat.ctimeNs].join(':');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}
