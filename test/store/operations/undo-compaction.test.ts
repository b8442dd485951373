import { describe, expect, test } from 'vitest';
import { parseRawJson } from '../../../src/index.js';
import { aMessage } from '../../support/event-builder.js';
import { aSession } from '../../support/session-builder.js';
import { type TempStore, tempStore } from '../../support/temp-store.js';

/** Nine messages, a compaction (10), two messages. */
async function compacted(): Promise<TempStore> {
  const temp = tempStore(aSession().withMessages(9));
  await temp.store.recordCompaction('s', { plan: await temp.store.planCompaction('s'), summary: 'one' });
  await temp.store.appendEvents('s', [aMessage('ten'), aMessage('eleven')]);
  return temp;
}

const lines = ({ text }: TempStore): readonly string[] => text('events.jsonl').trimEnd().split('\n');

describe('undoing a compaction', () => {
  test('given one, then only its line goes, and what it stood for is in force again', async () => {
    const temp = await compacted();
    const before = lines(temp);

    const report = await temp.store.undoCompaction('s');

    expect(report).toMatchObject({ targetSequence: 12, filesRestored: 0, filesDeleted: 0, skipped: [] });
    expect(lines(temp).slice(0, -1)).toEqual(before.filter((line) => !line.includes('session_compaction')));
    const seen = await temp.store.readReplayEvents('s');
    expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13]);
    const marker = seen.at(-1)?.payload;
    expect(marker && parseRawJson(marker)).toEqual({
      targetSequence: 12,
      report: { targetSequence: 12, filesRestored: 0, filesDeleted: 0 },
      rewindId: report.rewindId,
      undoes: 's:10',
    });
    expect(await temp.store.get('s')).toMatchObject({ eventCount: 13, lastEventType: 'session_rewind' });
  });

  test('given two compactions, then the one before is in force', async () => {
    const temp = await compacted();
    await temp.store.recordCompaction('s', {
      plan: await temp.store.planCompaction('s', { preserveLast: 1 }),
      summary: 'two',
    });

    await temp.store.undoCompaction('s');

    const [first] = await temp.store.readReplayEvents('s');
    expect(first).toMatchObject({ sequence: 10, type: 'session_compaction' });
  });

  test('given that, then it is undone like a rewind, and done again', async () => {
    const temp = await compacted();
    const before = lines(temp);
    const { rewindId } = await temp.store.undoCompaction('s');
    const without = lines(temp);

    const undone = await temp.store.undoRewind('s');
    expect(lines(temp).slice(0, -1)).toEqual(before);
    await temp.store.undoRewind('s');
    expect(lines(temp).slice(0, -1)).toEqual(without);

    const history = await temp.store.rewindHistory('s');
    expect(history.map((record) => [record.kind, record.undoes])).toEqual([
      ['undo', undone.report.rewindId],
      ['undo', rewindId],
      ['undo', 's:10'],
    ]);
  });

  test('given none, then it is an error and nothing is changed', async () => {
    const temp = tempStore(aSession().withMessages(3));
    const before = [temp.text('events.jsonl'), temp.text('metadata.json')];

    await expect(temp.store.undoCompaction('s')).rejects.toMatchObject({ code: 'REWIND_NOT_FOUND' });

    expect([temp.text('events.jsonl'), temp.text('metadata.json')]).toEqual(before);
  });
});
