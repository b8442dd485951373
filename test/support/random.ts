/** Choices that are the same in every run. */
export interface Random {
  /** Gives a whole number from 0 to one less than `limit`. */
  below(limit: number): number;
  pick<T>(items: readonly T[]): T;
  chance(part: number): boolean;
}

/** Gives a source of choices for a seed. */
export function random(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
    chance: (part) => next() < part,
  };
}
