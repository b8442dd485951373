import { sequenceText } from '../../model/ids.js';
import type { ScannedLine } from '../../store/queries/read-events.js';
import type { CommandContext } from '../command.js';
import type { EventSelection } from './read-selection.js';

/**
 * Gives a log as it is stored: all of it byte for byte, blank lines, damage and a torn tail too, or the lines of the
 * events that are wanted.
 * @param items - The items that the selection gives; read to the end, so that damage is known.
 */
export async function* readRaw(
  { store }: CommandContext,
  sessionId: string,
  selection: EventSelection,
  items: AsyncIterable<ScannedLine>,
): AsyncGenerator<Uint8Array> {
  if (isEverything(selection)) {
    yield* store.rawLog(sessionId);
    for await (const _ of items); // only for the damage in it
    return;
  }
  const wanted = new Set<string>();
  for await (const item of items) if (item.kind === 'event') wanted.add(sequenceText(item.event));
  const newline = new Uint8Array([0x0a]);
  for await (const { sequence, bytes } of store.rawLines(sessionId)) {
    if (sequence === undefined || !wanted.has(sequence)) continue;
    yield bytes;
    yield newline;
  }
}

function isEverything({ from, to, types, tail }: EventSelection): boolean {
  return from === undefined && to === undefined && types.size === 0 && tail === undefined;
}
