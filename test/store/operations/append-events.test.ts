import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/cli/report/exit-codes.js';
import {
  type ErrorCode,
  type EventInput,
  parseRawJson,
  rawJson,
  type SessionStore,
  type StoredEvent,
} from '../../../src/index.js';
import { aLine, aMessage } from '../../support/event-builder.js';
import { type Fault, faultyFileSystem } from '../../support/faulty-file-system.js';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const code = (expected: ErrorCode) => expect.objectContaining({ code: expected });
const sequencesIn = (log: string): readonly number[] =>
  log
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => (JSON.parse(line) as { sequence: number }).sequence);

const isNoSync = (call: string): boolean => !call.startsWith('fsync') && !call.startsWith('syncFolder');

describe('finding 28: the time of a session after an append', () => {
  test.each([
    ['a day and a second ahead', '2026-07-10T12:00:01Z', '2026-07-09T12:00:00Z'],
    ['years ahead', '2099-01-01T00:00:00Z', '2026-07-09T12:00:00Z'],
    ['a day ahead', '2026-07-10T12:00:00Z', '2026-07-10T12:00:00Z'],
    ['in the past', '2026-07-09T11:59:59Z', '2026-07-09T12:00:00Z'],
  ])('given one %s, then it is %s → %s', async (_, updatedAt, after) => {
    const { store, id } = tempStore(aSession().withMessages(1).withMetadata({ updatedAt }));

    await store.appendEvent(id, aMessage());

    expect((await store.get(id))?.updatedAt).toBe(after);
  });

  test('given a cut, then a time that is yet to come does not stick either', async () => {
    const { store, id } = tempStore(aSession().withMessages(3).withMetadata({ updatedAt: '2099-01-01T00:00:00Z' }));

    await store.truncateEvents(id, 1);

    expect((await store.get(id))?.updatedAt).toBe('2026-07-09T12:00:00Z');
  });
});

describe('finding 33: metadata that lag behind a damaged log', () => {
  const damaged = () =>
    aSession()
      .withMessages(1)
      .withLine('{"id":"s:2","sequence":')
      .withEvent({ sequence: 3 })
      .withMetadata({ eventCount: 1 });
  const writers: readonly (readonly [string, (store: SessionStore, id: string) => Promise<unknown>])[] = [
    ['a guarded append', (store, id) => store.appendEventUnlessAny(id, aMessage(), () => false)],
    ['a rewind', (store, id) => store.rewind(id, { target: 1 })],
    ['a cut', (store, id) => store.truncateEvents(id, 1)],
    ['an undo', (store, id) => store.undoRewind(id)],
    ['an undo of a compaction', (store, id) => store.undoCompaction(id)],
    ['a fork', (store, id) => store.fork(id)],
  ];

  test.each(writers)('given %s that is refused, then nothing is written', async (_, write) => {
    for (const tail of ['', '{"id":"s:4","sequ']) {
      const { store, id, path } = tempStore(damaged().withTail(tail));
      const before = contents(path());

      await expect(write(store, id)).rejects.toMatchObject({
        code: expect.stringMatching(/LOG_DAMAGED|REWIND_NOT_FOUND/),
      });

      expect(contents(path())).toEqual(before);
    }
  });

  test.each(['{"id":"s:4","sequence":', 'null'])(
    'given a last line %j, then an append writes nothing',
    async (line) => {
      const { store, id, path } = tempStore(damaged().withTail(`${line}\n`));
      const before = contents(path());

      await expect(store.appendEvent(id, aMessage())).rejects.toEqual(code('LOG_DAMAGED'));

      expect(contents(path())).toEqual(before);
    },
  );

  test('given no damage, then they are mended with the time of the last event, also where nothing else is written', async () => {
    const { store, id } = tempStore(aSession().withMessages(3).withStaleMetadata({ eventCount: 1 }));

    await store.appendEventUnlessExists(id, aMessage(), () => true);

    expect(await store.get(id)).toMatchObject({ eventCount: 3, updatedAt: '2026-07-09T11:00:00Z' });
  });
});

