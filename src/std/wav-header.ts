const headerBytes = 44;

/** The header that makes `dataBytes` of 16-bit PCM a RIFF/WAVE file. */
export function wavHeader({
  sampleRateHertz,
  dataBytes,
  channels = 1,
}: {
  readonly sampleRateHertz: number;
  readonly dataBytes: number;
  readonly channels?: number;
}): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(headerBytes);
  const view = new DataView(header.buffer);
  const put = (at: number, text: string): void => header.set(new TextEncoder().encode(text), at);
  put(0, "RIFF");
  view.setUint32(4, headerBytes - 8 + dataBytes, true);
  put(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  // Format 1: PCM.
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, sampleRateHertz, true);
  view.setUint32(28, sampleRateHertz * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  put(36, "data");
  view.setUint32(40, dataBytes, true);
  return header;
}
