/** Returns the length of an ADTS frame (ISO/IEC 13818-7), or 0 if there is no ADTS header. */
export function adtsFrameLength(bytes: Buffer, at: number): number {
  if (at + 7 > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return 0;
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff;
  return length > 7 ? length : 0;
}

const bitratesLayer3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0];
const bitratesLayer3Low = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];
const bitratesLayer2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0];
const sampleRates = [44_100, 48_000, 32_000, 0];

/** The header of an MPEG audio frame. */
export interface MpegAudioHeader {
  /** The length of the frame, with its header. */
  readonly bytes: number;
  readonly samples: number;
  readonly samplesPerSecond: number;
  readonly channels: 1 | 2;
  readonly isLayer3: boolean;
  /** The bytes between the header and the data of layer 3. */
  readonly sideBytes: number;
}

/**
 * Returns the header of an MPEG audio frame (ISO/IEC 11172-3, 13818-3 and MPEG 2.5, layers 2 and
 * 3), or undefined if there is none.
 */
export function mpegAudioHeader(bytes: Buffer, at: number): MpegAudioHeader | undefined {
  if (at + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(at);
  const version = (header >>> 19) & 3;
  const layer = 4 - ((header >>> 17) & 3);
  if (header >>> 21 !== 0x7ff || version === 1 || layer === 4 || layer === 1) return undefined;
  const isFull = version === 3;
  const rate = (sampleRates[(header >>> 10) & 3] ?? 0) / (isFull ? 1 : version === 2 ? 2 : 4);
  const rates = isFull ? (layer === 2 ? bitratesLayer2 : bitratesLayer3) : bitratesLayer3Low;
  const kilobits = rates[(header >>> 12) & 15] ?? 0;
  if (rate === 0 || kilobits === 0) return undefined;
  const samples = layer === 3 && !isFull ? 576 : 1152;
  const channels = ((header >>> 6) & 3) === 3 ? 1 : 2;
  return {
    bytes: Math.floor((samples * kilobits * 125) / rate) + ((header >>> 9) & 1),
    samples,
    samplesPerSecond: rate,
    channels,
    isLayer3: layer === 3,
    sideBytes: isFull ? (channels === 1 ? 17 : 32) : channels === 1 ? 9 : 17,
  };
}

/** Returns the length of an MPEG audio frame, or 0 if there is no frame header. */
export function mpegAudioFrameLength(bytes: Buffer, at: number): number {
  return mpegAudioHeader(bytes, at)?.bytes ?? 0;
}
