import { platform } from 'node:os';
import { describe, expect, test } from 'vitest';
import { random } from '../support/random.js';
import { callsOf, expectWholeOrNothing, SIGNALS, WRITING_COMMANDS } from '../support/signalled-run.js';

// The built program in a process of its own, once for each of its calls: a few minutes.
const SEED = Number(process.env.ZERO_SESSIONS_SIGNAL_SEED ?? 1);

describe.runIf(platform() === 'linux')(`finding 16: a signal before each call, seed ${SEED}`, () => {
  test.each(Object.entries(WRITING_COMMANDS))(
    'given %s, then what was written is printed, or nothing was written, and nothing is left',
    async (name, command) => {
      const { calls, commit } = await callsOf(command);
      const choices = random(SEED);
      const drawn = calls.map((_, at) => ({
        nth: at + 1,
        signal: choices.pick(SIGNALS),
        toGroup: choices.chance(0.5),
      }));
      const around = [commit - 1, commit, commit + 1].flatMap((nth) => SIGNALS.map((signal) => ({ nth, signal })));

      let written = 0;
      for (const at of [...drawn, ...around]) if (await expectWholeOrNothing(command, at)) written += 1;

      const runs = drawn.length + around.length;
      process.stdout.write(`signals: ${name}, ${runs} runs, ${written} wrote, ${runs - written} did nothing\n`);
      // A signal after the commit is too late, one before the lock is in time.
      expect(written).toBeGreaterThan(drawn.length - commit);
      expect(written).toBeLessThan(runs);
    },
  );
});