describe('finding 32: sequences that a number cannot hold', () => {
  const LAST = '9007199254740993';
  const huge = (id = 's') =>
    aSession(id)
      .withMessages(1)
      .withEvent({ sequence: LAST as unknown as number });
  const writers: readonly (readonly [string, (store: SessionStore, id: string) => Promise<unknown>])[] = [
    ['an append', (store, id) => store.appendEvent(id, aMessage())],
    ['a rewind', (store, id) => store.rewind(id, { target: 1 })],
    ['the plan of a rewind', (store, id) => store.previewRewind(id, { target: 1 })],
    ['a cut', (store, id) => store.truncateEvents(id, 1)],
    ['a fork', (store, id) => store.fork(id)],
    ['a child', (store, id) => store.createChild(id)],
    ['a goal', (store, id) => store.createGoal(id, 'all of it')],
    ['a spec', (store, id) => store.recordSpec(id, { specId: 'x', specStatus: 'draft' })],
  ];

  test.each(writers)('given one in the log, then %s is refused, names it, and writes nothing', async (_, write) => {
    for (const tail of ['', '{"id":"s:4","sequ']) {
      const { store, id, path, root } = tempStore(huge().withMetadataText(metadataOf(LAST)).withTail(tail));
      const before = contents(path());

      const error: unknown = await write(store, id).catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({ code: 'SEQUENCE_EXHAUSTED', message: expect.stringContaining(LAST) });
      expect(contents(path())).toEqual(before);
      expect(readdirSync(root)).toEqual(['s']);
    }
  });

  test('given one in the metadata only, then an append is refused, a fork goes on, and a new title keeps every digit', async () => {
    const { store, id, text } = tempStore(aSession().withMessages(1).withMetadataText(metadataOf(LAST)));

    await expect(store.appendEvent(id, aMessage())).rejects.toMatchObject({ message: expect.stringContaining(LAST) });
    await store.updateTitle(id, 'T');
    const fork = await store.fork(id);

    expect(text('metadata.json')).toContain(`"eventCount": ${LAST},`);
    expect((await store.readEvents(fork.sessionId)).at(-1)?.payload).toEqual(
      rawJson(
        `{"copiedEventCount":1,"forkedFromEventId":"s:1","forkedFromSequence":1,"parentEventCount":${LAST},"parentSessionId":"s"}`,
      ),
    );
  });

  test('given a list and a log, then every digit is shown, as text and as JSON', async () => {
    const { root } = tempStore(huge().withMetadataText(metadataOf(LAST)));

    for (const line of [
      'list',
      'list --json',
      'show s',
      'show s --json',
      'show s --jsonl',
      'show s -q',
      'tree',
      'show s --events',
    ]) {
      const { out } = await runCommandLine(line.split(' '), { root });
      expect(out, line).toContain(LAST);
      expect(out, line).not.toContain('9007199254740992');
    }
  });

  function metadataOf(eventCount: string): string {
    return `{\n  "sessionId": "s",\n  "createdAt": "2026-07-09T10:00:00Z",\n  "updatedAt": "2026-07-09T11:00:00Z",\n  "eventCount": ${eventCount},\n  "lastEventType": "message"\n}\n`;
  }
});

