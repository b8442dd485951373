import { type FileSystem, nodeFileSystem } from '../../src/fs/file-system.js';

/** The real file system without syncing: for tests that do much and are not about what survives a crash. */
export const unsyncedFileSystem: FileSystem = {
  ...nodeFileSystem,
  fsync: () => {},
  openFolder: (path) => {
    const folder = nodeFileSystem.openFolder(path);
    return { ...folder, path: folder.path, sync: () => {} };
  },
};
