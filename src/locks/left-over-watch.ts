import { lstat } from 'node:fs/promises';
import { errnoOf } from '../errors.js';
import { type FileIdentity, identityOf, sameFile } from '../fs/file-system.js';
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
  let last: FolderState | undefined;
  let since = 0;
  return {
    async isLeftOver() {
      const now = await stateOf(path);
      if (!isUnchanged(last, now)) since = clock();
      last = now;
      return now !== undefined && clock() - since >= unchangedMs;
    },
  };
}

/** What a touch changes, and what tells one folder from another at its path. */
interface FolderState extends FileIdentity {
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

async function stateOf(path: string): Promise<FolderState | undefined> {
  try {
    const stat = await lstat(path, { bigint: true });
    return { ...identityOf(stat), mtimeNs: stat.mtimeNs, ctimeNs: stat.ctimeNs };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

function isUnchanged(a: FolderState | undefined, b: FolderState | undefined): boolean {
  return sameFile(a, b) && a?.mtimeNs === b?.mtimeNs && a?.ctimeNs === b?.ctimeNs;
}
