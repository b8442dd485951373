import { describe, expect, test } from 'vitest';
import {
  type EventRef,
  PayloadDamagedError,
  parseRawJson,
  rehydrateEvents,
  type StoredEvent,
} from '../../../src/index.js';
import { planReplay, replayStream } from '../../../src/plan/compaction/replay.js';
import { type Random, random } from '../../support/random.js';
import { aLog, type EventParts, messages, outlineOf, refs } from '../../support/stored-log.js';

const compaction = (payload: object): EventParts => ({
  type: 'session_compaction',
  payload: { summary: 'S', ...payload },
});
const sequencesOf = (events: readonly StoredEvent[]): readonly number[] => events.map((event) => event.sequence);
const payloadsOf = (events: readonly StoredEvent[]): readonly unknown[] =>
  events.map((event) => event.payload && parseRawJson(event.payload));

/** A fork as Zero makes it: usage left out, renumbered, payloads as they are, then the marker. */
function forkByZero(parent: readonly StoredEvent[], id: string): readonly StoredEvent[] {
  const copied = parent.filter((event) => event.type !== 'provider_usage');
  const marker = {
    copiedEventCount: copied.length,
    forkedFromEventId: parent.at(-1)?.id ?? '',
    forkedFromSequence: parent.at(-1)?.sequence ?? 0,
    parentEventCount: parent.length,
    parentSessionId: parent[0]?.sessionId ?? '',
  };
  return aLog(id, [
    ...copied.map(({ type, payload }) => ({ type, payload: payload && parseRawJson(payload) })),
    { type: 'session_fork', payload: marker },
  ]);
}

/** Adds events to a log, numbered on. */
function withMore(log: readonly StoredEvent[], parts: readonly EventParts[]): readonly StoredEvent[] {
  const first = (log.at(-1)?.sequence ?? 0) + 1;
  const id = log[0]?.sessionId ?? 's';
  return [
    ...log,
    ...aLog(
      id,
      parts.map((part, at) => ({ sequence: first + at, ...part })),
    ),
  ];
}

/** Compacts all but the last events of a log, as a plan of Zero does. */
function compacted(log: readonly StoredEvent[], preserveLast: number, summary: string): readonly StoredEvent[] {
  const cut = Math.max(1, log.length - preserveLast);
  const through = log[cut - 1] as StoredEvent;
  return withMore(log, [
    {
      type: 'session_compaction',
      payload: {
        summary,
        compactedThroughEventId: through.id,
        compactedThroughSequence: through.sequence,
        compactableEvents: refs(log.slice(0, cut)),
        preservedEvents: refs(log.slice(cut)),
      },
    },
  ]);
}

