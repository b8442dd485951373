import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  EventNotFoundError,
  InvalidArgumentError,
  LogDamagedError,
  parseRawJson,
  rehydrateEvents,
  type StoredEvent,
} from '../../../src/index.js';
import { encodeEventLine, parseEventLine, spliceEventLine } from '../../../src/model/event-codec.js';
import { checkForkPoint, ForkCopy, forkBeginnings, forkKind } from '../../../src/plan/fork/fork.js';
import { aLog, type EventParts, messages, refs } from '../../support/stored-log.js';

const FORKED_AT = '2026-07-09T12:00:00Z';

/** Gives the log of a fork: what the decisions make of every event, and the closing one. */
function forkOf(parent: readonly StoredEvent[], forkId = 'f', at?: number): readonly StoredEvent[] {
  const parentId = parent[0]?.sessionId ?? 'p';
  const copy = new ForkCopy({ parentId, forkId, createdAt: FORKED_AT, at });
  const fork: StoredEvent[] = [];
  for (const event of parent) {
    if (!copy.reaches(event, 0)) break;
    const changes = copy.take(event);
    const line = encodeEventLine(event);
    if (changes !== undefined)
      fork.push(parseEventLine(spliceEventLine(line.subarray(0, -1), changes).subarray(0, -1)));
  }
  return [...fork, copy.marker(BigInt(parent.at(-1)?.sequence ?? 0))];
}

/** Gives the log of a fork as Zero makes it: references in compactions stay those of the parent. */
function forkByZero(parent: readonly StoredEvent[], forkId: string): readonly StoredEvent[] {
  const copied = parent.filter((event) => event.type !== 'provider_usage');
  return aLog(forkId, [
    ...copied.map(({ type, payload }) => ({ type, payload: payload && parseRawJson(payload) })),
    { type: 'session_fork', payload: payloadOf(forkOf(parent).at(-1)) },
  ]);
}

function payloadOf(event: StoredEvent | undefined): Readonly<Record<string, unknown>> {
  return parseRawJson(event?.payload as Uint8Array) as Readonly<Record<string, unknown>>;
}

function compactionOf(log: readonly StoredEvent[]): Readonly<Record<string, unknown>> {
  return payloadOf(log.find(({ type }) => type === 'session_compaction'));
}

const ids = (log: readonly StoredEvent[]): readonly string[] => log.map(({ id }) => id);

describe('what a fork copies', () => {
  test('given usage among the events, then it is left out and the others are numbered from 1', () => {
    const fork = forkOf(aLog('p', [{}, { type: 'provider_usage' }, { sequence: 7 }]));

    expect(ids(fork)).toEqual(['f:1', 'f:2', 'f:3']);
    expect(fork.map(({ type }) => type)).toEqual(['message', 'message', 'session_fork']);
  });

  test('then the closing event says where it came from and how many were copied', () => {
    const fork = forkOf(aLog('p', [{}, {}, { type: 'provider_usage' }]));

    expect(payloadOf(fork.at(-1))).toEqual({
      copiedEventCount: 2,
      forkedFromEventId: 'p:3',
      forkedFromSequence: 3,
      parentEventCount: 3,
      parentSessionId: 'p',
    });
  });

  test('given an end, then the event with that sequence is the last', () => {
    const fork = forkOf(aLog('p', messages(5)), 'f', 3);

    expect(ids(fork)).toEqual(['f:1', 'f:2', 'f:3', 'f:4']);
    expect(payloadOf(fork.at(-1))).toMatchObject({
      forkedFromEventId: 'p:3',
      forkedFromSequence: 3,
      parentEventCount: 5,
    });
  });

  test('given 0 as the end, then nothing is copied and there is no event to go on from', () => {
    const fork = forkOf(aLog('p', messages(2)), 'f', 0);

    expect(ids(fork)).toEqual(['f:1']);
    expect(payloadOf(fork[0])).toMatchObject({ copiedEventCount: 0, forkedFromEventId: '', forkedFromSequence: 0 });
  });

  test.each([
    ['in a gap', 3, [2, 5]],
    ['before the first', 1, [2]],
    ['behind the last', 9, [6]],
  ])('given an end %s, then it is not found, and the nearest are named', (_, at, nearest) => {
    const log = aLog('p', [{ sequence: 2 }, { sequence: 5 }, { sequence: 6 }]);

    expect(() => forkOf(log, 'f', at)).toThrow(expect.objectContaining({ code: 'EVENT_NOT_FOUND', nearest }));
    expect(() => forkOf(log, 'f', at)).toThrow(EventNotFoundError);
  });

  test('given a sequence that two events have as the end, then it is damage', () => {
    const log = aLog('p', [{ sequence: 1 }, { sequence: 2 }, { sequence: 2 }]);

    expect(() => forkOf(log, 'f', 2)).toThrow(LogDamagedError);
    expect(ids(forkOf(log, 'f', 1))).toEqual(['f:1', 'f:2']);
  });
});

