import type { EventView, StoredEvent } from '../model/event.js';
import { viewEvent } from '../model/event-view.js';

/** What pairing needs of an event, without its payload: a log can be larger than memory. */
export type PairingFact =
  /** A message of the user's: a turn begins. */
  | { readonly kind: 'turn'; readonly at: number }
  | { readonly kind: 'call' | 'result'; readonly at: number; readonly callId: string; readonly name: string };

export interface PairedCall {
  /** The place of the call: its index or its sequence, as the facts have it. */
  readonly at: number;
  readonly callId: string;
  readonly name: string;
  /** The places of its results, rising; none where the agent died before there was one. */
  readonly results: readonly number[];
}

export interface CallPairs {
  readonly calls: readonly PairedCall[];
  readonly lostResults: readonly number[];
}

/**
 * What an event is for pairing; undefined for what has no part in it.
 * @param at - Its place: an index or a sequence, rising from event to event.
 */
export function pairingFact(event: StoredEvent, at: number): PairingFact | undefined {
  if (event.type !== 'message' && event.type !== 'tool_call' && event.type !== 'tool_result') return undefined;
  return pairingFactOf(viewEvent(event), at);
}

/** As {@link pairingFact}, for an event that is decoded already. */
export function pairingFactOf(view: EventView, at: number): PairingFact | undefined {
  switch (view.type) {
    case 'message':
      return view.role === 'user' ? { kind: 'turn', at } : undefined;
    case 'tool_call':
      return { kind: 'call', at, callId: view.callId, name: view.name };
    case 'tool_result':
      return { kind: 'result', at, callId: view.callId, name: view.name };
    default:
      return undefined;
  }
}

/**
 * Pairs calls and results by occurrence within their turn, since an id may come again in every turn (FORMAT.md, 3): the
 * k-th result with an id belongs to the k-th call before it with that id, a surplus one to the last call.
 * @param facts - Oldest first. They may begin with any turn.
 */
export function pairCalls(facts: Iterable<PairingFact>): CallPairs {
  const calls: { at: number; callId: string; name: string; results: number[] }[] = [];
  const lostResults: number[] = [];
  let turn = new Map<string, CallsOfId>();
  for (const fact of facts) {
    if (fact.kind === 'turn') {
      turn = new Map();
      continue;
    }
    const { at, callId, name } = fact;
    const known = turn.get(callId);
    if (fact.kind === 'call') {
      const index = calls.push({ at, callId, name, results: [] }) - 1;
      if (known === undefined) turn.set(callId, { indexes: [index], answered: 0 });
      else known.indexes.push(index);
    } else if (known === undefined) {
      lostResults.push(at);
    } else {
      calls[nextToAnswer(known)]?.results.push(at);
    }
  }
  return { calls, lostResults };
}

/** The last place at or before a cut (the first event behind it) that parts no call from a result of its own. */
export function wholeCutBefore({ calls }: CallPairs, cut: number): number {
  let whole = cut;
  // The calls rise, so one that the moved cut parts is found further on in the same walk.
  for (const call of calls.toReversed()) if (isParted(call, whole)) whole = call.at;
  return whole;
}

/** The first such place at or after a cut. It may be just behind a result: an event need not stand there. */
export function wholeCutAfter({ calls }: CallPairs, cut: number): number {
  let whole = cut;
  for (const call of calls) if (isParted(call, whole)) whole = lastOf(call) + 1;
  return whole;
}

/** The calls in front of a cut whose results all lie behind it: a cut there leaves them without any. */
export function openCallsAt({ calls }: CallPairs, cut: number): readonly PairedCall[] {
  return calls.filter(({ at, results: [first] }) => at < cut && first !== undefined && first >= cut);
}

interface CallsOfId {
  readonly indexes: number[];
  answered: number;
}

function nextToAnswer(calls: CallsOfId): number {
  const index = calls.indexes[calls.answered];
  if (index === undefined) return calls.indexes.at(-1) as number;
  calls.answered += 1;
  return index;
}

function isParted(call: PairedCall, cut: number): boolean {
  return call.at < cut && lastOf(call) >= cut;
}

function lastOf({ at, results }: PairedCall): number {
  return results.at(-1) ?? at;
}
