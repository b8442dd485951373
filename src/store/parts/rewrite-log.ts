import { StalePlanError } from '../../errors.js';
import { createFile, removeQuietly, syncFile, syncFolder } from '../../fs/durable-file.js';
import { readFully, writeFully } from '../../fs/jsonl.js';
import { joinBytes } from '../../model/bytes.js';
import type { StoredEvent } from '../../model/event.js';
import { encodeEventLine } from '../../model/event-codec.js';
import { decodeIntent } from '../../model/rewind-record.js';
import { FILE_MODE, newTempPath } from '../base/layout.js';
import type { EventLog } from './event-log.js';
import type { LockedSession } from './locked-session.js';

const NEWLINE = 0x0a;
const COPY_BYTES = 1024 * 1024;

export type KeepsEvent = (event: StoredEvent) => boolean;

/** The log that is to take the place of the present one: the lines of another that stay, and what comes behind them. */
export interface NewLog {
  /** The present log, or a kept one. */
  readonly source: EventLog;
  readonly keeps: KeepsEvent;
  readonly added: readonly StoredEvent[];
}

/**
 * Puts a log of the kept lines, byte for byte, and of what is added behind them in place of the present one (FORMAT.md, 6).
 * An intent is never copied. When it fails the present log is as it was, and nothing is left beside it.
 */
export function rewriteLog(session: LockedSession, newLog: NewLog): void {
  const { fs } = session.deps;
  const { added } = newLog;
  const temp = newTempPath(session.deps, session.paths);
  createFile(fs, temp, new Uint8Array(0), FILE_MODE);
  try {
    const to = fs.openAppend(temp);
    try {
      copyKeptLines(session, newLog, to);
      if (added.length > 0) writeFully(fs, to, joinBytes(added.map(encodeEventLine)));
      syncFile(fs, to, temp);
    } finally {
      fs.close(to);
    }
    session.assertHeld();
    fs.rename(temp, session.paths.events);
  } catch (error) {
    removeQuietly(fs, temp);
    throw error;
  }
  syncFolder(fs, session.paths.folder);
}

function copyKeptLines(session: LockedSession, newLog: NewLog, to: number): void {
  const { fs } = session.deps;
  const { source } = newLog;
  if (!source.exists()) return;
  const ranges = keptRanges(session, newLog);
  const from = fs.openRead(source.path);
  try {
    let lastByte: number | undefined;
    const chunk = new Uint8Array(COPY_BYTES);
    for (const range of ranges) {
      for (let at = range.from; at < range.to; ) {
        const count = readFully(fs, from, chunk, at, Math.min(chunk.length, range.to - at));
        if (count === 0) throw new StalePlanError(`${source.path} became shorter while it was copied`);
        writeFully(fs, to, chunk.subarray(0, count));
        lastByte = chunk[count - 1];
        at += count;
      }
    }
    // The last line of the source can be whole and lack its newline.
    if (lastByte !== undefined && lastByte !== NEWLINE) writeFully(fs, to, new Uint8Array([NEWLINE]));
  } finally {
    fs.close(from);
  }
}

/** The pieces of a log that stay; blank lines stay or go with the event before them. */
function keptRanges(session: LockedSession, { source, keeps }: NewLog) {
  const ranges: { from: number; to: number }[] = [];
  let open = { from: 0, to: 0 };
  let keepsOpen = true; // blank lines before the first event
  const close = (at: number): void => {
    open.to = at;
    const last = ranges.at(-1);
    if (!keepsOpen || at === open.from) return;
    if (last?.to === open.from) last.to = at;
    else ranges.push(open);
  };
  for (const item of source.scan()) {
    if (item.kind === 'damage') throw source.damaged(item.damage);
    close(item.line.start);
    open = { from: item.line.start, to: item.line.end };
    keepsOpen = item.kind === 'event' && keeps(item.event) && decodeIntent(item.event, session.id) === undefined;
  }
  close(source.size());
  return ranges;
}
