/** Chance that can be repeated: the same seed throws the same. */
export interface Dice {
  /** In [0, 1). */
  next(): number;
  /** From 0 up to and without `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(count: number): Buffer;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;

  /** Mulberry32: small, quick, and good enough to make nonsense. */
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as (typeof items)[number], // the lists here are not empty
    bytes: (count) => Buffer.from(Array.from({ length: count }, () => below(256))),
  };
}
