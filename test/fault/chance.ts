/** A repeatable source of random numbers: the same seed produces the same numbers. */
export interface Chance {
  /** Returns an integer from 0 up to, but not including, `count`. */
  below(count: number): number;
  oneOf<T>(values: readonly T[]): T;
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    oneOf(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error("nothing to choose from");
      return value;
    },
  };
}
