export interface TrimmedMean {
  readonly mean: number;
  /** The standard error of the mean. */
  readonly error: number;
}

/** Returns the mean of the values without the lowest and the highest tenth. */
export function trimmedMean(values: readonly number[]): TrimmedMean {
  const tenth = Math.floor(values.length / 10);
  const kept = values.toSorted((a, b) => a - b).slice(tenth, values.length - tenth);
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
  // The outermost values that are kept stand for those that are not.
  const [low = NaN, high = NaN] = [kept[0], kept.at(-1)];
  const spread =
    kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) +
    tenth * ((low - mean) ** 2 + (high - mean) ** 2);
  const deviation = Math.sqrt(spread / (values.length - 1));
  return { mean, error: deviation / (0.8 * Math.sqrt(values.length)) };
}
