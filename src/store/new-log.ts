import { syncFile } from '../fs/durable-file.js';
import type { FileSystem } from '../fs/file-system.js';
import { writeFully } from '../fs/jsonl.js';
import { joinBytes } from '../model/event-codec.js';
import { FILE_MODE } from './layout.js';

/** So many bytes are gathered before they are written: a write for each line would cost more than the copy. */
const BATCH_BYTES = 1024 * 1024;

/** Adds a line, newline included. */
export type AddLine = (line: Uint8Array) => void;

/**
 * Makes a log that nobody sees yet, line by line, and syncs it once at the end.
 *
 * What is begun when the work fails is for the caller to remove, with the folder that it is in.
 * @param work - Adds the lines; they must keep their bytes until the log is made.
 */
export function writeNewLog<T>(fs: FileSystem, path: string, work: (add: AddLine) => T): T {
  const fd = fs.create(path, FILE_MODE);
  try {
    let batch: Uint8Array[] = [];
    let bytes = 0;
    const flush = (): void => {
      if (bytes > 0) writeFully(fs, fd, joinBytes(batch));
      batch = [];
      bytes = 0;
    };
    const result = work((line) => {
      batch.push(line);
      bytes += line.length;
      if (bytes >= BATCH_BYTES) flush();
    });
    flush();
    syncFile(fs, fd, path);
    return result;
  } finally {
    fs.close(fd);
  }
}