describe('the sequence of an appended event', () => {
  test.each<[string, SessionBuilder, number]>([
    ['metadata that agree', aSession().withMessages(3), 4],
    ['metadata that lag the log', aSession().withMessages(3).withStaleMetadata({ eventCount: 2 }), 4],
    ['metadata that count nothing', aSession().withMessages(3).withStaleMetadata({ eventCount: 0 }), 4],
    ['metadata ahead of the log', aSession().withMessages(3).withStaleMetadata({ eventCount: 9 }), 10],
    ['an empty log', aSession(), 1],
    ['a blank last line', aSession().withMessages(3).withStaleMetadata({ eventCount: 2 }).withTail('\n'), 4],
    ['gaps', aSession().withEvent({ sequence: 1 }).withEvent({ sequence: 6 }).withStaleMetadata({ eventCount: 2 }), 7],
    ['a torn tail', aSession().withMessages(2).withTail('{"id":"s:3","sequence":3,'), 3],
    ['a fragment and nothing else', aSession().withTail('{"id":"s:1","sequence":1,'), 1],
    [
      'a whole line without newline',
      aSession()
        .withMessages(2)
        .withTail(aLine({ sequence: 5 })),
      6,
    ],
    ['NUL bytes at the end', aSession().withMessages(2).withTail('\0\0\0\0'), 3],
    ['space at the end', aSession().withMessages(2).withTail('   '), 3],
    ['CRLF', aSession().withTail(`${aLine()}\r\n`), 2],
  ])('given %s, then it is the next that was never used', async (_, session, sequence) => {
    const { store, id, text } = tempStore(session);

    const event = await store.appendEvent(id, aMessage());

    expect(event).toMatchObject({ id: `s:${sequence}`, sessionId: 's', sequence });
    expect(text('events.jsonl')).toMatch(/\n$/);
    expect((await store.readEvents(id)).at(-1)).toEqual(event);
    expect(await store.get(id)).toMatchObject({ eventCount: sequence, lastEventType: 'message' });
  });

  test('given any mix of appends and metadata that are set back, then none comes up twice', async () => {
    const action = fc.oneof(fc.constantFrom('append', 'batch'), fc.nat(9));
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 10 }), async (actions) => {
        const { store, id, path, text } = tempStore(aSession().withMessages(2));
        for (const [at, what] of actions.entries()) {
          if (what === 'append') await store.appendEvent(id, aMessage(`${at}`));
          else if (what === 'batch') await store.appendEvents(id, [aMessage(`${at}`), aMessage(`${at}b`)]);
          else
            writeFileSync(path('metadata.json'), aSession().withMetadata({ eventCount: what }).build().metadata ?? '');
        }

        const sequences = sequencesIn(text('events.jsonl'));

        expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
      }),
      { numRuns: 25 },
    );
  });

  test.each([Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 2 ** 60])(
    'given %i events counted, then there is none left and nothing is written',
    async (eventCount) => {
      const { store, id, text } = tempStore(aSession().withMessages(1).withMetadata({ eventCount }));
      const before = [text('events.jsonl'), text('metadata.json')];

      await expect(store.appendEvent(id, aMessage())).rejects.toEqual(code('SEQUENCE_EXHAUSTED'));

      expect([text('events.jsonl'), text('metadata.json')]).toEqual(before);
    },
  );
});