describe('replaying a log', () => {
  test('given no compaction, then the events are as they are', () => {
    const log = aLog('s', messages(3));

    expect(rehydrateEvents(log)).toEqual(log);
  });

  test('given a compaction, then it stands in the place of the first event that it names', () => {
    const log = aLog('s', messages(5));
    const full = withMore(log, [compaction({ compactableEvents: refs(log.slice(1, 3)) }), {}]);

    expect(sequencesOf(rehydrateEvents(full))).toEqual([1, 6, 4, 5, 7]);
  });

  test('given one that names no events, then all up to its last sequence are replaced', () => {
    const log = withMore(aLog('s', messages(3)), [compaction({ compactedThroughSequence: 2 }), {}]);

    expect(sequencesOf(rehydrateEvents(log))).toEqual([4, 3, 5]);
  });

  test('given one whose events are not there, then it stands in front and nothing is lost', () => {
    const ref = { id: 's:77', sequence: 77, type: 'message' };
    const log = withMore(aLog('s', messages(2)), [compaction({ compactableEvents: [ref] })]);

    expect(sequencesOf(rehydrateEvents(log))).toEqual([3, 1, 2]);
  });

  test('given null for a reference, then it names nothing', () => {
    const log = withMore(aLog('s', messages(3)), [
      compaction({ compactableEvents: [null, ...refs(aLog('s', messages(1)))] }),
    ]);

    expect(sequencesOf(rehydrateEvents(log))).toEqual([4, 2, 3]);
  });

  test('given an event that has the sequence of the compaction, then it is not lost', () => {
    const first = refs(aLog('s', messages(1)));
    const log = aLog('s', [
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 2, ...compaction({ compactableEvents: first }) },
    ]);

    expect(rehydrateEvents(log)).toEqual([log[2], log[1]]);
  });

  test.each(['gone', 'x:9', 'a b:1', ':1'])(
    'given the name %j, which is no id of another session, then it names nothing',
    (id) => {
      const log = withMore(aLog('s', messages(2)), [
        compaction({ compactableEvents: [{ id, sequence: 1, type: 'message' }] }),
      ]);

      expect(sequencesOf(rehydrateEvents(log))).toEqual([3, 1, 2]);
    },
  );

  test('given a gap left by a rewind, then sequences and not places count', () => {
    const log = aLog('s', [{ sequence: 1 }, { sequence: 7 }, { sequence: 9 }, compactionAt(10, 7)]);

    expect(sequencesOf(rehydrateEvents(log))).toEqual([10, 9]);
  });

  test.each([
    ['no payload', null],
    ['a blank summary', { summary: ' \t' }],
    ['a summary that is no text', { summary: 1 }],
    ['a list that is none', { summary: 'S', compactableEvents: {} }],
    ['a reference that is none', { summary: 'S', compactableEvents: ['s:1'] }],
    ['a sequence that is no whole number', { summary: 'S', compactableEvents: [{ id: 's:1', sequence: '1' }] }],
    ['a last sequence that is no number', { summary: 'S', compactedThroughSequence: '1' }],
    ['preserved events that are no list', { summary: 'S', preservedEvents: 4 }],
  ])('given a last compaction with %s, then it is an error', (_, payload) => {
    const log = withMore(aLog('s', messages(1)), [{ type: 'session_compaction', payload }]);

    expect(() => rehydrateEvents(log)).toThrow(PayloadDamagedError);
  });

  test('given a log read as a stream, then the plan gives the same as the array', async () => {
    const log = compacted(aLog('s', messages(9)), 3, 'S');
    const more = withMore(log, messages(2));

    const streamed: StoredEvent[] = [];
    for await (const event of replayStream(planReplay(outlineOf(more)), more)) streamed.push(event);

    expect(sequencesOf(streamed)).toEqual(sequencesOf(rehydrateEvents(more)));
    expect(planReplay(outlineOf(more))).toMatchObject({ count: streamed.length, replacedCount: 6 });
  });

  test('given any log, then the answer is that of the rule read literally', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const log = anyCompactedLog(random(seed));

      expect({ seed, events: rehydrateEvents(log).map(({ id }) => id) }).toEqual({ seed, events: literally(log) });
    }
  });
});

