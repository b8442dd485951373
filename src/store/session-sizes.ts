import type { StoreDeps } from './deps.js';
import { sessionPaths } from './layout.js';

/** How much a session takes on disk, in bytes. */
export interface SessionSizes {
  readonly logBytes: number;
  /** Of the blobs of its checkpoints. */
  readonly blobBytes: number;
}

/** Measures a session; what is not there, or no regular file, counts as nothing. */
export function measureSession({ root, fs }: Pick<StoreDeps, 'root' | 'fs'>, sessionId: string): SessionSizes {
  const { events, blobs } = sessionPaths(`${root}/${sessionId}`);
  const sizeOf = (path: string) => {
    const stat = fs.lstat(path);
    return stat?.kind === 'file' ? stat.size : 0;
  };
  let blobBytes = 0;
  if (fs.lstat(blobs)?.kind === 'directory') {
    for (const { name } of fs.readdir(blobs)) blobBytes += sizeOf(`${blobs}/${name}`);
  }
  return { logBytes: sizeOf(events), blobBytes };
}
