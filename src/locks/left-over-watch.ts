import { lstat } from 'node:fs/promises';
import { ignoring } from '../errors.js';
import { type FileIdentity, identityOf, sameFile } from '../fs/file-system.js';
import type { MonotonicClock } from './monotonic-clock.js';

/** Watches a folder that its holder touches: one that stays as it is has no holder any more. */
export interface LeftOverWatch {
  /** Whether the folder is there and has not changed for long enough, while it was looked at. */
  isLeftOver(): Promise<boolean>;
}

/** No time of day is asked for: the holder's clock may differ from ours, and both may be moved. */
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
  const stat = await lstat(path, { bigint: true }).catch(ignoring('ENOENT'));
  return stat && { ...identityOf(stat), mtimeNs: stat.mtimeNs, ctimeNs: stat.ctimeNs };
}

function isUnchanged(a: FolderState | undefined, b: FolderState | undefined): boolean {
  return sameFile(a, b) && a?.mtimeNs === b?.mtimeNs && a?.ctimeNs === b?.ctimeNs;
}
