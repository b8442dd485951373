import type { FileSystem } from './file-system.js';
import { readChunks } from './read-chunks.js';

/** One line of a file, without its newline. `bytes` are good until the next line is asked for. */
export interface RawLine {
  /** 1-based; 0 when the file is read from its end. */
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  /** Offset after the newline, or the end of the file. */
  readonly end: number;
  readonly terminated: boolean;
  /** Whether it is longer than a line may be; `bytes` are empty then. */
  readonly tooLong: boolean;
}

/** A longer line is not read: what JSON.parse takes is bounded, and so is memory (PERFORMANCE.md, 3). */
export const MAX_LINE_BYTES = 256 * 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;
const FIRST_WINDOW_BYTES = 64 * 1024;
const LARGEST_USUAL_WINDOW_BYTES = 4 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads the lines of an open file, first to last, into a buffer that grows for a long line and shrinks again.
 * @param to - Offset where to stop; what is appended meanwhile is not read.
 */
export function* readLines(fs: FileSystem, fd: number, from: number, to: number): Generator<RawLine> {
  let limit = to;
  let buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let start = from; // offset in the file of buffer[cursor]
  let cursor = 0;
  let filled = 0;
  let number = 1;
  while (start < limit) {
    const newline = buffer.subarray(0, filled).indexOf(NEWLINE, cursor);
    if (newline >= 0) {
      const end = start + newline - cursor + 1;
      yield { number, bytes: buffer.subarray(cursor, newline), start, end, terminated: true, tooLong: false };
      number += 1;
      start = end;
      cursor = newline + 1;
      continue;
    }
    const held = filled - cursor;
    if (start + held >= limit) {
      yield { number, bytes: buffer.subarray(cursor, filled), start, end: limit, terminated: false, tooLong: false };
      return;
    }
    if (cursor === 0 && filled === buffer.length) {
      const end = endOfLine(fs, fd, start + held, limit);
      if (end.offset - start > MAX_LINE_BYTES) {
        const { offset, terminated } = end;
        yield { number, bytes: buffer.subarray(0, 0), start, end: offset, terminated, tooLong: true };
        number += 1;
        start = offset;
        cursor = 0;
        filled = 0;
        continue;
      }
      const larger = Buffer.allocUnsafe(end.offset - start + 1);
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    } else {
      const next = buffer.length > CHUNK_BYTES && held < CHUNK_BYTES ? Buffer.allocUnsafe(CHUNK_BYTES) : buffer;
      buffer.copy(next, 0, cursor, filled);
      buffer = next;
      filled = held;
      cursor = 0;
    }
    const wanted = Math.min(buffer.length - filled, limit - start - filled);
    const count = fs.read(fd, buffer, filled, wanted, start + filled);
    if (count === 0) limit = start + filled; // the file became shorter while it was read
    filled += count;
  }
}

/**
 * Reads the lines of an open file of this size, last to first.
 *
 * A line that is too long is not held in memory and is the last to be yielded: where it begins is not looked for.
 */
export function* readLinesBackwards(fs: FileSystem, fd: number, size: number): Generator<RawLine> {
  let end = size;
  let windowBytes = FIRST_WINDOW_BYTES;
  let held: Uint8Array = new Uint8Array(0); // the bytes from heldFrom to end
  let heldFrom = size;
  const holdFrom = (from: number): void => {
    const more = new Uint8Array(end - from);
    readFully(fs, fd, more, from, heldFrom - from);
    more.set(held.subarray(0, end - heldFrom), heldFrom - from);
    held = more;
    heldFrom = from;
  };
  while (end > 0) {
    const terminated = end < size || (end > 0 && byteAt(fs, fd, end - 1) === NEWLINE);
    const textEnd = terminated ? end - 1 : end;
    let unsearched = textEnd - heldFrom;
    let start: number | undefined;
    for (;;) {
      const newline = lastNewline(held, unsearched);
      if (newline >= 0) start = heldFrom + newline + 1;
      else if (heldFrom === 0) start = 0;
      if (start !== undefined) break;
      if (textEnd - heldFrom > LARGEST_USUAL_WINDOW_BYTES) {
        // A long line: its beginning is found first, so that it is held once, or not at all.
        start = startOfLine(fs, fd, heldFrom, Math.max(0, textEnd - MAX_LINE_BYTES - 1));
        if (start === undefined) {
          yield { number: 0, bytes: new Uint8Array(0), start: heldFrom, end, terminated, tooLong: true };
          return;
        }
        holdFrom(start);
        break;
      }
      const from = Math.max(0, heldFrom - windowBytes);
      unsearched = Math.min(heldFrom, textEnd) - from;
      holdFrom(from);
      windowBytes = Math.min(windowBytes * 2, LARGEST_USUAL_WINDOW_BYTES);
    }
    const bytes = held.subarray(start - heldFrom, textEnd - heldFrom);
    yield { number: 0, bytes, start, end, terminated, tooLong: false };
    end = start;
    held = held.subarray(0, Math.max(0, end - heldFrom));
  }
}

export function writeFully(fs: FileSystem, fd: number, bytes: Uint8Array): void {
  let at = 0;
  while (at < bytes.length) {
    const count = fs.write(fd, bytes, at, bytes.length - at);
    if (count === 0) throw Object.assign(new Error('the system wrote nothing and did not say why'), { code: 'EIO' });
    at += count;
  }
}

/** Reads `length` bytes at an offset, or as many as there are; returns the count. */
export function readFully(fs: FileSystem, fd: number, into: Uint8Array, position: number, length: number): number {
  let at = 0;
  while (at < length) {
    const count = fs.read(fd, into, at, length - at, position + at);
    if (count === 0) break;
    at += count;
  }
  return at;
}

function endOfLine(fs: FileSystem, fd: number, from: number, to: number): { offset: number; terminated: boolean } {
  let at = from;
  for (const chunk of readChunks(fs, fd, { from, to })) {
    const newline = chunk.indexOf(NEWLINE);
    if (newline >= 0) return { offset: at + newline + 1, terminated: true };
    at += chunk.length;
  }
  return { offset: at, terminated: false };
}

/** The offset behind the last newline before `before`, or 0; undefined when there is none from `least` on. */
function startOfLine(fs: FileSystem, fd: number, before: number, least: number): number | undefined {
  const chunk = new Uint8Array(LARGEST_USUAL_WINDOW_BYTES);
  for (let at = before; at > least; ) {
    const from = Math.max(least, at - chunk.length);
    const newline = lastNewline(chunk, readFully(fs, fd, chunk, from, at - from));
    if (newline >= 0) return from + newline + 1;
    at = from;
  }
  return least === 0 ? 0 : undefined;
}

function lastNewline(bytes: Uint8Array, before: number): number {
  return before <= 0 ? -1 : Buffer.from(bytes.buffer, bytes.byteOffset, before).lastIndexOf(NEWLINE);
}

function byteAt(fs: FileSystem, fd: number, position: number): number | undefined {
  const byte = new Uint8Array(1);
  return fs.read(fd, byte, 0, 1, position) === 1 ? byte[0] : undefined;
}
