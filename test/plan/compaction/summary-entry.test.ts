import { describe, expect, test } from 'vitest';
import { summaryEntry } from '../../../src/plan/compaction/summary-entry.js';
import { aLog, type EventParts } from '../../support/stored-log.js';

const ROOMY = 25_000;

function entry(parts: EventParts, mostChars = ROOMY) {
  const [event] = aLog('s', [{ sequence: 12, ...parts }]);
  if (event === undefined) throw new Error('no event');
  return summaryEntry(event, mostChars);
}

describe('finding 25: the entry of an event tells what it was about', () => {
  test.each([
    ['a message', { payload: { role: 'user', content: 'mend it' } }, '[12] message user: mend it'],
    [
      'a call',
      { type: 'tool_call', payload: { id: 'c', name: 'bash', arguments: '{"command":"make"}' } },
      '[12] tool_call bash: {"command":"make"}',
    ],
    [
      'a result',
      { type: 'tool_result', payload: { toolCallId: 'c', name: 'bash', status: 'error', output: 'no rule' } },
      '[12] tool_result bash error: no rule',
    ],
    [
      'a result that changed files',
      {
        type: 'tool_result',
        payload: { name: 'edit', status: 'ok', output: 'done', changedFiles: ['src/a.ts', 'b.ts'] },
      },
      '[12] tool_result edit ok changed src/a.ts, b.ts: done',
    ],
    [
      'a checkpoint',
      { type: 'session_checkpoint', payload: { tool: 'edit', files: [{ path: 'src/a.ts', absent: true }] } },
      '[12] session_checkpoint edit: src/a.ts',
    ],
    ['an earlier summary', { type: 'session_compaction', payload: { summary: 'S' } }, '[12] session_compaction: S'],
    ['an error', { type: 'error', payload: { message: 'no network' } }, '[12] error: no network'],
    ['anything else', { type: 'goal_created', payload: { objective: 'x' } }, '[12] goal_created: {"objective":"x"}'],
    ['nothing', { type: 'error', payload: {} }, '[12] error: {}'],
  ] as const)('given %s', (_, parts, text) => {
    expect(entry(parts)).toEqual({ text, chars: [...text].length, isCut: false });
  });

  test.each([
    ['a message', { payload: { role: 'user', content: 'x'.repeat(5000) } }, /: x{4000}… \(1000 characters left out\)$/],
    [
      'arguments',
      { type: 'tool_call', payload: { name: 'bash', arguments: 'x'.repeat(1001) } },
      /: x{1000}… \(1 characters left out\)$/,
    ],
    [
      'an output',
      { type: 'tool_result', payload: { name: 'bash', output: `${'a'.repeat(2000)}${'z'.repeat(2000)}` } },
      /: a{1000}… \(2500 characters left out\) z{500}$/,
    ],
    [
      'an earlier summary',
      { type: 'session_compaction', payload: { summary: '🚀'.repeat(8001) } },
      /: (?:🚀){8000}… \(1 characters left out\)$/u,
    ],
  ])('given a long one, then %s is cut with a mark', (_, parts, shape) => {
    const { text, isCut } = entry(parts);

    expect(text).toMatch(shape);
    expect(isCut).toBe(true);
  });

  test('given a secret that a cut would part, then it is hidden all the same', () => {
    const secret = `ghp_${'Ab1'.repeat(12)}`;
    const { text } = entry({ payload: { role: 'user', content: `${'x'.repeat(3980)} token=${secret}` } });

    expect(text).not.toContain('ghp_');
  });

  test.each([
    { payload: { role: 'user', content: '\n'.repeat(4000) } },
    { type: 'tool_result', payload: { name: '\u2028'.repeat(300), output: '\u2028'.repeat(9000) } },
    { type: 't\u2028'.repeat(900), payload: { x: 1 } },
  ])('given little room, then the entry is one line that keeps to it', (parts) => {
    const { text, chars, isCut } = entry(parts, 1000);

    expect(chars).toBeLessThanOrEqual(1000);
    expect(text).not.toMatch(/[\n\u2028]/);
    expect(isCut).toBe(true);
  });
});
