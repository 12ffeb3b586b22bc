/** What a RIFF/WAVE header says of the 16-bit PCM samples behind it. */
export interface WavHeader {
  readonly sampleRateHertz: number;
  readonly channels: number;
  /** Where the samples begin. */
  readonly dataOffset: number;
  /** Bytes of samples that are there, whole frames only: never past the end of what was read. */
  readonly dataBytes: number;
}

/** Bytes that begin as RIFF/WAVE but cannot be used; the message says why. */
export class WavError extends Error {
  override readonly name = "WavError";
}

const formatPcm = 1;
/** WAVE_FORMAT_EXTENSIBLE: the format itself stands in the first two bytes of a GUID. */
const formatExtensible = 0xfffe;

/**
 * Reads the header of 16-bit PCM in RIFF/WAVE; undefined when the bytes do not begin as one. Chunks
 * other than `fmt ` and `data` are skipped; a data size of 0 or 0xFFFFFFFF, as pipes leave it,
 * means all that follows. Throws WavError for another encoding or a header without samples.
 */
export function readWavHeader(bytes: Uint8Array): WavHeader | undefined {
  if (bytes.length < 12 || tag(bytes, 0) !== "RIFF" || tag(bytes, 8) !== "WAVE") return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Pick<WavHeader, "sampleRateHertz" | "channels"> | undefined;
  for (let at = 12; at + 8 <= bytes.length;) {
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    switch (tag(bytes, at)) {
      case "fmt ":
        format = readFormat(view, body, size);
        break;
      case "data": {
        if (!format) throw new WavError("the WAVE header has no fmt chunk before its data");
        const there = bytes.length - body;
        const frame = 2 * format.channels;
        const length = size === 0 || size === 0xffff_ffff ? there : Math.min(size, there);
        return { ...format, dataOffset: body, dataBytes: length - (length % frame) };
      }
    }
    // Chunks begin at even offsets.
    at = body + size + (size % 2);
  }
  throw new WavError("the WAVE header has no data chunk");
}

function readFormat(view: DataView, at: number, size: number) {
  if (size < 16 || at + size > view.byteLength) {
    throw new WavError("the WAVE header is cut short in its fmt chunk");
  }
  const named = view.getUint16(at, true);
  const format = named === formatExtensible && size >= 26 ? view.getUint16(at + 24, true) : named;
  const channels = view.getUint16(at + 2, true);
  const sampleRateHertz = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  if (format !== formatPcm || bits !== 16) {
    throw new WavError(`the WAVE header names format ${format} with ${bits} bits, not 16-bit PCM`);
  }
  if (channels === 0 || sampleRateHertz === 0) {
    throw new WavError("the WAVE header names no channels or no sample rate");
  }
  return { channels, sampleRateHertz };
}

function tag(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
