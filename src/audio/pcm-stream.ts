import { isWav, wavChunks, wavFormatExtensible, wavFormatPcm } from "../std/wav.ts";
import { AudioError } from "./audio-error.ts";
import { pcmSampleBytes, samplesOfPcm, type PcmEncoding } from "./pcm-samples.ts";
import { Resampler, resampledRate, resampleRateMax, resampleRateMin } from "./resample.ts";

/** The samples that a stream has, with or without the header of a WAV file. */
export interface BarePcm {
  readonly encoding: PcmEncoding;
  readonly sampleRateHertz: number;
  /** Two channels are averaged. Default: 1. */
  readonly channels?: 1 | 2;
  /** Returns what the first bytes are if they are not samples. */
  readonly foreignOf?: (head: Uint8Array) => string | undefined;
}

/** The number of bytes that decide whether there is a header, or another format. */
const decisiveBytes = 64;
/** The maximum length of a header, with the chunks before the samples. */
const headerBytesMax = 65_536;
const none = new Int16Array(0);
const noBytes = Buffer.alloc(0);

/**
 * Reads uncompressed audio in chunks that may be split anywhere. The header of a WAV file before
 * the samples is skipped, and so is what follows its data chunk. For BarePcm the header must
 * agree with it, and the samples keep their rate. A "wav" stream must have a header; its samples
 * are averaged to one channel and resampled to resampledRate. push() and end() throw AudioError.
 */
export class PcmStream {
  readonly #expected: BarePcm | "wav";
  #head: Buffer = noBytes;
  #format: PcmFormat | undefined;
  /** The number of sample bytes that the header announces and that have not arrived yet. */
  #left = Infinity;
  /** The first bytes of an incomplete frame. */
  #rest: Buffer = noBytes;
  #resampler: Resampler | undefined;

  constructor(expected: BarePcm | "wav") {
    this.#expected = expected;
  }

  /** Returns the samples that these bytes complete. */
  push(bytes: Uint8Array): Int16Array {
    const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (this.#format) return this.#samples(given);
    this.#head = this.#head.length === 0 ? given : Buffer.concat([this.#head, given]);
    const start = this.#start(this.#head);
    if (start === undefined) {
      // The caller may reuse its bytes.
      this.#head = Buffer.from(this.#head);
      return none;
    }
    const samples = this.#head.subarray(start);
    this.#head = noBytes;
    return this.#samples(samples);
  }

  /** Ends the stream. Returns the rest of the samples; `restBytes` did not complete a sample. */
  end(): { readonly samples: Int16Array; readonly restBytes: number } {
    if (this.#format === undefined) {
      if (this.#expected === "wav" || this.#head.toString("latin1", 0, 4) === "RIFF") {
        throw new AudioError("audio", "has a WAV header that ends before its samples");
      }
      this.#format = formatOf(this.#expected);
    }
    const samples = this.#samples(this.#head);
    this.#head = noBytes;
    const last = this.#resampler?.end() ?? none;
    return { samples: last.length > 0 ? last : samples, restBytes: this.#rest.length };
  }

  /** Returns the offset of the first sample, or undefined while that is not known. */
  #start(head: Buffer): number | undefined {
    const expected = this.#expected;
    if (head.length < decisiveBytes) return undefined;
    if (!isWav(head)) {
      if (expected === "wav") throw new AudioError("audio", "is not a WAV file");
      const foreign = expected.foreignOf?.(head);
      if (foreign !== undefined) throw new AudioError("audio", `looks like ${foreign}`);
      this.#format = formatOf(expected);
      return 0;
    }
    const start = readStart(head);
    if (start === undefined) {
      if (head.length < headerBytesMax) return undefined;
      throw new AudioError("audio", `has a WAV header of more than ${headerBytesMax} bytes`);
    }
    this.#format = expected === "wav" ? this.#decodable(start) : agreed(start, expected);
    this.#left = start.dataBytes;
    return start.dataOffset;
  }

  /** Returns the format of a WAV file that is decoded whatever its encoding. */
  #decodable({ encoding, name, channels, sampleRateHertz }: WavStart) {
    if (!encoding)
      throw new AudioError("audio", `is a WAV file with ${name}, which is not supported`);
    if (channels !== 1 && channels !== 2) {
      throw new AudioError("audio", `is a WAV file with ${channels} channels, not 1 or 2`);
    }
    if (sampleRateHertz < resampleRateMin || sampleRateHertz > resampleRateMax) {
      const range = `${resampleRateMin} to ${resampleRateMax}`;
      throw new AudioError("audio", `is a WAV file with ${sampleRateHertz} Hz, not ${range}`);
    }
    if (sampleRateHertz !== resampledRate) this.#resampler = new Resampler(sampleRateHertz);
    return { encoding, channels } as const;
  }

