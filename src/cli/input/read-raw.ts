import { sequenceText } from '../../model/ids.js';
import { openLog } from '../../store/parts/read-session.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { CommandContext } from '../command.js';
import type { EventSelection } from './read-selection.js';

const COPY_BYTES = 256 * 1024;

/**
 * Gives a log as it is stored: all of it byte for byte, blank lines, damage and a torn tail too, or the lines of the
 * events that are wanted.
 * @param items - The items that the selection gives; read to the end, so that damage is known.
 */
export async function* readRaw(
  context: CommandContext,
  sessionId: string,
  selection: EventSelection,
  items: AsyncIterable<ScannedLine>,
): AsyncGenerator<Uint8Array> {
  if (isEverything(selection)) {
    yield* copyLog(context, sessionId);
    for await (const _ of items); // only for the damage in it
    return;
  }
  const wanted = new Set<string>();
  for await (const item of items) if (item.kind === 'event') wanted.add(sequenceText(item.event));
  const newline = new Uint8Array([0x0a]);
  for (const item of openLog(context.deps, sessionId).scanInOrder()) {
    if (item.kind !== 'event' || !wanted.has(sequenceText(item.event))) continue;
    yield item.line.bytes.slice();
    yield newline;
  }
}

function isEverything({ from, to, types, tail }: EventSelection): boolean {
  return from === undefined && to === undefined && types.size === 0 && tail === undefined;
}

/** Gives the bytes of the file as it is now; what is appended meanwhile is left out. */
function* copyLog({ deps }: CommandContext, sessionId: string): Generator<Uint8Array> {
  const log = openLog(deps, sessionId);
  if (!log.exists()) return;
  const fd = deps.fs.openRead(log.path);
  try {
    const { size } = deps.fs.fstat(fd);
    for (let at = 0; at < size; ) {
      const chunk = new Uint8Array(Math.min(COPY_BYTES, size - at));
      const count = deps.fs.read(fd, chunk, 0, chunk.length, at);
      if (count === 0) return; // it became shorter
      at += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    deps.fs.close(fd);
  }
}