describe('what an append writes', () => {
  test('given a batch, then it is one write, synced before the metadata are replaced', async () => {
    const fileSystem = faultyFileSystem({ nth: Number.POSITIVE_INFINITY, as: 'EIO' });
    const { store, id, text } = tempStore(aSession(), { fileSystem });

    const events = await store.appendEvents(id, [aMessage('a'), aMessage('b'), { type: 'error' }]);

    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(fileSystem.calls.map((call) => call.split(' ')[0])).toEqual([
      ...['write', 'fsync'],
      ...['create', 'write', 'fsync', 'rename', 'syncFolder'],
    ]);
    expect(text('events.jsonl').split('\n')).toHaveLength(4);
  });

  test('given a message, then the line is the one that Zero would write', async () => {
    const { store, id, text } = tempStore(aSession());

    await store.appendEvent(id, { type: 'message', payload: { role: 'user', content: '<é>' } });

    expect(text('events.jsonl')).toBe(
      '{"id":"s:1","sessionId":"s","sequence":1,"type":"message","createdAt":"2026-07-09T12:00:00Z",' +
        '"payload":{"content":"\\u003cé\\u003e","role":"user"}}\n',
    );
  });

  test('given a fraction of a second on the clock, then it is cut', async () => {
    const { store, id, clock } = tempStore(aSession());
    clock.pass(999);

    expect((await store.appendEvent(id, aMessage())).createdAt).toBe('2026-07-09T12:00:00Z');
  });

  test('given a clock that was set back, then updatedAt stays where it was', async () => {
    const { store, id, clock } = tempStore(aSession().withMetadata({ updatedAt: '2026-07-09T12:00:00Z' }));
    clock.pass(-3_600_000);

    const event = await store.appendEvent(id, aMessage());

    expect(event.createdAt).toBe('2026-07-09T11:00:00Z');
    expect((await store.get(id))?.updatedAt).toBe('2026-07-09T12:00:00Z');
  });

  test('given an updatedAt with an offset that is earlier though its text is higher, then it moves on', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ updatedAt: '2026-07-09T15:00:00+05:00' }));

    await store.appendEvent(id, aMessage());

    expect((await store.get(id))?.updatedAt).toBe('2026-07-09T12:00:00Z');
  });

  test('given a torn tail, then the fragment is kept and told of', async () => {
    const { store, id, path, warnings } = tempStore(aSession().withMessages(1).withTail('{"id":"s:2"'));

    await store.appendEvent(id, aMessage());

    const [kept] = readdirSync(path('.zs/torn'));
    expect(readFileSync(path('.zs/torn', kept as string), 'utf8')).toBe('{"id":"s:2"');
    expect(warnings).toEqual([expect.objectContaining({ code: 'TORN_TAIL', sessionId: 's' })]);
  });

  test('given no log and none counted, then it is made, private to the user', async () => {
    const { store, id, mode } = tempStore(aSession().withoutLog());

    await store.appendEvent(id, aMessage());

    expect(mode('events.jsonl')).toBe(0o600);
  });

  test('given a line of 5 MB, then it is read back as it was given', async () => {
    const { store, id } = tempStore(aSession().withMessages(1));
    const content = 'é<'.repeat(1_250_000);

    const event = await store.appendEvent(id, aMessage(content));
    await store.appendEvent(id, aMessage('after'));

    const events = await store.readEvents(id);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    // Byte by byte through a matcher would take a minute.
    expect(Buffer.compare(events[1]?.payload as Uint8Array, event.payload as Uint8Array)).toBe(0);
    expect((parseRawJson(events[1]?.payload as Uint8Array) as { content: string }).content).toBe(content);
  });

  test('given a session id in space, then the session is found by the trimmed one', async () => {
    const { store } = tempStore(aSession());

    expect((await store.appendEvent(' s\u0085', aMessage())).sessionId).toBe('s');
  });
});

describe('a batch', () => {
  test.each<[string, EventInput]>([
    ['a blank type', { type: ' \u2003' }],
    ['raw text that is no JSON', { type: 'message', payload: rawJson('{"a":') }],
    ['a value that JSON cannot hold', { type: 'message', payload: { at: Number.NaN } }],
  ])('given %s in it, then all of it is refused and no file is touched', async (_, bad) => {
    const fileSystem = faultyFileSystem({ nth: Number.POSITIVE_INFINITY, as: 'EIO' });
    const { store, id } = tempStore(aSession().withMessages(1).withTail('{"torn'), { fileSystem });

    await expect(store.appendEvents(id, [aMessage(), bad])).rejects.toEqual(code('INVALID_ARGUMENT'));

    expect(fileSystem.calls).toEqual([]);
  });

  test('given nothing in it, then it succeeds and touches nothing, whatever the session', async () => {
    const { store } = tempStore();

    expect(await store.appendEvents('nobody', [])).toEqual([]);
    await expect(store.appendEvents('not an id', [])).rejects.toEqual(code('INVALID_ID'));
  });
});

