import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStore, rawJsonText } from '../../../src/index.js';
import { inProcessLocks } from '../../support/in-process-locks.js';

describe('reading a log that is longer than the buffer', () => {
  test('given events that are kept, then their payloads and lines stay what they were', async () => {
    const store = openStore({ root: mkdtempSync(join(tmpdir(), 'zs-buffer-')), locks: inProcessLocks });
    await store.create({ sessionId: 's' });
    const texts = Array.from({ length: 3000 }, (_, at) => `message ${at} ${'x'.repeat(at % 700)}`);
    await store.appendEvents(
      's',
      texts.map((content) => ({ type: 'message', payload: { content } })),
    );

    const events = await store.readEvents('s');
    const lines: Uint8Array[] = [];
    for await (const line of store.rawLines('s')) lines.push(line.bytes);

    expect(events.map(({ payload }) => JSON.parse(rawJsonText(payload as Uint8Array)).content)).toEqual(texts);
    expect(lines.map((line) => JSON.parse(rawJsonText(line)).payload.content)).toEqual(texts);
  });
});
