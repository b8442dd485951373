import { type PairingFact, pairCalls, pairingFact } from '../../plan/call-pairing.js';
import { type CutCalls, callsCutAt } from '../../plan/rewind/whole-positions.js';
import type { EventLog } from './event-log.js';

/** Tells what a cut behind an event, or before the first (0), does to the calls of its turn; it reads from the end. */
export function readCutCalls(log: EventLog, position: number): CutCalls {
  // Newest first: the events of the turn that is cut, and the one in front of it.
  let turn: { readonly sequence: number; readonly fact: PairingFact | undefined }[] = [];
  let isWhole = position === 0;
  for (const line of isWhole ? [] : log.scanBackwards()) {
    if (line.kind !== 'event') continue;
    const { sequence } = line.event;
    const fact = pairingFact(line.event, sequence);
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
