import { StalePlanError } from '../errors.js';
import type { StoredEvent } from '../model/event.js';
import type { LogOutline } from '../model/log-outline.js';
import { type PairingFact, pairCalls, pairingFact, wholeCutBefore } from './call-pairing.js';

/** The events of the log from the last to the first; may be asked more than once, and is read only as needed. */
export type NewestFirst = () => Iterable<StoredEvent>;

/**
 * How many events come before a cut, moved back to the call that a kept result belongs to. No other turn is read.
 * @param isCall - Which of the calls count, by their index: the result of another one moves nothing.
 * @throws StalePlanError (`STALE_PLAN`) when the events are not those of the outline.
 */
export function wholeTurnCut(
  outline: LogOutline,
  wanted: number,
  newestFirst: NewestFirst,
  isCall: (index: number) => boolean = () => true,
): number {
  if (wanted === 0 || !outline.events.slice(wanted).some(({ type }) => type === 'tool_result')) return wanted;
  const firstCall = outline.events.findIndex(({ type }, index) => type === 'tool_call' && isCall(index));
  if (firstCall < 0 || firstCall >= wanted) return wanted;
  const { calls, lostResults } = pairCalls(factsOfTurn(wanted, indexed(outline, newestFirst())));
  return wholeCutBefore({ calls: calls.filter(({ at }) => isCall(at)), lostResults }, wanted);
}

/** Pairs the events, newest first, with their index in the outline; what was appended since is passed over. */
export function* indexed(
  outline: LogOutline,
  events: Iterable<StoredEvent>,
): Generator<readonly [number, StoredEvent]> {
  let index = outline.events.length - 1;
  // Not that of the last event: in a log whose sequences do not rise that is lower than others.
  const highest = outline.events.reduce((high, { sequence }) => Math.max(high, sequence), 0);
  for (const event of events) {
    if (index < 0) return;
    if (event.sequence > highest) continue;
    if (outline.events[index]?.sequence !== event.sequence) {
      throw new StalePlanError(`Session ${outline.sessionId} was rewound while it was read`);
    }
    yield [index, event];
    index -= 1;
  }
}

/** The facts of the turn that a cut lies in, oldest first; a message of the user's behind the cut begins another. */
function factsOfTurn(cut: number, newestFirst: Iterable<readonly [number, StoredEvent]>): readonly PairingFact[] {
  let facts: PairingFact[] = [];
  for (const [index, event] of newestFirst) {
    const fact = pairingFact(event, index);
    if (fact === undefined) continue;
    if (fact.kind !== 'turn') facts.push(fact);
    else if (index < cut) break;
    else facts = [];
  }
  return facts.toReversed();
}
