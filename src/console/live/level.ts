/** Softer is not shown: the noise of a good microphone in a quiet room. */
const floorDb = -60;

/**
 * How loud samples are, 0 to 1: their RMS in decibels below the loudest that there can be, from -60
 * on.
 */
export function loudnessOf(samples: Int16Array): number {
  let power = 0;
  // A loop: this runs for each sample that is sent.
  for (let at = 0; at < samples.length; at++) power += (samples[at] ?? 0) ** 2;
  const rms = Math.sqrt(power / Math.max(1, samples.length)) / 32_768;
  const db = rms > 0 ? 20 * Math.log10(rms) : floorDb;
  return Math.max(0, 1 - db / floorDb);
}
