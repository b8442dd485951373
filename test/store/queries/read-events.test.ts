import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { ErrorCode, ReadOptions, SessionStore } from '../../../src/index.js';
import { aLine } from '../../support/event-builder.js';
import { faultyFileSystem } from '../../support/faulty-file-system.js';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const code = (expected: ErrorCode) => expect.objectContaining({ code: expected });
const gaps = aSession()
  .withEvent({ sequence: 1 })
  .withEvent({ sequence: 3 })
  .withEvent({ sequence: 4 })
  .withEvent({ sequence: 9 });

async function taken<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('events as a stream', () => {
  test.each<[ReadOptions, readonly number[]]>([
    [{}, [1, 3, 4, 9]],
    [{ from: 3 }, [3, 4, 9]],
    [{ from: 2, to: 8 }, [3, 4]],
    [{ to: 3 }, [1, 3]],
    [{ from: 5, to: 8 }, []],
    [{ from: 10 }, []],
    [{ direction: 'backwards' }, [9, 4, 3, 1]],
    [{ direction: 'backwards', from: 3, to: 4 }, [4, 3]],
    [{ direction: 'backwards', from: 2, to: 8 }, [4, 3]],
  ])('given %j, then the sequences are %j', async (options, sequences) => {
    const { store } = tempStore(gaps);

    const events = await taken(store.events('s', options));

    expect(events.map(({ sequence }) => sequence)).toEqual(sequences);
  });

  test('given a torn tail, then it is left out in both directions', async () => {
    const { store } = tempStore(aSession().withMessages(2).withTail('{"id'));

    expect(await taken(store.events('s'))).toHaveLength(2);
    expect(await taken(store.events('s', { direction: 'backwards' }))).toHaveLength(2);
  });

  test.each<[string, (store: SessionStore) => AsyncIterable<unknown>]>([
    ['events', (store) => store.events('s')],
    ['events backwards', (store) => store.events('s', { direction: 'backwards' })],
    ['scanEvents', (store) => store.scanEvents('s')],
    ['rawLines', (store) => store.rawLines('s')],
    ['replayEvents', (store) => store.replayEvents('s')],
  ])('given a folder in the place of the log, then %s tells that with an error of ours', async (_, read) => {
    const { store, path } = tempStore(aSession().withoutLog());
    mkdirSync(path('events.jsonl'));

    await expect(taken(read(store))).rejects.toMatchObject({ code: 'PATH_REFUSED' });
  });

  test('given damage after the last event wanted, then it does not matter', async () => {
    const { store } = tempStore(
      aSession().withMessages(3).withLine('broken').withEvent({ sequence: 5 }).withEvent({ sequence: 6 }),
    );

    expect(await taken(store.events('s', { to: 2 }))).toHaveLength(2);
    expect(await taken(store.events('s', { from: 6, direction: 'backwards' }))).toHaveLength(1);
    await expect(taken(store.events('s'))).rejects.toMatchObject({ code: 'LOG_DAMAGED', line: 4 });
    await expect(taken(store.events('s', { direction: 'backwards' }))).rejects.toMatchObject({
      code: 'LOG_DAMAGED',
      line: undefined,
    });
  });

  test('given a sequence that stands twice, then both events are in a range that ends with it', async () => {
    const { store } = tempStore(aSession().withMessages(2).withEvent({ sequence: 2 }).withEvent({ sequence: 3 }));

    expect(await taken(store.events('s', { to: 2 }))).toHaveLength(3);
    expect(await taken(store.events('s', { from: 2, direction: 'backwards' }))).toHaveLength(3);
  });

  test('given a signal that is raised on the way, then reading stops with its reason', async () => {
    const { store } = tempStore(aSession().withMessages(5));
    const stop = new AbortController();
    const reason = new Error('enough');

    const reading = (async () => {
      for await (const { sequence } of store.events('s', { signal: stop.signal }))
        if (sequence === 2) stop.abort(reason);
    })();

    await expect(reading).rejects.toBe(reason);
  });

  test('given thousands of events, then others have their turn meanwhile', async () => {
    const { store } = tempStore(aSession().withMessages(2000));
    let turns = 0;
    const clock = setInterval(() => {
      turns += 1;
    }, 0);

    await taken(store.events('s'));
    clearInterval(clock);

    expect(turns).toBeGreaterThan(0);
  });

  test('given a reader that leaves early, then the file is closed', async () => {
    const closed: number[] = [];
    const inner = faultyFileSystem({ nth: Number.POSITIVE_INFINITY, as: 'EIO' });
    const fileSystem = {
      ...inner,
      close: (fd: number) => {
        closed.push(fd);
        inner.close(fd);
      },
    };
    const { store } = tempStore(aSession().withMessages(5), { fileSystem });

    for await (const _ of store.events('s')) break;

    expect(closed).toHaveLength(1);
  });

  test('given a session that is not there, then that is an error, also for a stream', async () => {
    const { store } = tempStore();

    await expect(taken(store.events('nobody'))).rejects.toEqual(code('SESSION_NOT_FOUND'));
    await expect(taken(store.scanEvents('nobody'))).rejects.toEqual(code('SESSION_NOT_FOUND'));
    await expect(taken(store.rawLines('not an id'))).rejects.toEqual(code('INVALID_ID'));
    await expect(store.readEvents('nobody')).rejects.toEqual(code('SESSION_NOT_FOUND'));
  });

  test('given only one of its two files, then the session can be read', async () => {
    const { store } = tempStore([aSession('log').withMessages(1).withoutMetadata(), aSession('meta').withoutLog()]);

    expect(await store.readEvents('log')).toHaveLength(1);
    expect(await store.readEvents('meta')).toEqual([]);
  });
});

describe('a stream with its damage', () => {
  test('given damaged lines, then each is told with its number and the events between them are given', async () => {
    const session = aSession()
      .withEvent({ sequence: 1 })
      .withLine('null')
      .withLine('\0\0')
      .withEvent({ sequence: 4 })
      .withTail('{"');
    const { store } = tempStore(session);

    const items = await taken(store.scanEvents('s'));

    expect(items.map((item) => (item.kind === 'event' ? item.event.sequence : `line ${item.damage.line}`))).toEqual([
      1,
      'line 2',
      'line 3',
      4,
    ]);
  });
});

describe('lines as they stand', () => {
  test('given events, damage and a fragment, then the bytes of each are those of the file', async () => {
    const invalid = Buffer.concat([
      Buffer.from('{"id":"s:2","sequence":2,"type":"t","payload":"'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ]);
    const first = ` ${aLine({ payload: '{ "z" : 1.0, "a":1 }' })}\r`;
    const { store } = tempStore(
      aSession().withTail(Buffer.concat([Buffer.from(`${first}\n\n`), invalid, Buffer.from('\nbroken\n{"torn')])),
    );

    const lines = await taken(store.rawLines('s'));

    expect(lines.map(({ kind, number }) => [kind, number])).toEqual([
      ['event', 1],
      ['event', 3],
      ['damage', 4],
      ['torn', 5],
    ]);
    expect(lines.map(({ bytes }) => Buffer.from(bytes).toString('latin1'))).toEqual([
      first,
      invalid.toString('latin1'),
      'broken',
      '{"torn',
    ]);
    expect(lines[1]?.start).toBe(first.length + 2);
  });
});
