import { describe, expect, test } from 'vitest';
import { inodeAt } from '../support/recording-file-system.js';
import { crashStates } from './crash-states.js';
import { foreignLine } from './interrupted.js';
import { record } from './recorded.js';
import { SCENARIOS, type Scenario } from './scenarios.js';
import { viewOf } from './view.js';
import { ROOT, worldOfTree } from './world.js';

const INTENT = 'zero-sessions/rewind-intent';

describe('a rewind that was interrupted, and then somebody else appends', () => {
  test('12. at every point between the intent and the commit: the event stays, no file is touched, and the message says where to go back to', async () => {
    const scenario = SCENARIOS.find(({ name }) => name === 'rewind 3 files') as Scenario;
    const { trace, before } = await record(scenario);
    const head = before.sessions.get('s')?.events.at(-1)?.sequence;
    let met = 0;
    for (const { tree } of crashStates(trace, 'kill').states) {
      const last = viewOf(tree).sessions.get('s')?.events.at(-1);
      if (last === undefined || !last.line.includes(INTENT)) continue;
      const log = inodeAt(tree, `${ROOT}/s/events.jsonl`);
      // The reference program glues its event to a line that lacks its newline; that is not ours to prevent.
      if (log?.kind !== 'file' || log.data.at(-1) !== 0x0a) continue;
      met += 1;
      const world = worldOfTree(tree, 'recovery');
      const line = foreignLine(last.sequence + 1);
      const fd = world.fs.openAppend(`${ROOT}/s/events.jsonl`);
      world.fs.write(fd, Buffer.from(line), 0, line.length);
      world.fs.close(fd);
      const { workspace } = viewOf(world.fs.snapshot());
      const event = await world.store.appendEvent('s', { type: 'message', payload: { content: 'ours' } });
      const after = viewOf(world.fs.snapshot());

      expect(after.workspace).toBe(workspace);
      expect(after.sessions.get('s')?.events.map(({ line }) => `${line}\n`)).toContain(line);
      expect(event.sequence).toBe(last.sequence + 2);
      const warning = world.warnings.find(({ code }) => code === 'REWIND_UNSETTLED');
      expect(warning?.message).toContain(`the last event before it is ${head}`);
    }

    expect(met).toBeGreaterThan(100);
  });
});