describe('a session that nothing is appended to', () => {
  test.each<[string, SessionBuilder, ErrorCode]>([
    ['metadata that are no JSON', aSession().withMessages(1).withMetadataText('{'), 'METADATA_DAMAGED'],
    ['empty metadata', aSession().withMessages(1).withMetadataText(''), 'METADATA_DAMAGED'],
    ['a log and no metadata', aSession().withMessages(1).withoutMetadata(), 'METADATA_MISSING'],
    ['a log that is lost', aSession().withMessages(1).withoutLog(), 'LOG_MISSING'],
    ['a malformed last line', aSession().withMessages(1).withLine('{"id"'), 'LOG_DAMAGED'],
    ['a malformed last line and blanks', aSession().withMessages(1).withLine('{}').withTail('\n\n'), 'LOG_DAMAGED'],
    [
      'the metadata of another session',
      aSession().withMessages(1).withMetadata({ sessionId: 't' }),
      'METADATA_DAMAGED',
    ],
    ['metadata of a torn log', aSession().withMetadataText('{').withTail('{"id"'), 'METADATA_DAMAGED'],
  ])('given %s, then the append fails and every byte stays', async (_, session, expected) => {
    const { store, id, path } = tempStore(session);
    const before = contents(path());

    await expect(store.appendEvent(id, aMessage())).rejects.toEqual(code(expected));
    await expect(store.appendEventUnlessExists(id, aMessage())).rejects.toEqual(code(expected));

    expect(contents(path())).toEqual(before);
  });

  test('25. given a log that is gone though events were counted, then it is told as a loss, and no new log begins', async () => {
    const { store, id, root, path } = tempStore(aSession().withMessages(3).withoutLog());
    const before = contents(path());

    for (const write of [
      store.appendEvent(id, aMessage()),
      store.appendEventUnlessAny(id, aMessage(), () => false),
      store.rewind(id, { target: 0 }),
      store.fork(id),
      store.createChild(id),
      store.recordSpec(id, { specId: 'x', specStatus: 'draft' }),
      store.createGoal(id, 'all of it'),
    ]) {
      await expect(write).rejects.toMatchObject({ code: 'LOG_MISSING', message: expect.stringContaining('3 events') });
    }
    const shown = await runCommandLine(['show', id], { root });

    expect([shown.code, shown.err]).toEqual([5, expect.stringContaining('3 events')]);
    expect(contents(path())).toEqual(before);
  });

  test('given neither metadata nor log, then there is no such session', async () => {
    const { store } = tempStore(aSession().withoutLog().withoutMetadata());

    await expect(store.appendEvent('s', aMessage())).rejects.toEqual(code('SESSION_NOT_FOUND'));
    await expect(store.appendEvent('nobody', aMessage())).rejects.toEqual(code('SESSION_NOT_FOUND'));
  });

  test('36. given a folder that was copied, then neither copy nor original is written through the copy', async () => {
    const { store, root } = tempStore(aSession().withMessages(2));
    cpSync(join(root, 's'), join(root, 'copy'), { recursive: true });
    const before = [contents(join(root, 's')), contents(join(root, 'copy'))];

    await expect(store.appendEvent('copy', aMessage())).rejects.toEqual(code('METADATA_DAMAGED'));
    await expect(store.updateTitle('copy', 'x')).rejects.toEqual(code('METADATA_DAMAGED'));
    await expect(store.truncateEvents('copy', 1)).rejects.toEqual(code('METADATA_DAMAGED'));

    expect([contents(join(root, 's')), contents(join(root, 'copy'))]).toEqual(before);
  });
});

