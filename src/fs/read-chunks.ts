import type { FileSystem } from './file-system.js';

const CHUNK_BYTES = 256 * 1024;

/** Reads an open file, or a stretch of it, in pieces of one buffer: each piece is overwritten by the next. */
export function* readChunks(
  fs: FileSystem,
  fd: number,
  { from = 0, to = Number.POSITIVE_INFINITY }: { readonly from?: number; readonly to?: number } = {},
): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(Math.max(0, Math.min(CHUNK_BYTES, to - from)));
  for (let at = from; at < to; ) {
    const count = fs.read(fd, chunk, 0, Math.min(chunk.length, to - at), at);
    if (count === 0) return;
    at += count;
    yield chunk.subarray(0, count);
  }
}
