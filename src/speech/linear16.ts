/** The number of bytes in one LINEAR16 sample. */
export const bytesPerSample = 2;

/**
 * Returns the samples in little-endian bytes. An odd last byte is left out. The bytes are copied
 * only if they are not aligned.
 */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const length = bytes.byteLength >> 1;
  if (bytes.byteOffset % bytesPerSample === 0) {
    return new Int16Array(bytes.buffer, bytes.byteOffset, length);
  }
  return new Int16Array(bytes.slice(0, length * bytesPerSample).buffer);
}

/** Joins chunks that may be split anywhere, even within a sample, into whole samples. */
export class SampleJoiner {
  #half: number | undefined;

  push(bytes: Uint8Array): Int16Array {
    let whole = bytes;
    if (this.#half !== undefined && bytes.byteLength > 0) {
      whole = new Uint8Array(bytes.byteLength + 1);
      whole[0] = this.#half;
      whole.set(bytes, 1);
      this.#half = undefined;
    }
    if (whole.byteLength % bytesPerSample === 1) this.#half = whole.at(-1);
    return samplesOf(whole);
  }
}