describe('an append that fails', () => {
  const faults: readonly Fault['as'][] = ['EIO', 'ENOSPC', 'half', 'short'];

  test.each(faults)(
    '17, 19. given %s at any call, then the log has all of the batch or none, and goes on',
    async (as) => {
      const before = aSession().withMessages(2);
      const lines = before.build().events?.toString() ?? '';
      for (let nth = 1; ; nth += 1) {
        const fileSystem = faultyFileSystem({ nth, as });
        const { store, id, deps, text, warnings, path } = tempStore(before, { fileSystem });
        const outcome = await store.appendEvents(id, [aMessage('a'), aMessage('b')]).then(
          () => 'appended',
          () => 'failed',
        );
        if (!fileSystem.hit) break;

        const log = text('events.jsonl');
        if (outcome === 'failed') expect(log).toBe(lines);
        else expect(sequencesIn(log)).toEqual([1, 2, 3, 4]);
        if (outcome === 'appended' && as !== 'short')
          expect(warnings[0]).toMatchObject({ code: 'METADATA_NOT_WRITTEN' });
        const again = await tempStoreOn(deps.root).appendEvent(id, aMessage('c'));
        expect(again.sequence).toBe(outcome === 'failed' ? 3 : 5);
        expect(readdirSync(path()).filter((name) => name.startsWith('.zs-tmp-'))).toEqual([]);
      }
    },
  );

  test('20. given a sync that fails, then it is said that nobody knows, and the sync is not tried again', async () => {
    const fileSystem = faultyFileSystem({ on: 'fsync', nth: 1, as: 'EIO' });
    const { store, id, text } = tempStore(aSession().withMessages(1), { fileSystem });

    await expect(store.appendEvent(id, aMessage())).rejects.toMatchObject({
      code: 'DURABILITY_UNKNOWN',
      message: expect.stringContaining('durability unknown'),
    });

    expect(fileSystem.calls.filter((call) => call === 'fsync')).toHaveLength(1);
    expect(sequencesIn(text('events.jsonl'))).toEqual([1]);
    expect(EXIT_CODES.DURABILITY_UNKNOWN).toBeGreaterThan(0);
  });

  test('23. given metadata that cannot be written, then the events stand, with a warning, and the next writer puts the counts right', async () => {
    const fileSystem = faultyFileSystem({ on: 'rename', nth: 1, as: 'ENOSPC' });
    const { store, id, text, warnings } = tempStore(aSession().withMessages(1), { fileSystem });
    const isGoal = (event: StoredEvent): boolean => event.type === 'message' && event.sequence > 1;

    const event = await store.appendEvent(id, aMessage());

    expect(warnings).toEqual([expect.objectContaining({ code: 'METADATA_NOT_WRITTEN', sessionId: 's' })]);
    expect((await store.get(id))?.eventCount).toBe(1);
    expect(event.sequence).toBe(2);
    expect((await store.appendEventUnlessAny(id, aMessage(), isGoal)).appended).toBe(false);
    expect((await store.get(id))?.eventCount).toBe(2);
    await store.appendEvent(id, aMessage());
    expect((await store.get(id))?.eventCount).toBe(3);
    expect(sequencesIn(text('events.jsonl'))).toEqual([1, 2, 3]);
  });

  test('29. given a lock that was lost, then nothing is written', async () => {
    const lost = Object.assign(new Error('lost'), { name: 'LockLostError' });
    const { store, id, text } = tempStore(aSession().withMessages(1), {
      locks: { withLock: (_id, _folder, work) => work({ assertHeld: () => thrown(lost), appendOnly: undefined }) },
    });
    const before = text('events.jsonl');

    await expect(store.appendEvent(id, aMessage())).rejects.toBe(lost);

    expect(text('events.jsonl')).toBe(before);
  });
});

