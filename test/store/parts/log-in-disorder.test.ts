import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../support/run-cli.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

/** Lines 1 to 10 in order, then line 11 with the sequence 4, as Zero leaves it; perhaps messages after it. */
function inDisorder(...after: readonly number[]): TempStore {
  const lines = [4, ...after].reduce(
    (session, sequence) => session.withEvent({ sequence }),
    aSession().withMessages(10),
  );
  return tempStore(lines.withMetadata({ eventCount: Math.max(4, ...after) }));
}

const LINE_11 = 'has the sequence 4, which line 4 has as well';
const said = expect.objectContaining({
  code: 'SEQUENCE_NOT_RISING',
  message: expect.stringContaining(`:11: ${LINE_11}`),
});
const bothLines = { code: 'LOG_DAMAGED', message: expect.stringMatching(/:11: uses the sequence 4 .*line 4/) };

const run = (temp: TempStore, line: string) =>
  runCommandLine(line.split(' '), { root: temp.root, stdin: '{"type":"message"}' });

describe('finding 4: a log whose sequences do not rise', () => {
  test.each<[string, (temp: TempStore) => Promise<unknown>]>([
    ['a rewind', (temp) => temp.store.rewind('s', { target: 2 })],
    ['a plan of one', (temp) => temp.store.previewRewind('s', { target: 2 })],
    ['a cut', (temp) => temp.store.truncateEvents('s', 3)],
    ['a fork', (temp) => temp.store.fork('s', { sessionId: 'f' })],
    ['a fork up to an event', (temp) => temp.store.fork('s', { sessionId: 'f', at: 6 })],
    ['a compaction', (temp) => temp.store.planCompaction('s')],
    ['a replay', (temp) => temp.store.readReplayEvents('s')],
    ['reading all events', (temp) => temp.store.readEvents('s')],
  ])('given %s, then it is done, and says it once', async (_, act) => {
    const temp = inDisorder();

    await act(temp);

    expect(temp.warnings).toEqual([said]);
  });

  test('given an undo of a rewind of it, then that says it as well, and the log is back byte for byte', async () => {
    const temp = inDisorder();
    const before = temp.text('events.jsonl');
    await temp.store.rewind('s', { target: 2 });
    expect(temp.text('events.jsonl').split('\n')).toHaveLength(4);

    await temp.store.undoRewind('s');

    expect(temp.text('events.jsonl').startsWith(before)).toBe(true);
    expect(temp.warnings.map(({ code }) => code)).toContain('SEQUENCE_NOT_RISING');
  });

  test.each<[string, (temp: TempStore) => Promise<unknown>]>([
    ['rewind', (temp) => temp.store.rewind('s', { target: 4 })],
    ['rewind without its target that ends there', (temp) => temp.store.rewind('s', { target: 5, excludeTarget: true })],
    ['plan of a rewind', (temp) => temp.store.previewRewind('s', { target: 4 })],
    ['rewind of the reference', (temp) => temp.store.applyRewind('s', '/', 4)],
    ['restore', (temp) => temp.store.restoreToSequence('s', '/', 4)],
    ['cut', (temp) => temp.store.truncateEvents('s', 4)],
    ['fork', (temp) => temp.store.fork('s', { sessionId: 'f', at: 4 })],
    ['look at the files then', (temp) => temp.store.filesAt('s', 4)],
    ['outline of a rewind', (temp) => temp.store.planRewind('s', { targetSequence: 4 })],
  ])('given a %s to the number that stands twice, then it is refused, and both lines are named', async (_, act) => {
    const temp = inDisorder();
    const before = [temp.text('events.jsonl'), temp.text('metadata.json')];

    await expect(act(temp)).rejects.toMatchObject(bothLines);

    expect([temp.text('events.jsonl'), temp.text('metadata.json')]).toEqual(before);
    expect(existsSync(temp.path('../f'))).toBe(false);
  });

  test('given an append whose own tail shows it, then it is refused and nothing is written', async () => {
    const temp = inDisorder();
    const before = [temp.text('events.jsonl'), temp.text('metadata.json')];

    await expect(temp.store.appendEvent('s', { type: 'message' })).rejects.toMatchObject({
      code: 'LOG_DAMAGED',
      message: expect.stringMatching(/last line: has the sequence 4 behind 10/),
    });

    expect([temp.text('events.jsonl'), temp.text('metadata.json')]).toEqual(before);
  });

  test('given an append whose tail is in order, then it goes on', async () => {
    const temp = inDisorder(11, 12);

    expect(await temp.store.appendEvent('s', { type: 'message' })).toMatchObject({ sequence: 13 });
    expect(temp.warnings).toEqual([]);
  });

  test('given that and a rewind to before it, then it is in order again, and appends go on', async () => {
    const temp = inDisorder();

    await temp.store.rewind('s', { target: 3 });

    expect(await temp.store.appendEvent('s', { type: 'message' })).toMatchObject({ sequence: 12 });
    expect((await temp.store.readEvents('s')).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 11, 12]);
  });

  test.each([
    ['show s', 5],
    ['show s --events', 5],
    ['show s --tail 2', 0],
    ['show s --to 3', 0],
    ['list', 0],
    ['rewind s --to 2 --dry-run', 0],
    ['rewind s --to 4', 5],
    ['rewind s --to s:4', 5],
    ['rewind s --to 4 --dry-run', 5],
    ['fork s --at 4', 5],
    ['fork s', 0],
    ['checkpoint diff s 4', 5],
    ['append s', 5],
  ])('given the command %s, then it ends with %i', async (line, code) => {
    const { code: ended, err } = await run(inDisorder(), line);

    const speaks = !/--tail|--to 3|list/.test(line);
    expect([ended, /sequence 4|s:4/.test(err)]).toEqual([code, speaks]);
  });

  test('given show as JSON, then all events are there, and the damage names the lines', async () => {
    const { out } = await run(inDisorder(), 'show s --json');

    const { events, damage } = JSON.parse(out);
    expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 4]);
    expect(damage).toEqual([{ line: 11, code: 'LOG_DAMAGED', message: `line 11 ${LINE_11}` }]);
  });
});
