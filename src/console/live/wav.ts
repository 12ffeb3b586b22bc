const headerBytes = 44;

/** The header of a WAVE file with this number of samples: 16 bit, one channel. */
export function wavHeader(samples: number, rate: number): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(headerBytes);
  const view = new DataView(header.buffer);
  const put = (at: number, text: string): void => header.set(new TextEncoder().encode(text), at);
  put(0, "RIFF");
  view.setUint32(4, headerBytes - 8 + 2 * samples, true);
  put(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, 2 * rate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  put(36, "data");
  view.setUint32(40, 2 * samples, true);
  return header;
}