describe('metadata that we do not know', () => {
  const session = aSession()
    .withMessages(2)
    .withMetadata({ cwd: '/w', goal: undefined, future: { b: 1, a: [1] }, version: 7 });
  const writers: readonly [string, (store: SessionStore) => Promise<unknown>][] = [
    ['appendEvent', (store) => store.appendEvent('s', aMessage())],
    ['updateTitle', (store) => store.updateTitle('s', 'new')],
    ['updateTitleIfCurrent', (store) => store.updateTitleIfCurrent('s', '', 'new')],
    ['updateModel', (store) => store.updateModel('s', 'new')],
    ['truncateEvents', (store) => store.truncateEvents('s', 1)],
    ['recordSpec', (store) => store.recordSpec('s', { specId: 'x', specStatus: 'draft', specFilePath: '/x.md' })],
    ['createGoal', (store) => store.createGoal('s', 'all of it')],
    ['applyRewind', (store) => store.applyRewind('s', '/tmp', 1)],
    [
      'planning and recording a compaction',
      async (store) => {
        const plan = await store.planCompaction('s', { preserveLast: 1 });
        await store.recordCompaction('s', { plan, summary: 'short' });
      },
    ],
  ];

  test.each(writers)('given %s, then they survive as they are spelt', async (_, write) => {
    const { store, text } = tempStore(session);
    const before = text('metadata.json');

    await write(store);

    expect(text('metadata.json')).not.toBe(before);
    const members = JSON.parse(text('metadata.json')) as object;
    expect(members).toMatchObject({ future: { b: 1, a: [1] }, version: 7 });
  });
});

describe('metadata that lag behind the log', () => {
  const spec = (status: string): string => JSON.stringify({ specId: 'x', specStatus: status });
  const lagging = aSession()
    .withMessages(1)
    .withEvent({ type: 'spec_rejected', payload: spec('rejected') })
    .withEvent({ type: 'spec_draft', payload: spec('draft'), createdAt: '2026-07-09T11:30:00Z' })
    .withEvent({ type: 'error', createdAt: '2026-07-09T11:30:00Z' });

  test('given any writer, then it first puts right what the events say', async () => {
    const { store, id } = tempStore(lagging.withStaleMetadata({ eventCount: 2, lastEventType: 'spec_rejected' }));

    expect(await store.updateTitle(id, 'new')).toMatchObject({
      eventCount: 4,
      lastEventType: 'error',
      updatedAt: '2026-07-09T11:30:00Z',
      specStatus: 'draft',
    });
  });

  test('given a last event of the type that is recorded already, then it is counted all the same', async () => {
    const { store, id } = tempStore(aSession().withMessages(3).withStaleMetadata({ eventCount: 2 }));

    expect((await store.updateTitle(id, 'new')).eventCount).toBe(3);
  });

  test('given events that were counted, then what the metadata say of them stands', async () => {
    const counted = lagging.withMetadata({ specStatus: 'approved' });
    const { store, id } = tempStore(counted.withStaleMetadata({ eventCount: 3, lastEventType: 'spec_draft' }));

    expect(await store.updateTitle(id, 'new')).toMatchObject({ eventCount: 4, specStatus: 'approved' });
  });

  test('given counts that are right, then a writer that changes nothing writes nothing', async () => {
    const fileSystem = faultyFileSystem({ on: 'write', nth: 1, as: 'EIO' });
    const { store, id } = tempStore(lagging.withMetadata({ title: 'old', lastEventType: 'error' }), { fileSystem });

    await store.updateTitle(id, 'old');

    expect(fileSystem.calls.filter(isNoSync)).toEqual([]);
  });
});

describe('appendEventUnlessExists', () => {
  const hasGoal = (events: readonly StoredEvent[]): boolean => events.some(({ type }) => type === 'error');

  test('given an event that is there already, then nothing is appended', async () => {
    const { store, id, text } = tempStore(aSession().withEvent({ type: 'error' }).withMessages(1));
    const before = text('events.jsonl');

    expect(await store.appendEventUnlessExists(id, aMessage(), hasGoal)).toEqual({ appended: false, event: null });
    expect(await store.appendEventUnlessAny(id, aMessage(), ({ type }) => type === 'error')).toEqual({
      appended: false,
      event: null,
    });
    expect(text('events.jsonl')).toBe(before);
  });

  test('given none that fits, then the event is appended once', async () => {
    const { store, id } = tempStore(aSession().withMessages(2));

    const first = await store.appendEventUnlessExists(id, { type: 'error' }, hasGoal);
    const second = await store.appendEventUnlessAny(id, { type: 'error' }, ({ type }) => type === 'error');

    expect(first).toMatchObject({ appended: true, event: { sequence: 3, type: 'error' } });
    expect(second.appended).toBe(false);
  });

  test('given no condition, then the event is always appended', async () => {
    const { store, id } = tempStore(aSession());

    expect((await store.appendEventUnlessExists(id, aMessage())).event?.sequence).toBe(1);
    expect((await store.appendEventUnlessExists(id, aMessage())).event?.sequence).toBe(2);
  });

  test('given a damaged log, then the condition cannot be judged and nothing is appended', async () => {
    const { store, id } = tempStore(aSession().withLine('broken').withEvent({ sequence: 2 }));

    await expect(store.appendEventUnlessExists(id, aMessage(), () => false)).rejects.toEqual(code('LOG_DAMAGED'));
  });
});