  #samples(given: Buffer): Int16Array {
    const { encoding, channels } = this.#format ?? { encoding: "s16", channels: 1 };
    const fresh = given.subarray(0, this.#left);
    this.#left -= fresh.length;
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh]);
    const whole = bytes.length - (bytes.length % (pcmSampleBytes[encoding] * channels));
    this.#rest = whole === bytes.length ? noBytes : Buffer.from(bytes.subarray(whole));
    if (whole === 0) return none;
    const aligned = bytes.byteOffset % 2 === 0 ? bytes : Buffer.from(bytes);
    const samples = samplesOfPcm(aligned.subarray(0, whole), encoding, channels);
    return this.#resampler ? this.#resampler.push(samples) : samples;
  }
}

interface WavStart {
  /** Undefined for an encoding that this process does not decode. */
  readonly encoding: PcmEncoding | undefined;
  /** The encoding for messages. */
  readonly name: string;
  readonly channels: number;
  readonly sampleRateHertz: number;
  readonly dataOffset: number;
  /** Infinity if the header was written before the length was known. */
  readonly dataBytes: number;
}

/** The names of encodings for messages. */
const names: Readonly<Record<PcmEncoding, string>> = {
  u8: "8-bit samples",
  s16: "LINEAR16",
  s24: "24-bit samples",
  s32: "32-bit samples",
  f32: "32-bit floating-point samples",
  mulaw: "MULAW",
  alaw: "ALAW",
};

interface PcmFormat {
  readonly encoding: PcmEncoding;
  readonly channels: 1 | 2;
}

function formatOf({ encoding, channels = 1 }: BarePcm): PcmFormat {
  return { encoding, channels };
}

function agreed({ encoding, name, channels, sampleRateHertz }: WavStart, expected: BarePcm) {
  const format = formatOf(expected);
  if (encoding !== format.encoding) {
    const problem = `must be a WAV file with ${names[format.encoding]}, not ${name}`;
    throw new AudioError("audio", problem);
  }
  if (channels !== format.channels) {
    const count = `${format.channels} channel${format.channels === 1 ? "" : "s"}`;
    throw new AudioError("audio", `must be a WAV file with ${count}, not ${channels}`);
  }
  if (sampleRateHertz !== expected.sampleRateHertz && expected.sampleRateHertz > 0) {
    const problem = `is ${expected.sampleRateHertz}, but the WAV header of the audio has ${sampleRateHertz}`;
    throw new AudioError("sampleRateHertz", problem);
  }
  return format;
}

/** Reads the header; returns undefined if it is not complete. */
function readStart(head: Buffer): WavStart | undefined {
  let format: Omit<WavStart, "dataOffset" | "dataBytes"> | undefined;
  for (const { tag, body, size } of wavChunks(head)) {
    if (tag === "fmt ") {
      if (size < 16) throw new AudioError("audio", "has a WAV header with an invalid fmt chunk");
      if (body + Math.min(size, 40) > head.length) return undefined;
      format = readFormat(head.subarray(body, body + size));
    }
    if (tag !== "data") continue;
    if (!format) throw new AudioError("audio", "has a WAV header without a fmt chunk");
    // A program that writes to a pipe cannot fill in the size.
    const isUnknown = size === 0 || size >= 0x7fff_0000;
    return { ...format, dataOffset: body, dataBytes: isUnknown ? Infinity : size };
  }
  return undefined;
}

function readFormat(fmt: Buffer): Omit<WavStart, "dataOffset" | "dataBytes"> {
  const named = fmt.readUInt16LE(0);
  const isExtensible = named === wavFormatExtensible && fmt.length >= 26;
  const format = isExtensible ? fmt.readUInt16LE(24) : named;
  const [channels, bits] = [fmt.readUInt16LE(2), fmt.readUInt16LE(14)];
  const sampleRateHertz = fmt.readUInt32LE(4);
  if (channels === 0 || sampleRateHertz === 0) {
    throw new AudioError("audio", "has a WAV header with 0 channels or a sample rate of 0");
  }
  const encoding = encodings.find((one) => one.format === format && one.bits === bits)?.encoding;
  const bare = encoding === "s16" || encoding === "mulaw" || encoding === "alaw";
  const name = bare ? names[encoding] : `format ${format} with ${bits} bits`;
  return { encoding, name, channels, sampleRateHertz };
}

const encodings: readonly { format: number; bits: number; encoding: PcmEncoding }[] = [
  { format: wavFormatPcm, bits: 8, encoding: "u8" },
  { format: wavFormatPcm, bits: 16, encoding: "s16" },
  { format: wavFormatPcm, bits: 24, encoding: "s24" },
  { format: wavFormatPcm, bits: 32, encoding: "s32" },
  { format: 3, bits: 32, encoding: "f32" },
  { format: 6, bits: 8, encoding: "alaw" },
  { format: 7, bits: 8, encoding: "mulaw" },
];
