import { describe, expect, test } from 'vitest';
import { InterruptedError } from '../../../src/cli/errors.js';
import { exitOfInterrupted, interruptionBy } from '../../../src/cli/report/interruption.js';

describe('finding 16: interruptionBy', () => {
  test('given a signal before anything is changed, then waits end, and the first change is not made', () => {
    const signals = new AbortController();
    const interruption = interruptionBy(signals.signal);

    signals.abort(new InterruptedError('SIGTERM'));

    expect(interruption.signal.reason).toMatchObject({ code: 'INTERRUPTED', signal: 'SIGTERM' });
    expect(() => interruption.beforeChange()).toThrow(InterruptedError);
    expect(interruption.isTooLate).toBe(false);
  });

  test('given a change, then a signal ends nothing any more: not the wait for another lock, and not the answer', () => {
    const signals = new AbortController();
    const interruption = interruptionBy(signals.signal);

    interruption.beforeChange();
    signals.abort(new InterruptedError());
    interruption.beforeChange();

    expect([interruption.signal.aborted, interruption.isTooLate]).toEqual([false, true]);
  });

  test('given a signal from before the run, then it is heard', () => {
    expect(interruptionBy(AbortSignal.abort()).signal.reason).toBeInstanceOf(InterruptedError);
  });

  test.each([
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('given %s, then the exit code is %i', (signal, exit) => {
    expect(exitOfInterrupted(new InterruptedError(signal))).toBe(exit);
  });
});
