import { syncFile } from '../../fs/durable-file.js';
import type { FileSystem } from '../../fs/file-system.js';
import { writeFully } from '../../fs/jsonl.js';
import { FILE_MODE } from '../base/layout.js';

/** So many bytes are gathered before they are written: a write for each line would cost more than the copy. */
const BATCH_BYTES = 1024 * 1024;

/** Adds a piece of a line, or several; texts are ASCII. The newline belongs to the last. */
type AddPieces = (...pieces: readonly (string | Uint8Array)[]) => void;

/** Makes a log that nobody sees yet, line by line, synced once at the end. When it fails, the caller removes the folder. */
export function writeNewLog<T>(fs: FileSystem, path: string, work: (add: AddPieces) => T): T {
  const fd = fs.create(path, FILE_MODE);
  try {
    const batch = Buffer.allocUnsafe(BATCH_BYTES);
    let filled = 0;
    const flush = (): void => {
      writeFully(fs, fd, batch.subarray(0, filled));
      filled = 0;
    };
    const result = work((...pieces) => {
      for (const piece of pieces) {
        if (filled + piece.length > BATCH_BYTES) flush();
        if (piece.length > BATCH_BYTES) writeFully(fs, fd, typeof piece === 'string' ? Buffer.from(piece) : piece);
        else if (typeof piece === 'string') filled += batch.write(piece, filled, 'latin1');
        else {
          batch.set(piece, filled);
          filled += piece.length;
        }
      }
    });
    flush();
    syncFile(fs, fd, path);
    return result;
  } finally {
    fs.close(fd);
  }
}
