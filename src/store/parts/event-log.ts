import { LogDamagedError } from '../../errors.js';
import {
  appendDurably,
  createFile,
  ensureFolder,
  isMissing,
  syncFileAt,
  syncFolderOf,
  truncateDurably,
} from '../../fs/durable-file.js';
import type { FileIdentity, FileSystem } from '../../fs/file-system.js';
import { MAX_LINE_BYTES, type RawLine, readFully, readLines, readLinesBackwards } from '../../fs/jsonl.js';
import { joinBytes, trimSpaceBytes } from '../../model/bytes.js';
import type { EventRef, LineDamage, StoredEvent } from '../../model/event.js';
import { type AmbiguousMember, MalformedLineError, parseEventLine, refOf } from '../../model/event-codec.js';
import { sequenceText } from '../../model/ids.js';
import type { LogOutline, OutlinedPayload } from '../../model/log-outline.js';
import type { LogIdentity } from '../../model/rewind-record.js';
import { type Disorder, isAbove, type NumberedLine, SequenceOrder } from '../../model/sequence-order.js';
import type { StoreDeps } from '../base/deps.js';
import { FILE_MODE, FOLDER_MODE, type SessionPaths } from '../base/layout.js';
import { MOST_WARNINGS } from '../base/standing-warnings.js';

/** What one line of a log is. Blank lines are none. */
export type LogLine =
  | {
      readonly kind: 'event';
      readonly event: StoredEvent;
      readonly line: RawLine;
      /** What is wrong with its place in the log, where that is looked at. */
      readonly disorder?: Disorder | undefined;
    }
  | { readonly kind: 'damage'; readonly damage: LineDamage; readonly line: RawLine }
  /** An append that was cut short: the last line, without newline, not JSON. */
  | { readonly kind: 'torn'; readonly line: RawLine };

/** The end of a log: what the next append has to know. */
export interface LogTail {
  /** Bytes in the file; 0 when there is none. */
  readonly size: number;
  /** Undefined when the log has no event. */
  readonly last: StoredEvent | undefined;
  /** Offset of the last event's line. */
  readonly lastStart: number;
  /** Offset of the byte behind it. */
  readonly lastEnd: number;
  /** Where a fragment begins, or undefined. */
  readonly tornFrom: number | undefined;
  /** Whether the last line is whole, or blank, and only lacks its newline. */
  readonly lacksNewline: boolean;
}

const NEWLINE = 0x0a;

/** events.jsonl of one session: the truth. Reading takes no lock and changes nothing. */
export class EventLog {
  /** Where the lines begin that were warned of. */
  readonly #ambiguous = new Set<number>();
  readonly #deps: StoreDeps;
  readonly #paths: SessionPaths;
  readonly sessionId: string;

  constructor(deps: StoreDeps, sessionId: string, paths: SessionPaths) {
    this.#deps = deps;
    this.#paths = paths;
    this.sessionId = sessionId;
  }

  get path(): string {
    return this.#paths.events;
  }

  /** Whether the log is there; a link or a special file in its place is refused by every read. */
  exists(): boolean {
    return this.#deps.fs.lstat(this.path) !== undefined;
  }

  /** What tells the file from every copy of it. Opened as for an append: on an overlay that gives it its later inode. */
  identity(): LogIdentity {
    const { fs } = this.#deps;
    const fd = fs.openAppend(this.path);
    try {
      return logIdentityOf(fs.fstat(fd));
    } finally {
      fs.close(fd);
    }
  }

  /** Whether this is the file that an identity was taken of. */
  isFile(identity: LogIdentity | undefined): boolean {
    const stat = this.#deps.fs.lstat(this.path);
    if (identity === undefined || stat === undefined) return false;
    return textOf(logIdentityOf(stat)) === textOf(identity);
  }

  /** Bytes in the file; 0 when there is none. */
  size(): number {
    return this.#deps.fs.lstat(this.path)?.size ?? 0;
  }

  /** Reads every line that is not blank, oldest first; it warns of sequences that do not rise. A missing log has none. */
  *scan(): Generator<LogLine> {
    for (const item of this.scanInOrder()) {
      if (item.kind === 'event' && item.disorder !== undefined) this.#warnOf(item.disorder);
      yield item;
    }
  }

  /** As {@link scan}, for those who tell of a line in disorder themselves. */
  *scanInOrder(): Generator<LogLine> {
    const order = new SequenceOrder(() => this.#numberedLines());
    for (const item of this.#lines()) {
      const disorder = item.kind === 'event' ? order.take(item.event, item.line.number) : undefined;
      yield disorder === undefined ? item : ({ ...item, disorder } as LogLine);
    }
  }

  #lines(): Generator<LogLine> {
    return this.#read((fs, fd) => readLines(fs, fd, 0, fs.fstat(fd).size));
  }

  *#numberedLines(): Generator<NumberedLine> {
    for (const item of this.#lines()) if (item.kind === 'event') yield { event: item.event, line: item.line.number };
  }

