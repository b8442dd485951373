import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../src/model/event.js';
import { parseEventLine } from '../../src/model/event-codec.js';
import { identityOf } from '../../src/model/event-identity.js';

const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const read = (line: string): StoredEvent => parseEventLine(new TextEncoder().encode(line));
const known = (line: string): string => identityOf(read(line), asText);

const LINE =
  '{"id":"s:4","sessionId":"s","sequence":4,"type":"message","createdAt":"2026-01-01T00:00:00Z","payload":{"n":1.0}}';

describe('finding 5: an event is known by id, sequence, type, time as written and payload bytes', () => {
  test('given the same line twice, then they are one event', () => {
    expect(known(LINE)).toBe(known(LINE));
  });

  test.each([
    ['id', '"id":"s:4"', '"id":"s:5"'],
    ['sequence', '"sequence":4', '"sequence":5'],
    ['type', '"message"', '"error"'],
    ['time, though it is the same instant', '00:00:00Z', '00:00:00.0Z'],
    ['payload, though it is the same value', '1.0', '1'],
    ['payload, which is left out', ',"payload":{"n":1.0}', ''],
  ])('given another %s, then it is another event', (_, from, to) => {
    expect(known(LINE.replace(from, to))).not.toBe(known(LINE));
  });

  test('given texts that together read alike, then they are two events', () => {
    const apart = (id: string, type: string): string =>
      identityOf({ ...read(LINE), id: id as StoredEvent['id'], type }, asText);

    expect(apart('a', 'b c')).not.toBe(apart('a b', 'c'));
    expect(apart('a","4","b', 'c')).not.toBe(apart('a', 'b","c'));
  });
});
