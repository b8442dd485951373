import type { EventRef } from '../../model/event.js';
import { type CallPairs, openCallsAt, wholeCutAfter, wholeCutBefore } from '../call-pairing.js';

/** A tool call that has no result in a log. */
export interface OpenCall {
  readonly sequence: number;
  /** As the call has it; ids may repeat. */
  readonly id: string;
  readonly name: string;
}

/** What a cut behind an event means for the calls of a log. */
export interface CutCalls {
  /** Calls that stay and whose results go, oldest first. */
  readonly openCalls: readonly OpenCall[];
  /** The nearest positions that part no call from its result: at or before the cut, and at or after it. */
  readonly whole: { readonly before: number; readonly after: number };
}

/**
 * Tells which calls a cut leaves without their results, and where it would leave none.
 * @param turn - The turn that is cut, and at least one event in front of it.
 * @param position - The last event that stays; 0 for none.
 */
export function callsCutAt(turn: readonly Pick<EventRef, 'sequence'>[], pairs: CallPairs, position: number): CutCalls {
  const cut = position + 1;
  const openCalls = openCallsAt(pairs, cut).map(({ at, callId, name }) => ({ sequence: at, id: callId, name }));
  const lastBefore = (place: number): number => turn.findLast(({ sequence }) => sequence < place)?.sequence ?? 0;
  const [before, after] = [wholeCutBefore(pairs, cut), wholeCutAfter(pairs, cut)];
  return {
    openCalls,
    whole: {
      before: before === cut ? position : lastBefore(before),
      after: after === cut ? position : lastBefore(after),
    },
  };
}
