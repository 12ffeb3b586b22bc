import {
  Resampler,
  resampledRate,
  resampleRateMax,
  resampleRateMin,
} from "../../audio/resample.ts";
import { shown, Violations } from "../../std/service-error.ts";

/** The form of samples as events name it: hertz, bytes of a sample, channels. */
export interface ChunkFormat {
  readonly rate: number;
  readonly width: number;
  readonly channels: number;
}

const rateMax = 384_000;
const widthMax = 4;
const channelsMax = 32;

/**
 * Reads the form of samples in an event; what it lacks is as before. Throws invalid_argument with
 * every violation.
 */
export function readChunkFormat(
  data: Readonly<Record<string, unknown>>,
  before: ChunkFormat,
): ChunkFormat {
  const violations = new Violations();
  const number = (name: keyof ChunkFormat, min: number, max: number): number => {
    const value = data[name] ?? before[name];
    if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) {
      return value;
    }
    violations.add(name, `must be ${min} to ${max}, not ${shown(value)}`);
    return before[name];
  };
  const format = {
    rate: number("rate", resampleRateMin, rateMax),
    width: number("width", 1, widthMax),
    channels: number("channels", 1, channelsMax),
  };
  violations.throwIfAny();
  return format;
}

/** The form of samples that Home Assistant sends. */
export const commonFormat: ChunkFormat = { rate: resampledRate, width: 2, channels: 1 };

/**
 * Converts samples of any form to 16 bits of one channel at 16 kHz. The form may change between two
 * chunks. As in the reference implementation, samples of 8 bits are signed too.
 */
export class ChunkAudio {
  #format = commonFormat;
  #resampler = new Resampler(resampledRate);
  /** How many samples are averaged, at rates that the resampler does not accept. */
  #together = 1;
  /** The bytes of an incomplete sample. */
  #rest = Buffer.alloc(0);

  get format(): ChunkFormat {
    return this.#format;
  }

  /** Sets the form of the next samples. Returns the end of those before, if it is another one. */
  change(format: ChunkFormat): Buffer {
    const { rate, width, channels } = this.#format;
    if (rate === format.rate && width === format.width && channels === format.channels) {
      return Buffer.alloc(0);
    }
    const end = this.end();
    this.#format = format;
    this.#together = Math.ceil(format.rate / resampleRateMax);
    this.#resampler = new Resampler(Math.round(format.rate / this.#together));
    this.#rest = Buffer.alloc(0);
    return end;
  }

  push(bytes: Buffer): Buffer {
    const { width, channels } = this.#format;
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames = width * channels * this.#together;
    const whole = all.length - (all.length % frames);
    // The chunk may share its memory with others.
    this.#rest = Buffer.from(all.subarray(whole));
    if (width === 2 && frames === 2 && this.#format.rate === resampledRate) {
      return all.subarray(0, whole);
    }
    return bytesOf(this.#resampler.push(averaged(all, whole / frames, frames / width, width)));
  }

  /** Returns the end of the audio. */
  end(): Buffer {
    return bytesOf(this.#resampler.end());
  }
}

/** Returns `count` samples, each the average of `each` samples of this width. */
function averaged(bytes: Buffer, count: number, each: number, width: number): Int16Array {
  const samples = new Int16Array(count);
  const scale = each * 2 ** (8 * width - 16);
  for (let at = 0; at < count; at += 1) {
    let sum = 0;
    for (let n = 0; n < each; n += 1) sum += bytes.readIntLE((at * each + n) * width, width);
    samples[at] = Math.max(-32_768, Math.min(32_767, Math.round(sum / scale)));
  }
  return samples;
}

function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}
