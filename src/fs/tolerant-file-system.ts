import { derivedFileSystem } from './derived-file-system.js';
import type { FileSystem } from './file-system.js';
import { type OnRefused, refusalOf, tolerate } from './refused-step.js';

/** Does without steps that a mount refuses and nothing depends on. A refused link stays an error: its caller copies. */
export function tolerantFileSystem(fs: FileSystem, onRefused: OnRefused): FileSystem {
  return derivedFileSystem(fs, {
    fchmod: (fd, mode) => tolerate('chmod', onRefused, () => fs.fchmod(fd, mode)),
    setModified: (path, mtimeMs) => tolerate('utimes', onRefused, () => fs.setModified(path, mtimeMs)),
    link: (from, to) => {
      try {
        fs.link(from, to);
      } catch (error) {
        const errno = refusalOf('link', error);
        if (errno !== undefined) onRefused('link', errno);
        throw error;
      }
    },
    openFolder: (path) => {
      const folder = fs.openFolder(path);
      return {
        get path() {
          return folder.path;
        },
        sync: () => tolerate('fsync of a folder', onRefused, () => folder.sync()),
        close: () => folder.close(),
      };
    },
  });
}
