import { describe, expect, test } from 'vitest';
import { inProcessLocks } from '../support/in-process-locks.js';
import { applyDifference, readDifference } from './differences.js';
import { type ExactObject, parseExact } from './exact-json.js';
import { parseCase } from './golden-case.js';
import { runCase } from './run-case.js';

/** A case that we answer as recorded; each test spoils one thing in it. */
function aCase(): Record<string, unknown> & { steps: Record<string, unknown>[]; storeAfter: Record<string, object> } {
  const at = '2026-07-09T12:00:00Z';
  const created = { sessionId: 's', createdAt: at, updatedAt: at, eventCount: 0 };
  const event = { id: 's:1', sessionId: 's', sequence: 1, type: 'message', createdAt: at, payload: { a: 1, b: 2 } };
  const metadata = { ...created, eventCount: 1, lastEventType: 'message' };
  return {
    name: 'a/case',
    about: 'One event.',
    steps: [
      { at, op: 'create', args: { sessionId: 's' }, result: created, error: null },
      {
        at,
        op: 'appendEvent',
        args: { sessionId: 's', type: 'message', payload: { a: 1, b: 2 } },
        result: event,
        error: null,
      },
    ],
    storeAfter: {
      files: {
        's/metadata.json': { text: `${JSON.stringify(metadata, null, 2)}\n`, mode: '0600' },
        's/events.jsonl': { text: `${JSON.stringify(event)}\n`, mode: '0600' },
      },
      dirs: { '.': '0700', s: '0700' },
    },
  };
}

async function run(json: unknown, text = JSON.stringify(json)): Promise<readonly string[]> {
  return runCase(parseCase(parseExact(text) as ExactObject), { locks: inProcessLocks });
}

describe('a case that is answered as recorded', () => {
  test('has no mismatch', async () => {
    expect(await run(aCase())).toEqual([]);
  });
});

describe('a case that is answered in another way', () => {
  const spoilers: readonly [string, (golden: ReturnType<typeof aCase>) => void][] = [
    ['a member more', ({ steps }) => Object.assign(steps[0]?.result as object, { title: 'x' })],
    ['an error', ({ steps }) => Object.assign(steps[0] as object, { result: null, error: { kind: 'not_found' } })],
    [
      'a payload in another order',
      ({ steps }) => Object.assign(steps[1]?.result as object, { payload: { b: 2, a: 1 } }),
    ],
    ['another mode', ({ storeAfter }) => Object.assign(storeAfter.dirs as object, { s: '0755' })],
    ['a file more', ({ storeAfter }) => Object.assign(storeAfter.files as object, { x: { text: '', mode: '0600' } })],
    ['no folder', ({ storeAfter }) => Object.assign(storeAfter, { dirs: { '.': '0700' } })],
    [
      'a file of the workspace',
      (golden) => Object.assign(golden, { workspaceAfter: { files: { x: { symlink: 'y' } } } }),
    ],
  ];

  test.each(spoilers)('given %s, then that is told', async (_, spoil) => {
    const golden = aCase();
    spoil(golden);

    expect(await run(golden)).toHaveLength(1);
  });

  test('given a number that is spelt in another way, then that is told', async () => {
    const text = JSON.stringify(aCase()).replace('"payload":{"a":1,"b":2}},"error":null}]', (end) =>
      end.replace('1', '1.0'),
    );

    expect(await run(undefined, text)).toHaveLength(1);
  });

  test('given a name that stands twice in a payload, then that is told', async () => {
    const text = JSON.stringify(aCase()).replace('"payload":{"a":1,"b":2}},"error":null}]', (end) =>
      end.replace('{"a"', '{"a":1,"a"'),
    );

    expect(await run(undefined, text)).toHaveLength(1);
  });
});

describe('a case with something that the runner does not know', () => {
  const spoilers: readonly [string, (golden: ReturnType<typeof aCase>) => void][] = [
    ['an operation', ({ steps }) => Object.assign(steps[0] as object, { op: 'createAll' })],
    ['an operation on files', ({ steps }) => Object.assign(steps[0] as object, { op: 'fs.chmod' })],
    [
      'an operation named like a method of every object',
      ({ steps }) => Object.assign(steps[0] as object, { op: 'toString' }),
    ],
    ['an argument', ({ steps }) => Object.assign(steps[0]?.args as object, { colour: 'red' })],
    ['a member of the case', (golden) => Object.assign(golden, { extra: 1 })],
    ['a member of a step', ({ steps }) => Object.assign(steps[0] as object, { extra: 1 })],
    ['a member of a tree', ({ storeAfter }) => Object.assign(storeAfter, { links: {} })],
    [
      'a member of a file',
      ({ storeAfter }) => Object.assign(storeAfter.files as object, { x: { text: '', owner: 'me' } }),
    ],
    ['an error kind', ({ steps }) => Object.assign(steps[0] as object, { result: null, error: { kind: 'odd' } })],
    ['a choice', (golden) => Object.assign(golden, { choices: ['mine'] })],
    ['a variable', (golden) => Object.assign(golden, { env: { TZ: 'UTC' } })],
  ];

  test.each(spoilers)('given %s, then the run fails', async (_, spoil) => {
    const golden = aCase();
    spoil(golden);

    await expect(run(golden)).rejects.toThrow(/unknown/);
  });
});

describe('our own answer to a case', () => {
  const golden = parseExact('{"steps":[{"result":[1,2]}],"text":"one\\ntwo\\n"}') as ExactObject;

  test('given what is recorded, then it is replaced by ours', () => {
    const changed = applyDifference(golden, {
      case: 'a/case',
      rule: 'x',
      changes: [
        { at: ['steps', '0', 'result', '1'], line: undefined, recorded: parseExact('2'), ours: parseExact('3') },
        { at: ['text'], line: 2, recorded: 'two', ours: 'zwei' },
        { at: ['more'], line: undefined, recorded: undefined, ours: true },
      ],
    });

    expect(changed).toEqual(parseExact('{"steps":[{"result":[1,3]}],"text":"one\\nzwei\\n","more":true}'));
  });

  test('given something else than what is said to be recorded, then it fails', () => {
    const change = { at: ['text'], line: 1, recorded: 'uno', ours: 'eins' };

    expect(() => applyDifference(golden, { case: 'a/case', rule: 'x', changes: [change] })).toThrow(/the case has/);
  });

  test('given no answer of our own, then there is none to apply', () => {
    expect(readDifference('/nowhere', 'a/case')).toBeUndefined();
  });
});
