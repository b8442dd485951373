import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../src/fs/file-system.js';
import {
  MAX_LINE_BYTES,
  type RawLine,
  readFully,
  readLines,
  readLinesBackwards,
  writeFully,
} from '../../src/fs/jsonl.js';

interface Line {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly terminated: boolean;
}

/** What any reader of lines should give: found by looking at every byte. */
function linesOf(content: Uint8Array): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (let at = 0; at < content.length; at += 1) {
    if (content[at] !== 0x0a) continue;
    lines.push({ text: hashable(content.subarray(start, at)), start, end: at + 1, terminated: true });
    start = at + 1;
  }
  if (start < content.length) {
    lines.push({ text: hashable(content.subarray(start)), start, end: content.length, terminated: false });
  }
  return lines;
}

// A line of a million bytes would make a failure unreadable: its length, ends and sum tell it apart.
function hashable(bytes: Uint8Array): string {
  if (bytes.length < 100) return Buffer.from(bytes).toString('latin1');
  let sum = 0;
  for (const byte of bytes) sum = (sum * 31 + byte) % 1_000_000_007;
  return `${bytes.length} bytes, ${sum}`;
}

/** The content of a file that gives as many bytes at a time as it likes. */
function fileOf(content: Uint8Array, mostAtOnce = Number.POSITIVE_INFINITY): FileSystem {
  return {
    ...nodeFileSystem,
    read(_fd, into, offset, length, position) {
      const count = Math.max(0, Math.min(length, mostAtOnce, content.length - position));
      into.set(content.subarray(position, position + count), offset);
      return count;
    },
  };
}

/** Takes the lines one by one, as the bytes of each are good until the next is asked for. */
function seen(lines: Iterable<RawLine>): readonly Line[] {
  const taken: Line[] = [];
  for (const { bytes, start, end, terminated } of lines) taken.push({ text: hashable(bytes), start, end, terminated });
  return taken;
}

const CHUNK = 256 * 1024;
const lengths = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.constantFrom(65_535, 65_536, 65_537, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7) },
);
/** Files with lines from nothing to more than a buffer, with and without a newline at the end. */
const aFile = fc
  .tuple(fc.array(fc.tuple(lengths, fc.integer({ min: 0x20, max: 0xff })), { maxLength: 12 }), fc.boolean())
  .map(([lines, endsInNewline]) => {
    const content = Buffer.concat(lines.flatMap(([length, fill]) => [Buffer.alloc(length, fill), Buffer.from('\n')]));
    return endsInNewline ? content : content.subarray(0, -1);
  });
const chunks = fc.constantFrom(1_000, 65_536, 100_003, Number.POSITIVE_INFINITY);

describe('reading forwards', () => {
  test('given any file in any pieces, then its lines are those of a naive reader, numbered from 1', () => {
    fc.assert(
      fc.property(aFile, chunks, (content, mostAtOnce) => {
        const lines: Line[] = [];
        const numbers: number[] = [];
        for (const line of readLines(fileOf(content, mostAtOnce), 0, 0, content.length)) {
          lines.push(...seen([line])); // before the next is asked for: its bytes are good no longer
          numbers.push(line.number);
        }

        expect(lines).toEqual(linesOf(content));
        expect(numbers).toEqual(lines.map((_, at) => at + 1));
      }),
      { numRuns: 60 },
    );
  });

  test('given a place to begin and to stop, then nothing before or after is read', () => {
    const content = Buffer.from('one\ntwo\nthree\nfour\n');

    const lines = seen(readLines(fileOf(content), 0, 4, 13));

    expect(lines).toEqual([
      { text: 'two', start: 4, end: 8, terminated: true },
      { text: 'three', start: 8, end: 13, terminated: false },
    ]);
  });

  test('given a file that became shorter while it was read, then the end is where it is', () => {
    const content = Buffer.from('one\ntw');

    expect(seen(readLines(fileOf(content), 0, 0, 100))).toEqual([
      { text: 'one', start: 0, end: 4, terminated: true },
      { text: 'tw', start: 4, end: 6, terminated: false },
    ]);
  });

  test('given a line that is longer than a line may be, then it is passed over and the next one is read', () => {
    const long = MAX_LINE_BYTES + 1;
    const end = Buffer.from('\nnext\n');
    const file: FileSystem = {
      ...nodeFileSystem,
      read(_fd, into, offset, length, position) {
        const count = Math.min(length, long + end.length - position);
        for (let at = 0; at < count; at += CHUNK) into.fill(0x78, offset + at, offset + Math.min(at + CHUNK, count));
        for (let at = Math.max(position, long); at < position + count; at += 1)
          into[offset + at - position] = end[at - long] ?? 0;
        return count;
      },
    };

    const lines = [...readLines(file, 0, 0, long + end.length)].map(({ number, start, tooLong, terminated }) => [
      number,
      start,
      tooLong,
      terminated,
    ]);

    expect(lines).toEqual([
      [1, 0, true, true],
      [2, long + 1, false, true],
    ]);
  });
});

