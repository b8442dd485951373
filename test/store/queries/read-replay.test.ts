import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../../src/index.js';
import { formatExecPrompt } from '../../../src/index.js';
import { formatShownContext } from '../../../src/plan/exec-prompt.js';
import { streamReplay } from '../../../src/store/queries/read-replay.js';
import { aSession, type SessionBuilder } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

const compaction = (through: number) => ({
  type: 'session_compaction',
  payload: `{"summary":"S","compactedThroughSequence":${through}}`,
});

const LOGS: readonly (readonly [string, SessionBuilder])[] = [
  ['no events', aSession()],
  ['few events', aSession().withMessages(5)],
  ['a compaction far back', aSession().withMessages(4).withEvent(compaction(3)).withMessages(200)],
  ['a compaction among the last', aSession().withMessages(200).withEvent(compaction(150)).withMessages(5)],
  ['only tools', aSession().withEvent({ type: 'tool_call' }).withEvent({ type: 'tool_result' })],
  ['a compaction that cannot be decoded', aSession().withMessages(3).withEvent({ type: 'session_compaction' })],
];

describe('the context of a run, read from the end', () => {
  test.each(LOGS)('given %s, then it is that of prepareExec', async (_, session) => {
    const { store, id, warnings } = tempStore(session);

    const prepared = await store.prepareExec({ resume: id });
    const { count, shown } = await store.execContext(id);

    expect(count).toBe(prepared.contextEvents.length);
    expect(formatShownContext('go on', 'resume', prepared.session, shown)).toBe(formatExecPrompt('go on', prepared));
    expect(new Set(warnings.map(({ message }) => message)).size).toBeLessThanOrEqual(1);
  });
});

describe('the replay as a stream', () => {
  test('given a compacted log, then it is what the array is', async () => {
    const { store, id } = tempStore(aSession().withMessages(9).withEvent(compaction(5)).withMessages(3));

    const streamed: StoredEvent[] = [];
    for await (const event of store.replayEvents(id)) streamed.push(event);

    expect(streamed).toEqual(await store.readRehydratedEvents(id));
    expect(streamed).toHaveLength(8);
  });

  test('given a last compaction that is malformed, then it is an error', async () => {
    const { deps, id } = tempStore(aSession().withEvent({ type: 'session_compaction' }));

    await expect(streamReplay(deps, id).next()).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
  });
});