describe('a compaction in a fork', () => {
  // Events 2 and 7 have no copy, so that the numbers of the parent and of the fork differ.
  const log = aLog('p', [{}, { type: 'provider_usage' }, {}, { sequence: 6 }, { sequence: 7, type: 'provider_usage' }]);
  const withCompaction = (payload: object): readonly StoredEvent[] => [
    ...log,
    ...aLog('p', [{ sequence: 8, type: 'session_compaction', payload: { summary: 'S', ...payload } }]),
  ];

  test('then its references are in the numbers of the fork, and those of events not copied are left out', () => {
    const fork = forkOf(
      withCompaction({
        compactedThroughEventId: 'p:3',
        compactedThroughSequence: 3,
        compactableEvents: refs(log.slice(0, 3)),
        preservedEvents: refs(log.slice(3)),
      }),
    );

    expect(compactionOf(fork)).toEqual({
      summary: 'S',
      compactedThroughEventId: 'f:2',
      compactedThroughSequence: 2,
      compactableEvents: [
        { ...refs(log)[0], id: 'f:1', sequence: 1 },
        { ...refs(log)[2], id: 'f:2', sequence: 2 },
      ],
      preservedEvents: [{ ...refs(log)[3], id: 'f:3', sequence: 3 }],
    });
  });

  test('given a cutoff at an event that is not copied, then it is at the last copied one before it', () => {
    const fork = forkOf(withCompaction({ compactedThroughEventId: 'p:7', compactedThroughSequence: 7 }));

    expect(compactionOf(fork)).toEqual({ summary: 'S', compactedThroughEventId: 'f:3', compactedThroughSequence: 3 });
  });

  test('given that it stands for events of which none is copied, then it names none', () => {
    const usage = refs(log.slice(1, 2));
    const fork = forkOf(
      withCompaction({ compactableEvents: usage, compactedThroughSequence: 2, compactedThroughEventId: 'p:2' }),
    );

    expect(compactionOf(fork)).toEqual({ summary: 'S', compactableEvents: [] });
  });

  test('then all that it does not have to change keeps its bytes', () => {
    const [first] = log;
    const payload =
      '{"z":1.0,"summary":"\\u0041","compactableEvents":[{"seen":12345678901234567890,"id":"p:1","sequence":1}],"a":1e2}';
    const event = parseEventLine(
      Buffer.from(`{"id":"p:9","sessionId":"p","sequence":9,"type":"session_compaction","payload":${payload}}`),
    );

    const fork = forkOf([first as StoredEvent, event]);

    expect(Buffer.from(fork[1]?.payload as Uint8Array).toString()).toBe(
      payload.replace('"p:1","sequence":1', '"f:1","sequence":1'),
    );
  });

  test.each([
    ['no summary', { summary: '' }],
    ['a list that is none', { compactableEvents: 5 }],
    ['references of another log', { compactableEvents: [{ id: 'x:1', sequence: 1, type: 'tool_call' }] }],
  ])('given %s, then it is copied as it stands', (_, payload) => {
    const parent = withCompaction({ compactedThroughSequence: 3, ...payload });

    expect(compactionOf(forkOf(parent))).toEqual(compactionOf(parent));
  });

  test('given references that a fork of Zero’s took over, then they are found by counting, in whatever order they stand', () => {
    const original = aLog('x', [
      { sequence: 3 },
      { sequence: 4, type: 'provider_usage' },
      { sequence: 9, type: 'error' },
    ]);
    const compactableEvents = refs(original).toReversed();
    const compaction = { type: 'session_compaction', payload: { summary: 'S', compactableEvents } };

    const fork = forkOf(aLog('p', [{}, { type: 'error' }, compaction, { type: 'session_fork' }]));

    const [message, , error] = refs(original);
    expect(compactionOf(fork).compactableEvents).toEqual([
      { ...error, id: 'f:2', sequence: 2 },
      { ...message, id: 'f:1', sequence: 1 },
    ]);
  });

  test('given a cutoff alone, in the numbers of another session, then it stands for nothing, and nothing is lost', () => {
    const fork = forkOf(withCompaction({ compactedThroughEventId: 'x:6', compactedThroughSequence: 6 }));

    expect(compactionOf(fork)).toEqual({ summary: 'S' });
  });

  test('given events with ids of another form, then they are found by them', () => {
    const line = '{"id":"one","sessionId":"p","sequence":4,"type":"message"}';
    const odd = parseEventLine(Buffer.from(line));
    const named = { id: 'one', sequence: 4, type: 'message' };
    const notNamed = { id: 'p:4', sequence: 4, type: 'message' };
    const compaction = { summary: 'S', compactableEvents: [notNamed, named] };

    const fork = forkOf([odd, ...aLog('p', [{ sequence: 5, type: 'session_compaction', payload: compaction }])]);

    expect(compactionOf(fork).compactableEvents).toEqual([{ id: 'f:1', sequence: 1, type: 'message' }]);
  });
});