/** A file system that tells of each read: into what, and how many bytes. */
function counted(inner: FileSystem, onRead: (into: Uint8Array, length: number) => void): FileSystem {
  return {
    ...inner,
    read(fd, into, offset, length, position) {
      onRead(into, length);
      return inner.read(fd, into, offset, length, position);
    },
  };
}

describe('reading backwards', () => {
  test('given any file in any pieces, then its lines are those of a naive reader, last to first', () => {
    fc.assert(
      fc.property(aFile, chunks, (content, mostAtOnce) => {
        const texts: Line[] = [];
        for (const line of readLinesBackwards(fileOf(content, mostAtOnce), 0, content.length))
          texts.push(...seen([line]));

        expect(texts).toEqual(linesOf(content).toReversed());
      }),
      { numRuns: 60 },
    );
  });

  test('given a long file, then the last line is had without reading the whole', () => {
    const content = Buffer.from(`${'x'.repeat(99)}\n`.repeat(100_000));
    let bytesRead = 0;
    const counting = counted(fileOf(content), (_, length) => {
      bytesRead += length;
    });

    const [last] = readLinesBackwards(counting, 0, content.length);

    expect(last?.start).toBe(content.length - 100);
    expect(bytesRead).toBeLessThan(100_000);
  });

  test.each(['first\n', ''])('given a long line behind %j, then it is held once, and read at most twice', (before) => {
    const content = Buffer.from(`${before}${'x'.repeat(20 * 1024 * 1024)}\n`);
    const large = new Set<unknown>();
    let bytesRead = 0;
    const counting = counted(fileOf(content), (into, length) => {
      bytesRead += length;
      if (into.length > 10 * 1024 * 1024) large.add(into.buffer);
    });

    const lines = [...readLinesBackwards(counting, 0, content.length)].map(({ start, end }) => [start, end]);

    expect(lines).toEqual([[before.length, content.length], ...(before === '' ? [] : [[0, before.length]])]);
    expect([large.size, bytesRead < 2.5 * content.length]).toEqual([1, true]);
  });

  // Test 48 does the same with a log on disk.
  test.each([
    ['at the end', 0, true],
    ['as the last but one', 6, true],
    ['without an end', 0, false],
  ])('given a line that is longer than a line may be %s, then it is told and never held', (_, behind, terminated) => {
    const size = 2 * MAX_LINE_BYTES;
    const newlines = new Set([4, size - 1 - behind, ...(behind > 0 ? [size - 1] : [])].slice(0, terminated ? 3 : 1));
    let largest = 0;
    const read: FileSystem['read'] = (_fd, into, offset, length, position) => {
      into.fill(0x78, offset, offset + length);
      for (const at of newlines) if (at >= position && at < position + length) into[offset + at - position] = 0x0a;
      return length;
    };
    const file = counted({ ...nodeFileSystem, read }, (into) => {
      largest = Math.max(largest, into.length);
    });

    const lines = [...readLinesBackwards(file, 0, size)].map(({ end, tooLong }) => [end, tooLong]);

    expect(lines).toEqual([...(behind > 0 ? [[size, false]] : []), [size - behind, true]]);
    expect(largest).toBeLessThan(16 * 1024 * 1024);
  });

  test('given a line as long as a line may be, then it is read', () => {
    const size = MAX_LINE_BYTES + 6;
    const read: FileSystem['read'] = (_fd, into, offset, length, position) => {
      into.fill(0x78, offset, offset + length);
      for (const at of [4, size - 1]) if (at >= position && at < position + length) into[offset + at - position] = 0x0a;
      return length;
    };

    const lines = [...readLinesBackwards({ ...nodeFileSystem, read }, 0, size)];

    expect(lines.map(({ start, end, tooLong }) => [start, end, tooLong])).toEqual([
      [5, size, false],
      [0, 5, false],
    ]);
  });

  test('given an empty file, then there are none', () => {
    expect([...readLinesBackwards(fileOf(Buffer.alloc(0)), 0, 0)]).toEqual([]);
    expect([...readLines(fileOf(Buffer.alloc(0)), 0, 0, 0)]).toEqual([]);
  });
});

describe('writing', () => {
  test('given a system that takes few bytes at a time, then all are written, in order', () => {
    const written: number[] = [];
    const few: FileSystem = {
      ...nodeFileSystem,
      write(_fd, bytes, offset, length) {
        const count = Math.min(3, length);
        written.push(...bytes.subarray(offset, offset + count));
        return count;
      },
    };

    writeFully(few, 0, new Uint8Array([1, 2, 3, 4, 5, 6, 7]));

    expect(written).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('given a system that takes nothing, then it does not try for ever', () => {
    const none: FileSystem = { ...nodeFileSystem, write: () => 0 };

    expect(() => writeFully(none, 0, new Uint8Array([1]))).toThrow(/wrote nothing/);
  });
});

describe('reading exactly', () => {
  test('given fewer bytes than are wanted, then the count tells how many there were', () => {
    const into = new Uint8Array(10);

    expect(readFully(fileOf(Buffer.from('abcdef'), 2), 0, into, 2, 10)).toBe(4);
    expect(Buffer.from(into.subarray(0, 4)).toString()).toBe('cdef');
  });
});
