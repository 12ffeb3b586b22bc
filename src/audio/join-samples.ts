/** Joins chunks of samples into one array. */
export function joinSamples(chunks: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