describe('the replay of a fork', () => {
  /** What a model sees, without what can differ: numbers, times, usage, references, closing event. */
  const seen = (log: readonly StoredEvent[]): readonly string[] =>
    rehydrateEvents(log)
      .filter(({ type }) => type !== 'provider_usage')
      .map((event) => (event.type === 'session_compaction' ? `compaction ${payloadOf(event).summary}` : bodyOf(event)));
  const bodyOf = ({ type, payload }: StoredEvent): string =>
    `${type} ${payload === undefined ? '' : Buffer.from(payload).toString()}`;

  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('message', 'tool_call', 'tool_result', 'provider_usage', 'later_type') },
    { weight: 1, arbitrary: fc.record({ preserve: fc.nat(4), gap: fc.nat(2), by: fc.constantFrom('list', 'cutoff') }) },
  );
  const steps = fc.array(step, { maxLength: 24 });
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  /** Goes on with a log; compactions are planned as Zero plans them: all but the last events. */
  function goOn(id: string, start: readonly StoredEvent[], more: readonly Step[]): readonly StoredEvent[] {
    const log = [...start];
    for (const [at, each] of more.entries()) {
      const sequence = (log.at(-1)?.sequence ?? 0) + 1;
      if (typeof each === 'string') log.push(...aLog(id, [{ sequence, type: each, payload: { id, at } }]));
      else log.push(...aLog(id, [compactionAfter(log, sequence + each.gap, each, `${id} ${at}`)]));
    }
    return log;
  }

  function compactionAfter(
    log: readonly StoredEvent[],
    sequence: number,
    { preserve, by }: Exclude<Step, string>,
    summary: string,
  ): EventParts {
    const cut = Math.max(0, log.length - preserve);
    const last = log[cut - 1];
    const through =
      last === undefined ? {} : { compactedThroughEventId: last.id, compactedThroughSequence: last.sequence };
    const lists = { compactableEvents: refs(log.slice(0, cut)), preservedEvents: refs(log.slice(cut)) };
    return {
      sequence,
      type: 'session_compaction',
      payload: { summary, ...through, ...(by === 'list' ? lists : {}) },
    };
  }

  test('given any log, however often compacted, then it is that of the parent', () => {
    fc.assert(
      fc.property(steps, (first) => {
        const parent = goOn('p', [], first);

        expect(seen(forkOf(parent).slice(0, -1))).toEqual(seen(parent));
      }),
      { numRuns: 300 },
    );
  });

  test('given a fork of a fork, then it is that of the fork', () => {
    fc.assert(
      fc.property(steps, steps, steps, (first, second, third) => {
        const fork = goOn('f', forkOf(goOn('p', [], first)), second);
        const again = goOn('g', forkOf(fork, 'g'), third);

        expect(seen(forkOf(fork, 'g').slice(0, -1))).toEqual(seen(fork));
        expect(seen(forkOf(again, 'h').slice(0, -1))).toEqual(seen(again));
      }),
      { numRuns: 150 },
    );
  });

  test('given a fork that Zero made, whose compactions name the events of its parent, then it is that of the fork', () => {
    const listed = steps.map((all) => all.map((each) => (typeof each === 'string' ? each : { ...each, by: 'list' })));
    fc.assert(
      fc.property(listed, steps, fc.boolean(), (first, second, twice) => {
        const once = forkByZero(goOn('p', [], first as Step[]), 'y');
        const parent = twice ? goOn('z', forkByZero(once, 'z'), second) : goOn('y', once, second);

        expect(seen(forkOf(parent).slice(0, -1))).toEqual(seen(parent));
      }),
      { numRuns: 300 },
    );
  });

  test('given an end, then it is that of the events up to there', () => {
    fc.assert(
      fc.property(steps, fc.nat(24), (first, at) => {
        const parent = goOn('p', [], first);
        const end = parent[at];
        fc.pre(end !== undefined);

        expect(seen(forkOf(parent, 'f', end?.sequence).slice(0, -1))).toEqual(seen(parent.slice(0, at + 1)));
      }),
      { numRuns: 150 },
    );
  });
});

