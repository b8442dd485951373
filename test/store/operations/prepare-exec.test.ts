import { describe, expect, test } from 'vitest';
import { aSession } from '../../support/session-builder.js';
import { tempStore } from '../../support/temp-store.js';

describe('preparing a run', () => {
  test('given a blank id to resume and nothing else, then a session is made: blank does not mean the latest', async () => {
    const { store } = tempStore(aSession().withMessages(1));

    const { mode, session, contextEvents } = await store.prepareExec({ resume: ' \t', sessionId: 'n' });

    expect({ mode, id: session.sessionId, contextEvents }).toEqual({ mode: 'new', id: 'n', contextEvents: [] });
  });

  test('given a caller and no id, then the child has one of its own, and it is its task', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ rootSessionId: 'r' }));

    const { session } = await store.prepareExec({ callingSessionId: id });

    expect(session).toMatchObject({ parentSessionId: 's', rootSessionId: 'r', sessionKind: 'child' });
    expect(session.taskId).toBe(session.sessionId);
  });

  test('given a caller that is unknown, then no session is made', async () => {
    const { store, tree } = tempStore(aSession());
    const before = tree();

    await expect(store.prepareExec({ callingSessionId: 'nobody' })).rejects.toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });

    expect(tree()).toEqual(before);
  });

  test('given a compaction that cannot be decoded, then the context is the log and the store warns', async () => {
    const { store, id, warnings } = tempStore(aSession().withMessages(2).withEvent({ type: 'session_compaction' }));

    const { contextEvents } = await store.prepareExec({ resume: id });

    expect(contextEvents.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(warnings).toMatchObject([{ code: 'COMPACTION_UNREADABLE', sessionId: 's' }]);
  });

  test('given a session of a kind that is no conversation of its own, then it is refused with its kind', async () => {
    const { store, id } = tempStore(aSession().withMetadata({ sessionKind: 'side' }));

    await expect(store.prepareExec({ resume: id })).rejects.toMatchObject({ code: 'NOT_RESUMABLE' });
  });

  test('given a log that cannot be read, then forking it leaves no fork', async () => {
    const { store, id, tree } = tempStore(aSession().withLine('{"no": "event"}').withMessages(1));
    const before = tree();

    await expect(store.prepareExec({ fork: id })).rejects.toMatchObject({ code: 'LOG_DAMAGED' });

    expect(tree()).toEqual(before);
  });
});
