import { describe, expect, test } from 'vitest';
import { type Disorder, SequenceOrder } from '../../src/model/sequence-order.js';

/** Gives what is wrong with each line of a log with these sequences, and how often it was read again. */
function disorders(...texts: readonly string[]): {
  readonly found: readonly (Disorder | undefined)[];
  readonly reads: number;
} {
  const events = texts.map((text) => {
    const sequence = Number(text);
    return Number.isSafeInteger(sequence) ? { sequence } : { sequence, exactSequence: text };
  });
  let reads = 0;
  const order = new SequenceOrder(function* () {
    reads += 1;
    for (const [at, event] of events.entries()) yield { event, line: at + 1 };
  });
  return { found: events.map((event, at) => order.take(event, at + 1)), reads };
}

describe('finding 4: the order of sequences', () => {
  test.each([[[]], [['1']], [['1', '2', '3']], [['3', '7', '100']]])('given %j, then nothing is wrong', (texts) => {
    expect(disorders(...texts)).toEqual({ found: texts.map(() => undefined), reads: 0 });
  });

  test('given one that stands twice, then both lines are named', () => {
    const { found } = disorders('1', '2', '3', '2');

    expect(found[3]).toEqual({
      line: 4,
      sequence: 2,
      twin: 2,
      message: 'has the sequence 2, which line 2 has as well',
    });
  });

  test('given one that is lower and new, then what stands before it is named', () => {
    const { found } = disorders('1', '7', '3', '8');

    expect(found.map((each) => each?.message)).toEqual([
      undefined,
      undefined,
      'has the sequence 3, though 7 stands before it',
      undefined,
    ]);
  });

  test('given many, then each has its twin, and the log is read once more, not once for each', () => {
    const { found, reads } = disorders('1', '2', '3', '3', '2', '1', '2');

    expect(found.map((each) => each?.twin)).toEqual([undefined, undefined, undefined, 3, 2, 1, 2]);
    expect(reads).toBe(1);
  });

  test('given sequences that a number cannot hold, then they are compared as they are written', () => {
    const { found } = disorders('9007199254740993', '9007199254740994', '9007199254740995', '9007199254740994');

    expect(found.map((each) => each?.twin)).toEqual([undefined, undefined, undefined, 2]);
    expect(found[3]?.message).toBe('has the sequence 9007199254740994, which line 2 has as well');
  });
});