  #warnOf({ line, message }: Disorder): void {
    const text = `${this.path}:${line}: ${message}; rewind goes back to before it`;
    this.#deps.warn({ code: 'SEQUENCE_NOT_RISING', sessionId: this.sessionId, message: text });
  }

  /** Reads the lines from the last to the first; their numbers are not known. */
  scanBackwards(): Generator<LogLine> {
    return this.#read((fs, fd) => readLinesBackwards(fs, fd, fs.fstat(fd).size));
  }

  *#read(linesOf: (fs: FileSystem, fd: number) => Iterable<RawLine>): Generator<LogLine> {
    const fd = this.#open();
    if (fd === undefined) return;
    const { fs } = this.#deps;
    try {
      for (const line of linesOf(fs, fd)) {
        const read = this.#readLine(line);
        if (read !== undefined) yield read;
      }
    } finally {
      fs.close(fd);
    }
  }

  /** Reads the events, oldest first, without a torn tail; throws LogDamagedError at a line that is malformed. */
  events(): Generator<StoredEvent> {
    return this.#eventsOf(this.scan());
  }

  /** As {@link events}, from the last to the first, only as far as they are asked for. */
  newestFirst(): Generator<StoredEvent> {
    return this.#eventsOf(this.scanBackwards());
  }

  *#eventsOf(lines: Iterable<LogLine>): Generator<StoredEvent> {
    for (const item of lines) {
      if (item.kind === 'event') yield item.event;
      else if (item.kind === 'damage') throw this.damaged(item.damage);
    }
  }

  /** Reads the log without its payloads; throws LogDamagedError when a line is malformed. */
  outline(eventCount: number): LogOutline {
    const events: EventRef[] = [];
    const checkpoints: OutlinedPayload[] = [];
    const compactions: OutlinedPayload[] = [];
    const forks: OutlinedPayload[] = [];
    let rewound = false;
    let highest = eventCount;
    const repeated = new Map<number, readonly [number, number]>();
    for (const item of this.scan()) {
      if (item.kind === 'damage') throw this.damaged(item.damage);
      if (item.kind === 'torn') continue;
      const { event, disorder } = item;
      if (disorder?.twin !== undefined) repeated.set(disorder.sequence, [disorder.twin, disorder.line]);
      events.push(refOf(event));
      if (event.sequence > highest) highest = event.sequence;
      if (event.type === 'session_checkpoint') checkpoints.push(event);
      else if (event.type === 'session_compaction') compactions.push(event);
      else if (event.type === 'session_fork') forks.push(event);
      else if (event.type === 'session_rewind') rewound = true;
    }
    return { sessionId: this.sessionId, events, checkpoints, compactions, forks, rewound, highest, repeated };
  }

  /** Reads the end of the log; throws LogDamagedError when the last line is malformed: nothing may be put behind it. */
  tail(): LogTail {
    const size = this.size();
    let tornFrom: number | undefined;
    let last: LogLine | undefined;
    for (const item of this.scanBackwards()) {
      last = item;
      if (item.kind !== 'torn') break;
      tornFrom = item.line.start;
    }
    if (last?.kind === 'damage') throw new LogDamagedError(this.sessionId, this.path, undefined, last.damage.message);
    const lacksNewline = tornFrom === undefined && this.#endsOpen(size);
    if (last?.kind !== 'event') return { size, last: undefined, lastStart: 0, lastEnd: 0, tornFrom, lacksNewline };
    const { start, bytes } = last.line;
    return { size, last: last.event, lastStart: start, lastEnd: start + bytes.length, tornFrom, lacksNewline };
  }

  /** Throws LogDamagedError where the last two events are not in order. */
  requireOrderAtEnd(): void {
    let last: StoredEvent | undefined;
    for (const item of this.scanBackwards()) {
      if (item.kind === 'damage') return; // whoever reads the whole log is told
      if (item.kind === 'torn') continue;
      if (last === undefined) {
        last = item.event;
        continue;
      }
      if (isAbove(last, item.event)) return;
      const [found, before] = [last, item.event].map(sequenceText);
      const reason = `has the sequence ${found} behind ${before}, so nothing is appended; rewind goes back to before it`;
      throw new LogDamagedError(this.sessionId, this.path, undefined, reason);
    }
  }

  /**
   * Moves a fragment at the end to a file in `.zs/torn/`, whose path it gives, and cuts off zeros. A newline that the last
   * line lacks is written by {@link append}.
   */
  seal(tail: LogTail): string | undefined {
    if (tail.tornFrom !== undefined) return this.#moveTornTail(tail.tornFrom, tail.size);
    if (tail.lacksNewline && tail.last !== undefined && this.#endsInZeros(tail)) this.cut(tail.lastEnd);
    return undefined;
  }

  /**
   * Appends whole lines in one write and syncs them; when it fails the log has its old length. A newline that the line
   * before them lacks goes with them: written alone, by a process that is killed before it syncs, it could be lost.
   */
  append(lines: Uint8Array): void {
    if (!this.exists()) {
      createFile(this.#deps.fs, this.path, new Uint8Array(0), FILE_MODE);
      syncFolderOf(this.#deps.fs, this.path);
    }
    const opens = this.#endsOpen(this.size());
    appendDurably(this.#deps.fs, this.path, opens ? joinBytes([new Uint8Array([NEWLINE]), lines]) : lines);
  }

  sync(): void {
    syncFileAt(this.#deps.fs, this.path);
  }

  cut(length: number): void {
    truncateDurably(this.#deps.fs, this.path, length);
  }

  damaged(damage: LineDamage): LogDamagedError {
    return new LogDamagedError(this.sessionId, this.path, damage.line || undefined, damage.message);
  }

  #readLine(line: RawLine): LogLine | undefined {
    return readLine(line, (member) => {
      if (this.#ambiguous.size > MOST_WARNINGS) return;
      this.#ambiguous.add(line.start);
      const message = `${this.path}:${line.number || this.#lineNumberAt(line.start)}: ${whatIsAmbiguous(member)}`;
      this.#deps.warn({ code: 'AMBIGUOUS_MEMBER', sessionId: this.sessionId, message });
    });
  }

  // Who reads from the end does not know it, and who is warned wants it.
  #lineNumberAt(offset: number): number {
    const fd = this.#open();
    if (fd === undefined) return 0;
    const { fs } = this.#deps;
    try {
      let number = 1;
      for (const line of readLines(fs, fd, 0, offset)) number = line.number + 1;
      return number;
    } finally {
      fs.close(fd);
    }
  }

  #open(): number | undefined {
    try {
      return this.#deps.fs.openRead(this.path);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  #endsOpen(size: number): boolean {
    return size > 0 && this.#byteAt(size - 1) !== NEWLINE;
  }

  // Behind the last event may be blanks as well, and those stay.
  #endsInZeros({ lastEnd, size }: LogTail): boolean {
    return lastEnd < size && this.#byteAt(lastEnd) === 0;
  }

  #byteAt(offset: number): number | undefined {
    const fd = this.#open();
    if (fd === undefined) return undefined;
    try {
      const byte = new Uint8Array(1);
      return readFully(this.#deps.fs, fd, byte, offset, 1) === 1 ? byte[0] : undefined;
    } finally {
      this.#deps.fs.close(fd);
    }
  }

  // The fragment is safe before the log loses it.
  #moveTornTail(from: number, size: number): string {
    const { fs } = this.#deps;
    const bytes = new Uint8Array(size - from);
    const fd = fs.openRead(this.path);
    try {
      readFully(fs, fd, bytes, from, bytes.length);
    } finally {
      fs.close(fd);
    }
    ensureFolder(fs, this.#paths.keep, FOLDER_MODE);
    ensureFolder(fs, this.#paths.torn, FOLDER_MODE);
    const kept = `${this.#paths.torn}/${this.#deps.newId()}`;
    createFile(fs, kept, bytes, FILE_MODE);
    syncFolderOf(fs, kept);
    this.cut(from);
    return kept;
  }
}

function textOf({ dev, ino, birth }: LogIdentity): string {
  return JSON.stringify([dev, ino, birth]);
}

function logIdentityOf({ dev, ino, birthNs }: FileIdentity): LogIdentity {
  return { dev: `${dev}`, ino: `${ino}`, birth: `${birthNs}` };
}

function whatIsAmbiguous({ name, read, isTwice }: AmbiguousMember): string {
  const [found, meant] = [JSON.stringify(name), JSON.stringify(read)];
  return isTwice
    ? `a line has ${found} beside ${meant}, which is the one read here; Zero reads the last of them`
    : `a line has ${found} in place of ${meant}: Zero reads it, and here it is an unknown member`;
}

function readLine(line: RawLine, onAmbiguous: (member: AmbiguousMember) => void): LogLine | undefined {
  if (line.tooLong) {
    const message = `is longer than ${MAX_LINE_BYTES} bytes`;
    return { kind: 'damage', damage: { line: line.number, code: 'LOG_DAMAGED', message }, line };
  }
  if (trimSpaceBytes(line.bytes).length === 0) return undefined;
  try {
    return { kind: 'event', event: parseEventLine(line.bytes, onAmbiguous), line };
  } catch (error) {
    if (!(error instanceof MalformedLineError)) throw error;
    if (error.torn && !line.terminated) return readBeforeZeros(line) ?? { kind: 'torn', line };
    return { kind: 'damage', damage: { line: line.number, code: 'LOG_DAMAGED', message: error.message }, line };
  }
}

// What was not synced behind a whole line, its newline above all, can come up as zeros after a crash of the system.
function readBeforeZeros(line: RawLine): LogLine | undefined {
  const length = line.bytes.findLastIndex((byte) => byte !== 0) + 1;
  if (length === 0 || length === line.bytes.length) return undefined;
  const bytes = line.bytes.subarray(0, length);
  try {
    return { kind: 'event', event: parseEventLine(bytes), line: { ...line, bytes } };
  } catch (error) {
    if (error instanceof MalformedLineError) return undefined;
    throw error;
  }
}
