/** The noise level of a good microphone in a quiet room. Anything quieter counts as silence. */
const floorDb = -60;

/** Returns the loudness of samples, 0 to 1, from their RMS in dBFS. -60 and below are 0. */
export function loudnessOf(samples: Int16Array): number {
  let power = 0;
  // This is a plain loop because it runs for each sample.
  for (let at = 0; at < samples.length; at++) power += (samples[at] ?? 0) ** 2;
  const rms = Math.sqrt(power / Math.max(1, samples.length)) / 32_768;
  const db = rms > 0 ? 20 * Math.log10(rms) : floorDb;
  return Math.max(0, 1 - db / floorDb);
}
