import { describe, expect, test } from 'vitest';
import { openStore, ZeroSessionsError } from '../src/index.js';
import { tempWorkspace } from './support/temp-workspace.js';

// What a caller without types may hand over; each method is called with each of these in the place of each argument.
const WRONG: readonly unknown[] = [undefined, null, 7, true, 'text', () => 'x', [], [null], [7], {}];

// The members of options, each tried with each wrong value as well.
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  create: [
    'sessionId',
    'title',
    'cwd',
    'modelId',
    'provider',
    'tag',
    'sessionKind',
    'parentSessionId',
    'depth',
    'spec',
  ],
  resolve: ['cwd', 'home'],
  fork: ['sessionId', 'sequence', 'eventId', 'title', 'cwd', 'sessionKind', 'tag'],
  createChild: ['sessionId', 'agentName', 'taskId', 'prompt', 'title', 'cwd'],
  planRewind: ['targetSequence', 'targetEventId', 'keepTarget'],
  previewRewind: ['target', 'part', 'paths', 'workspace', 'expectHead'],
  rewind: ['target', 'part', 'paths', 'workspace', 'expectHead'],
  previewUndo: ['rewindId', 'workspace'],
  undoRewind: ['rewindId', 'workspace'],
  planCompaction: ['preserveLast', 'maxPromptChars'],
  recordSpec: ['specId', 'status', 'filePath', 'comment'],
  prepareExec: ['mode', 'sessionId', 'prompt', 'cwd'],
};

const GOOD: Readonly<Record<string, readonly unknown[]>> = {
  create: [{}],
  get: ['s'],
  require: ['s'],
  measure: ['s'],
  logFile: ['s'],
  nameInFolder: ['/tmp', '/tmp/x'],
  workTreeTest: ['/tmp', {}],
  resolve: ['s', {}],
  updateTitle: ['s', 't'],
  updateTitleIfCurrent: ['s', 'a', 'b'],
  updateModel: ['s', 'm'],
  appendEvent: ['s', { type: 'message', payload: {} }],
  appendEvents: ['s', []],
  appendEventUnlessExists: ['s', { type: 'message' }],
  appendEventUnlessAny: ['s', { type: 'message' }, () => false],
  appendEventsUnlessAny: ['s', [], () => false],
  readEvents: ['s'],
  readRehydratedEvents: ['s'],
  readReplayEvents: ['s'],
  fork: ['s', {}],
  cutCalls: ['s', 1],
  createChild: ['s', {}],
  listChildren: ['s'],
  lineage: ['s'],
  tree: ['s'],
  captureToolCheckpoint: ['s', '/tmp', 'tool', []],
  snapshotForCheckpoint: ['s', '/tmp', 'tool', []],
  restoreToSequence: ['s', '/tmp', 1],
  truncateEvents: ['s', 1],
  planRewind: ['s', { targetSequence: 1 }],
  applyRewind: ['s', '/tmp', 1],
  previewRewind: ['s', { target: 1 }],
  rewind: ['s', { target: 1 }],
  previewUndo: ['s', {}],
  undoRewind: ['s', {}],
  abortRewind: ['s', {}],
  continueRewind: ['s', {}],
  listCheckpoints: ['s'],
  filesAt: ['s', 1],
  rewindHistory: ['s'],
  planCompaction: ['s', {}],
  planSummary: ['s', {}],
  recordCompaction: ['s', { summary: 'x' }],
  undoCompaction: ['s'],
  recordSpec: ['s', { status: 'draft' }],
  findSpecImplementation: ['x', 's'],
  ensureSpecImplementation: ['s', {}],
  prepareExec: [{}],
  execContext: ['s'],
  createGoal: ['s', 'o', 1],
  editGoal: ['s', 'o', 1],
  updateGoal: ['s', 'active', ''],
  clearGoal: ['s'],
  addGoalUsage: ['s', 1],
  pauseGoalIfActive: ['s', 'r'],
  reserveGoalContinuation: ['s'],
  resetGoalContinuations: ['s'],
};

describe('a method of the store', () => {
  test.each(Object.entries(GOOD))(
    '%s, given arguments of wrong types, then it succeeds or says which one is wrong',
    async (name, good) => {
      const temp = await tempWorkspace();
      await temp.say();
      const method = (temp.store as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[name];
      const bugs: string[] = [];
      const attempt = async (given: readonly unknown[], what: string): Promise<void> => {
        try {
          await method?.call(temp.store, ...given);
        } catch (error) {
          if (!(error instanceof ZeroSessionsError)) bugs.push(`${what}: ${(error as Error).message}`);
        }
      };
      for (const at of good.keys()) {
        for (const wrong of WRONG)
          await attempt(good.with(at, wrong), `argument ${at} = ${String(wrong)} (${typeof wrong})`);
      }
      const last = good.length - 1;
      for (const member of MEMBERS[name] ?? []) {
        for (const wrong of WRONG)
          await attempt(
            good.with(last, { ...(good[last] as object), [member]: wrong }),
            `${member} = ${String(wrong)} (${typeof wrong})`,
          );
      }
      expect(bugs).toEqual([]);
    },
  );
});

test('the table has every method of a store that is called once and takes something', () => {
  // Read while they are asked for: the id is refused as everywhere (security/hostile-ids), the rest are options.
  const streams = ['events', 'scanEvents', 'rawLines', 'rawLog', 'replayEvents'];
  // What is given to them comes from another method.
  const given = ['readFileAt'];
  const store = Object.getPrototypeOf(openStore({ root: '/no/such/store' }));
  const methods = Object.entries(Object.getOwnPropertyDescriptors(store)).filter(
    ([, { value }]) => typeof value === 'function',
  );
  const taking = methods.filter(
    ([name, { value }]) => name !== 'constructor' && /^(?:async )?\w+\([^)]/.test(String(value)),
  );

  expect(
    taking.map(([name]) => name).filter((name) => !(name in GOOD) && ![...streams, ...given].includes(name)),
  ).toEqual([]);
});