describe('a title', () => {
  test('given a new one, then it is trimmed and the time of the last activity stays', async () => {
    const { store, id } = tempStore(aSession());

    expect(await store.updateTitle(id, ' \u2003new\u0085')).toMatchObject({
      title: 'new',
      updatedAt: '2026-07-09T11:00:00Z',
    });
  });

  test('given the one that it has, then it is only synced, since who wrote it may have been killed before', async () => {
    const fileSystem = faultyFileSystem({ on: 'write', nth: 1, as: 'EIO' });
    const { store, id } = tempStore(aSession().withMetadata({ title: 'old', modelId: 'm' }), { fileSystem });

    expect((await store.updateTitle(id, ' old ')).title).toBe('old');
    expect((await store.updateTitleIfCurrent(id, 'old', 'old')).applied).toBe(true);
    expect((await store.updateModel(id, ' m ')).modelId).toBe('m');

    expect(fileSystem.calls.filter(isNoSync)).toEqual([]);
    expect(fileSystem.calls.filter((call) => call === 'fsync')).toHaveLength(3);
  });

  test.each(['', ' ', '\u2028'])('given %j, then it is refused', async (title) => {
    const { store, id } = tempStore(aSession());

    await expect(store.updateTitle(id, title)).rejects.toEqual(code('INVALID_ARGUMENT'));
    await expect(store.updateTitleIfCurrent(id, '', title)).rejects.toEqual(code('INVALID_ARGUMENT'));
  });

  test.each([
    ['auto', ' auto ', true],
    ['auto', 'other', false],
    [undefined, '', true],
    ['auto', '', false],
    ['new', 'auto', false],
  ])('given the title %j and the expected %j, then the new one is in force: %s', async (title, expected, applied) => {
    const { store, id } = tempStore(aSession().withMetadata({ title }));

    const result = await store.updateTitleIfCurrent(id, expected, 'new');

    expect(result.applied).toBe(applied);
    expect(result.session.title).toBe(applied ? 'new' : title);
  });

  test('given a blank model, then the session has none', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ modelId: 'm' }));

    expect(await store.updateModel(id, ' ')).not.toHaveProperty('modelId');
  });
});

describe('files that are written again', () => {
  test.each([0o000, 0o077])(
    '54. given the mask %o, then they and their folders are private to the user',
    async (mask) => {
      const before = process.umask(mask);
      try {
        const { store, id, path, mode } = tempStore(aSession().withMessages(1).withTail('{"torn'));
        rmSync(path('metadata.json'));
        writeFileSync(path('metadata.json'), aSession().withMessages(1).build().metadata ?? '', { mode: 0o644 });

        await store.appendEvent(id, aMessage());

        expect([mode('metadata.json'), mode('.zs'), mode('.zs/torn')]).toEqual([0o600, 0o700, 0o700]);
      } finally {
        process.umask(before);
      }
    },
  );
});

function tempStoreOn(root: string): SessionStore {
  return tempStore([], { root }).store;
}

function contents(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.sort().map((path) => [path, readFileSync(path, 'latin1')]));
}

function thrown(error: Error): never {
  throw error;
}
