import { describe, expect, test } from 'vitest';
import { specAndGoalAfter, specAndGoalBetween } from '../../src/plan/derive-state.js';
import { hashBytes } from '../../src/store/parts/blob-store.js';
import { aLog, type EventParts, messages } from '../support/stored-log.js';

const spec = (status: string, fields: object = {}): EventParts => ({
  type: `spec_${status}`,
  payload: { specId: 'x', specFilePath: '', specStatus: status, ...fields },
});
const goal = (type: string, status: string): EventParts => ({
  type: `goal_${type}`,
  payload: { objective: 'o', status, tokensUsed: 5, createdAt: 'c', updatedAt: 'u' },
});

describe('what the events say of spec and goal', () => {
  test('given no such events, then nothing is touched', () => {
    expect(specAndGoalAfter(aLog('s', messages(3)))).toEqual({});
  });

  test('given several, then the last of each kind counts', () => {
    const log = aLog('s', [
      spec('draft'),
      goal('created', 'active'),
      spec('rejected', { specRejectReason: 'no' }),
      goal('updated', 'paused'),
      ...messages(1),
    ]);

    expect(specAndGoalAfter(log)).toMatchObject({
      specId: 'x',
      specStatus: 'rejected',
      specRejectReason: 'no',
      specFilePath: undefined,
      goal: { objective: 'o', status: 'paused', tokensUsed: 5 },
    });
  });

  test('given a goal that was cleared, then there is none', () => {
    const changes = specAndGoalAfter(aLog('s', [goal('created', 'active'), goal('cleared', 'active')]));

    expect(changes).toEqual({ goal: undefined });
    expect('goal' in changes).toBe(true);
  });

  test('given a payload that cannot be read, then the event before it counts', () => {
    const log = aLog('s', [
      spec('draft'),
      { type: 'spec_approved', payload: 'what' },
      { type: 'goal_updated', payload: [] },
    ]);

    expect(specAndGoalAfter(log)).toMatchObject({ specStatus: 'draft' });
    expect('goal' in specAndGoalAfter(log)).toBe(false);
  });
});

describe('what one log says of spec and goal that takes the place of another', () => {
  const kept = [spec('draft'), goal('created', 'active')];
  const between = (before: readonly EventParts[], after: readonly EventParts[], metadata = {}) =>
    specAndGoalBetween(aLog('s', before), aLog('s', after), metadata, hashBytes);

  test('given dropped events of other types, then nothing is touched', () => {
    expect(between([...kept, ...messages(2)], kept)).toEqual({});
  });

  test('given a dropped approval, then the draft that is kept counts, and the goal is not touched', () => {
    const changes = between([...kept, spec('approved', { specUserComment: 'go' })], kept);

    expect(changes).toMatchObject({ specStatus: 'draft', specUserComment: undefined });
    expect('goal' in changes).toBe(false);
  });

  test('given a dropped goal event, then the goal that is kept counts, and the spec is not touched', () => {
    const changes = between([...kept, goal('cleared', 'active')], kept);

    expect(changes).toEqual({ goal: expect.objectContaining({ objective: 'o', status: 'active' }) });
  });

  test('given that a goal was created after the target, then there is none', () => {
    const changes = between([goal('created', 'active'), goal('updated', 'paused')], []);

    expect('goal' in changes).toBe(true);
    expect(changes.goal).toBeUndefined();
  });

  test('given a goal that was there before the first goal event, then it stays: no event tells what it was', () => {
    expect(between([goal('updated', 'paused')], [])).toEqual({});
  });

  test('given that a spec was first recorded after the target, then nothing of it is left', () => {
    const changes = between([spec('approved')], []);

    expect(Object.keys(changes)).toHaveLength(9);
    expect(Object.values(changes).every((value) => value === undefined)).toBe(true);
  });

  test('given a session that was made for a spec, then what it was made with stays', () => {
    expect(Object.keys(between([spec('approved')], [], { sessionKind: 'spec-draft' }))).not.toContain('specId');
    expect(between([spec('approved')], [], { sessionKind: 'spec-impl' })).toMatchObject({ specStatus: 'approved' });
  });

  test('finding 10: given the same last goal and spec events, then what the metadata count is not touched', () => {
    expect(between(kept, [...kept, ...messages(3)])).toEqual({});
  });

  test('finding 10: given another event of the same goal, then the counts of the metadata stay', () => {
    const present = {
      objective: 'o',
      status: 'paused',
      tokensUsed: 700,
      continuationCount: 9,
      createdAt: 'c',
      updatedAt: 'u',
    };

    const changes = between([...kept, goal('updated', 'paused')], kept, { goal: present });

    expect(changes).toMatchObject({ goal: { status: 'active', tokensUsed: 700, continuationCount: 9 } });
  });

  test('finding 10: given another goal, then its event tells what it used', () => {
    const present = { objective: 'p', status: 'active', tokensUsed: 700, createdAt: 'later', updatedAt: 'u' };

    expect(between([goal('created', 'active')], kept, { goal: present })).toMatchObject({ goal: { tokensUsed: 5 } });
  });
});
