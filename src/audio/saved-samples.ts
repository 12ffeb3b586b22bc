/**
 * Converts samples to text, for states that are sent as JSON: base64 of 16-bit values in the
 * machine's byte order.
 */
export function savedSamples(samples: Int16Array): string {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength).toString("base64");
}

/** Returns the samples in a text that savedSamples() returned. */
export function restoredSamples(saved: string): Int16Array {
  return new Int16Array(new Uint8Array(Buffer.from(saved, "base64")).buffer);
}
