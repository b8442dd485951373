import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Deadline } from '../../src/locks/deadline.js';
import { startDeadline } from '../../src/locks/deadline.js';
import { LockHeldError } from '../../src/locks/lock-holder.js';
import type { TurnQueue } from '../../src/locks/turn-queue.js';
import { createTurnQueue } from '../../src/locks/turn-queue.js';

async function take(queue: TurnQueue, key: string, deadline: Deadline = startDeadline(10_000)): Promise<() => void> {
  try {
    return await queue.take(key, deadline);
  } finally {
    deadline.end();
  }
}

describe('take', () => {
  test('given several callers, then each has its turn alone and in the order in which they came', async () => {
    const queue = createTurnQueue();
    const seen: string[] = [];

    await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (name) => {
        const end = await take(queue, 'key');
        seen.push(`${name} begins`);
        await sleep(2);
        seen.push(`${name} ends`);
        end();
      }),
    );

    expect(seen).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test('given another key, then nobody waits', async () => {
    const queue = createTurnQueue();
    await take(queue, 'one');

    const end = await take(queue, 'two', startDeadline(0));

    end();
  });

  test('given a turn that does not end, then the next caller fails at its deadline and leaves the line', async () => {
    const queue = createTurnQueue();
    const end = await take(queue, 'key');
    await expect(take(queue, 'key', startDeadline(20))).rejects.toThrow(LockHeldError);
    const third = take(queue, 'key');

    end();

    (await third)();
  });

  test('given a caller that gives up, before or while waiting, then its own reason comes back', async () => {
    const queue = createTurnQueue();
    await take(queue, 'key');
    const caller = new AbortController();
    const waiting = take(queue, 'key', startDeadline(10_000, caller.signal));

    caller.abort(new Error('not any more'));

    await expect(waiting).rejects.toThrow('not any more');
    await expect(take(queue, 'key', startDeadline(10_000, caller.signal))).rejects.toThrow('not any more');
  });

  test('given a turn that is ended twice, then only one caller follows', async () => {
    const queue = createTurnQueue();
    const end = await take(queue, 'key');
    const second = take(queue, 'key');
    const third = take(queue, 'key', startDeadline(40));

    end();
    end();

    await second;
    await expect(third).rejects.toThrow(LockHeldError);
  });
});
