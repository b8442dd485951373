import type { StoredEvent } from '../../model/event.js';
import { type PairingFact, pairCalls, pairingFact } from '../../plan/call-pairing.js';
import { type CutCalls, callsCutAt } from '../../plan/rewind/whole-positions.js';
import type { EventLog } from './event-log.js';

/**
 * Tells what a cut behind an event does to the calls of its turn. The log is read from its end to where that turn begins.
 * @param position - The last event that stays; 0 for none.
 */
export function readCutCalls(log: EventLog, position: number): CutCalls {
  // Newest first: the events of the turn that is cut, and the one in front of it.
  let turn: { readonly sequence: number; readonly fact: PairingFact | undefined }[] = [];
  let isWhole = position === 0;
  for (const event of isWhole ? [] : goodEventsBackwards(log)) {
    const { sequence } = event;
    const fact = pairingFact(event, sequence);
    if (isWhole) {
      turn.push({ sequence, fact: undefined });
      break;
    }
    turn.push({ sequence, fact });
    if (fact?.kind !== 'turn') continue;
    if (sequence <= position) isWhole = true;
    else turn = [];
  }
  const events = turn.reverse();
  return callsCutAt(events, pairCalls(events.flatMap(({ fact }) => fact ?? [])), position);
}

function* goodEventsBackwards(log: EventLog): Generator<StoredEvent> {
  for (const line of log.scanBackwards()) if (line.kind === 'event') yield line.event;
}
