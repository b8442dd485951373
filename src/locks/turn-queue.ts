import type { Deadline } from './deadline.js';
import { LockHeldError } from './lock-holder.js';

/** Callers of one process, in the order in which they came. */
export interface TurnQueue {
  /**
   * Waits until all who came before for the same key have ended their turn; returns what ends this one (twice is fine).
   * Whoever takes a second turn inside their own waits for themselves, until the deadline.
   * @throws {@link LockHeldError} when the deadline passes first; the caller's reason when they have given up.
   */
  take(key: string, deadline: Deadline): Promise<() => void>;
}

/** One line per key: a lock between processes cannot order the callers inside one, who would compete for it. */
export function createTurnQueue(): TurnQueue {
  const lines = new Map<string, Set<() => void>>();

  function endOnce(key: string): () => void {
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const line = lines.get(key);
      const next = line?.values().next().value;
      if (next === undefined) lines.delete(key);
      else next();
    };
  }

  return {
    take(key, deadline) {
      const line = lines.get(key);
      if (line === undefined) {
        lines.set(key, new Set());
        return Promise.resolve(endOnce(key));
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          line.delete(begin);
          deadline.until.removeEventListener('abort', giveUp);
        };
        const begin = () => {
          leave();
          resolve(endOnce(key));
        };
        const giveUp = () => {
          leave();
          reject(reasonOf(key, deadline));
        };
        if (deadline.until.aborted) return giveUp();
        line.add(begin);
        deadline.until.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

function reasonOf(key: string, deadline: Deadline): unknown {
  try {
    deadline.throwIfGivenUp();
  } catch (reason) {
    return reason;
  }
  return new LockHeldError(key, { name: 'another call in this process' }, deadline.timeoutMs);
}
