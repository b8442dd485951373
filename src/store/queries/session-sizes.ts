import { type FileStat, type FileSystem, sameFile } from '../../fs/file-system.js';
import type { StoreDeps } from '../base/deps.js';
import { sessionPaths } from '../base/layout.js';

/** How much a session takes on disk, in bytes. */
export interface SessionSizes {
  readonly logBytes: number;
  /** Of the blobs of its checkpoints. */
  readonly blobBytes: number;
  /** Of what is kept for undo, `.zs/`; a second name of a blob takes nothing. */
  readonly keptBytes: number;
}

/** Measures a session; what is not there, or no regular file, counts as nothing. */
export function measureSession({ root, fs }: Pick<StoreDeps, 'root' | 'fs'>, sessionId: string): SessionSizes {
  const { events, blobs, keep } = sessionPaths(`${root}/${sessionId}`);
  const ofStore = new Map<string, FileStat>();
  for (const { name, stat } of filesBelow(fs, blobs)) ofStore.set(name, stat);
  const isSecondName = (name: string, stat: FileStat): boolean => sameFile(ofStore.get(name), stat);
  const kept = filesBelow(fs, keep).filter(({ name, stat }) => !isSecondName(name, stat));
  const log = fs.lstat(events);
  return {
    logBytes: log?.kind === 'file' ? log.size : 0,
    blobBytes: total([...ofStore.values()]),
    keptBytes: total(kept.map(({ stat }) => stat)),
  };
}

function total(stats: readonly FileStat[]): number {
  return stats.reduce((bytes, { size }) => bytes + size, 0);
}

function filesBelow(fs: FileSystem, folder: string): readonly { readonly name: string; readonly stat: FileStat }[] {
  if (fs.lstat(folder)?.kind !== 'directory') return [];
  return fs.readdir(folder).flatMap(({ name, kind }) => {
    const path = `${folder}/${name}`;
    if (kind === 'directory') return filesBelow(fs, path);
    const stat = kind === 'file' ? fs.lstat(path) : undefined;
    return stat === undefined ? [] : [{ name, stat }];
  });
}
