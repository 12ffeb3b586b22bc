const samplesPerMs = 16;

/**
 * Returns a recording for the scripted engine, which recognizes a word every 500 ms of an
 * utterance. The text and the times of its words show the utterances with their lengths and
 * positions. `value` is the sample value of speech, which can be a command to the engine.
 */
export function scriptedSamples(
  utterancesMs: readonly number[],
  { pauseMs, value = 1_000 }: { readonly pauseMs: number; readonly value?: number },
): Int16Array {
  const totalMs = utterancesMs.reduce((sum, ms) => sum + ms + pauseMs, pauseMs);
  const samples = new Int16Array(totalMs * samplesPerMs);
  let at = pauseMs * samplesPerMs;
  for (const ms of utterancesMs) {
    samples.fill(value, at, at + ms * samplesPerMs);
    at += (ms + pauseMs) * samplesPerMs;
  }
  return samples;
}
