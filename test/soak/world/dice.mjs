/** Chance that is the same for the same seed (mulberry32). */
export function createDice(seed) {
  let state = seed >>> 0;
  function next() {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const dice = {
    next,
    chance: (probability) => next() < probability,
    /** A whole number from `low` to `high`. */
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (list) => list[Math.floor(next() * list.length)],
    /** One of [value, weight] pairs. */
    weighted(pairs) {
      let left = next() * pairs.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [value, weight] of pairs) {
        left -= weight;
        if (left < 0) return value;
      }
      return pairs.at(-1)[0];
    },
    /** Another sequence, which does not depend on how often this one is used afterwards. */
    fork: () => createDice(Math.floor(next() * 4_294_967_296)),
  };
  return dice;
}