describe('replaying a fork that Zero made', () => {
  const parent = compacted(
    aLog('p', [{}, { type: 'provider_usage' }, { type: 'tool_call' }, { type: 'tool_result' }, {}, {}]),
    2,
    'the beginning',
  );

  test('given references in the ids of the parent, then they are found by counting the copies', () => {
    const fork = withMore(forkByZero(parent, 'f'), messages(1));

    // Copies 1 to 5 and the compaction, 6; the parent's first four, less the usage, are replaced.
    expect(sequencesOf(rehydrateEvents(fork))).toEqual([6, 4, 5, 7, 8]);
  });

  test('given a fork of that fork, then the copies of the copies are found', () => {
    const fork = withMore(forkByZero(parent, 'f'), [{ type: 'provider_usage' }, {}]);
    const second = forkByZero(fork, 'g');

    expect(sequencesOf(rehydrateEvents(second))).toEqual([6, 4, 5, 7, 8, 9]);
  });

  test('given a compaction of the fork itself in a fork of the fork, then its events are found as well', () => {
    const fork = compacted(withMore(forkByZero(aLog('p', messages(3)), 'f'), messages(2)), 1, 'own');
    const second = withMore(forkByZero(fork, 'g'), messages(1));

    expect(sequencesOf(rehydrateEvents(second))).toEqual([7, 6, 8, 9]);
  });

  test('given types that do not agree, then nothing is replaced', () => {
    const [first, ...others] = forkByZero(parent, 'f');
    const altered = [{ ...(first as StoredEvent), type: 'error' }, ...others];

    expect(sequencesOf(rehydrateEvents(altered))).toEqual([6, 1, 2, 3, 4, 5, 7]);
  });

  test('given a rewind to before the marker, then the copies are still found', () => {
    const copies = forkByZero(parent, 'f').filter((event) => event.type !== 'session_fork');
    const rewound = withMore(copies, [{ type: 'session_rewind' }]);

    expect(sequencesOf(rehydrateEvents(rewound))).toEqual([6, 4, 5, 7]);
  });

  test('given a compaction recorded after the fork with references to the parent, then no copies are counted off', () => {
    const fork = forkByZero(aLog('p', messages(3)), 'f');
    const log = withMore(fork, [compaction({ compactableEvents: refs(aLog('p', messages(2))) })]);

    expect(sequencesOf(rehydrateEvents(log))).toEqual([5, 1, 2, 3, 4]);
  });

  test('given only a last sequence of the parent and events left out, then nothing is replaced', () => {
    const cutoff = compaction({ compactedThroughEventId: 'p:3', compactedThroughSequence: 3 });
    const withUsage = forkByZero(aLog('p', [{}, { type: 'provider_usage' }, {}, {}, cutoff]), 'f');
    const without = forkByZero(aLog('p', [{}, {}, {}, {}, cutoff]), 'f');

    expect(sequencesOf(rehydrateEvents(withUsage))).toEqual([4, 1, 2, 3, 5]);
    expect(sequencesOf(rehydrateEvents(without))).toEqual([5, 4, 6]);
  });

  test('given any parent, then the fork reads as the parent does', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const chance = random(seed);
      const log = compacted(aLog('p', anyParts(chance, 1 + chance.below(12))), chance.below(5), `summary ${seed}`);
      const grown = withMore(log, anyParts(chance, chance.below(4)));
      const expected = rehydrateEvents(grown).filter((event) => event.type !== 'provider_usage');

      const fork = rehydrateEvents(forkByZero(grown, 'f'));
      const second = rehydrateEvents(forkByZero(forkByZero(grown, 'f'), 'g'));

      expect({ seed, seen: payloadsOf(fork).slice(0, -1) }).toEqual({ seed, seen: payloadsOf(expected) });
      expect({ seed, seen: payloadsOf(second).slice(0, -2) }).toEqual({ seed, seen: payloadsOf(expected) });
    }
  });
});

function compactionAt(sequence: number, through: number): EventParts {
  return { ...compaction({ compactedThroughSequence: through }), sequence };
}

const TYPES = ['message', 'message', 'tool_call', 'tool_result', 'provider_usage', 'error', 'unheard_of'];

function anyParts(chance: Random, count: number): readonly EventParts[] {
  return Array.from({ length: count }, (_, at) => ({
    type: chance.pick(TYPES),
    payload: { content: `${at}:${chance.below(1e6)}` },
  }));
}

function anyCompactedLog(chance: Random): readonly StoredEvent[] {
  let log = aLog('s', anyParts(chance, 1 + chance.below(10)));
  for (let times = chance.below(3); times > 0; times -= 1) {
    const named = refs(log.filter(() => chance.chance(0.4)));
    const payload = chance.chance(0.7)
      ? { compactableEvents: named, compactedThroughSequence: chance.below(6) }
      : { compactedThroughSequence: chance.below(log.length + 2) };
    log = withMore(log, [compaction(payload), ...anyParts(chance, chance.below(4))]);
  }
  return log;
}

/** The rule of FORMAT.md, 4, word by word. */
function literally(log: readonly StoredEvent[]): readonly string[] {
  const last = log.findLast((event) => event.type === 'session_compaction');
  if (last?.payload === undefined) return log.map(({ id }) => id);
  const payload = parseRawJson(last.payload) as { compactableEvents?: EventRef[]; compactedThroughSequence?: number };
  const named = payload.compactableEvents ?? [];
  const isReplaced = (event: StoredEvent): boolean =>
    named.length > 0
      ? named.some((ref) => ref.id === event.id)
      : event.sequence <= (payload.compactedThroughSequence ?? 0);
  const others = log.filter((event) => event !== last);
  const place = Math.max(0, others.findIndex(isReplaced));
  const seen = (events: readonly StoredEvent[]): readonly string[] =>
    events.filter((event) => !isReplaced(event)).map(({ id }) => id);
  return [...seen(others.slice(0, place)), last.id, ...seen(others.slice(place))];
}
