import { describe, expect, test } from 'vitest';
import { Life, type Tally } from './life.js';

// 1,000 with a command of its own, each time with other seeds: npm run test:life.
const LIVES = Number(process.env.ZERO_SESSIONS_LIVES ?? 100);
const USUAL_SEED = LIVES > 100 ? Math.floor(Math.random() * 1_000_000_000) : 1;
const SEED = Number(process.env.ZERO_SESSIONS_LIFE_SEED ?? USUAL_SEED);
const STEPS = 30;

/** Lives through as many lives as there are to be; a failure names the seed and the steps of its life. */
async function live(each: (life: Life) => Promise<void>): Promise<Tally> {
  const tally: Tally = new Map();
  for (let at = 0; at < LIVES / 2; at += 1) {
    const seed = SEED + at;
    const life = await Life.begin(seed, tally);
    try {
      await each(life);
    } catch (error) {
      throw new Error(`ZERO_SESSIONS_LIFE_SEED=${seed}, after ${life.steps.join(', ')}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return tally;
}

function tell(what: string, tally: Tally): void {
  const counts = [...tally].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
  process.stdout.write(`${what}, seed ${SEED}: ${counts.join(' · ')}\n`);
}

describe(`a random life of ${STEPS} steps`, () => {
  test('finding 6, 8: given no foreign program, then undoing the first rewind gives the files and the log of the start', async () => {
    const tally = await live(async (life) => {
      for (let step = 0; step < 4; step += 1) await life.step();
      const start = await life.rewindNow();
      for (let step = 5; step < STEPS; step += 1) await life.step();
      if (start !== undefined) await life.undoTo(start);
    });

    tell('alone', tally);
    const refused = [...tally.keys()].filter((name) => /CONFLICT|INCOMPLETE|STALE_PLAN|LOG_DAMAGED/.test(name));
    expect(refused, 'what a session did is its own').toEqual([]);
  }, 1_200_000);

  test('finding 4, 5, 6, 7: given a foreign program that appends, rewinds, snapshots and forks, then nothing is lost, no number stands twice, and an undo is exact or refuses', async () => {
    const tally = await live(async (life) => {
      for (let step = 0; step < STEPS; step += 1) await life.stepBesideForeigner();
    });

    tell('beside a foreign program', tally);
    const undone = [...tally].filter(([name]) => /^undo.* done$/.test(name));
    expect(undone.length).toBeGreaterThan(0);
  }, 1_200_000);

  // A foreign rewind that says nothing was done took along the announcement of one that had done something.
  test.each([894612455])('finding 6: given the life of seed %i, then it ends well as it once did not', async (seed) => {
    const life = await Life.begin(seed, new Map());

    for (let step = 0; step < STEPS; step += 1) await life.stepBesideForeigner();

    expect(life.tally.get('undo any CONFLICT')).toBe(1);
  });
});