describe('what a fork begins with', () => {
  const parent = {
    sessionId: 'p',
    title: 'Parent',
    cwd: '/p',
    modelId: 'm',
    provider: 'v',
    tag: 't',
    depth: 3,
    createdAt: FORKED_AT,
    updatedAt: FORKED_AT,
    eventCount: 4,
  };

  test('given no wishes, then it comes from the parent, but for tag and depth', () => {
    expect(forkBeginnings(parent, {})).toEqual({
      sessionKind: 'fork',
      title: 'Parent (fork)',
      cwd: '/p',
      modelId: 'm',
      provider: 'v',
      tag: '',
      parentSessionId: 'p',
      rootSessionId: 'p',
    });
  });

  test('given wishes, then they come first, trimmed, and blank ones do not count', () => {
    const wishes = { title: ' Mine ', cwd: ' ', modelId: 'n', tag: ' u ', sessionKind: 'side' };

    expect(forkBeginnings({ ...parent, rootSessionId: 'r' }, wishes)).toMatchObject({
      sessionKind: 'side',
      title: 'Mine',
      cwd: '/p',
      modelId: 'n',
      tag: 'u',
      rootSessionId: 'r',
    });
  });

  test.each(['child', 'Fork', 'spec-impl', 'x'])('given the kind %j, then it is refused', (kind) => {
    expect(() => forkKind(kind)).toThrow(InvalidArgumentError);
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 53])('given the end %d, then it is refused', (at) => {
    expect(() => checkForkPoint(at)).toThrow(InvalidArgumentError);
  });
});
