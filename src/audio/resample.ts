import { LRUCache } from "lru-cache";
import { restoredSamples, savedSamples } from "./saved-samples.ts";

/** The sample rate of the resampler's output. */
export const resampledRate = 16_000;

/** The sample rates that the resampler accepts (§8: sampleRateHertz). */
export const resampleRateMin = 8000;
export const resampleRateMax = 48_000;

/**
 * The zero crossings of the sinc on either side. With a beta of 9, an alias of 9 kHz is at -93 dB.
 */
const zeroCrossings = 24;
const kaiserBeta = 9;
/**
 * The cutoff as a share of the lower Nyquist frequency. At 0.9 of that frequency, the level is -0.7
 * dB.
 */
const cutOff = 0.955;
/**
 * A rate that needs more phases than this has a table with phasesShared phases, and interpolates
 * between the rows of the table.
 */
const phasesExactMax = 640;
const phasesShared = 512;
const tablesKept = 16;

interface Table {
  /** The number of output samples in a period, and the number of input samples. */
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  /**
   * The rows, one after another. Row p is the filter at p / (rows - 1 or up) of an input sample.
   */
  readonly rows: Float32Array;
  /** Whether every phase has its own row. */
  readonly isExact: boolean;
}

/** The state of a resampler, as plain data. */
export interface SavedResampler {
  /**
   * The input that filters still need. It begins at the first sample under the filter of the next
   * output sample.
   */
  readonly input: string;
  readonly phase: number;
}

/**
 * Resamples 16-bit samples of one channel from 8000..48000 Hz to 16 kHz, with a polyphase
 * Kaiser-windowed sinc without delay. The output has ceil(input samples * 16000 / rate) samples for
 * any split into chunks. Audio at 16 kHz passes unchanged.
 */
export class Resampler {
  readonly #table: Table | undefined;
  /** The input that filters still need. */
  #input: Float32Array;
  #filled: number;
  /**
   * The first input sample under the filter of the next output sample, and the fraction after this
   * sample in units of 1/up.
   */
  #at = 0;
  #phase = 0;

  constructor(rateHertz: number) {
    if (
      !Number.isInteger(rateHertz) ||
      rateHertz < resampleRateMin ||
      rateHertz > resampleRateMax
    ) {
      throw new RangeError(
        `sample rate ${rateHertz}, not ${resampleRateMin} to ${resampleRateMax}`,
      );
    }
    this.#table = rateHertz === resampledRate ? undefined : tableFor(rateHertz);
    const lead = this.#table ? this.#table.taps / 2 - 1 : 0;
    // Silence before the first sample aligns output sample 0 with input sample 0.
    this.#input = new Float32Array(lead);
    this.#filled = lead;
  }

  /** Adds the next samples. Returns the output that they complete, as a view that stays valid. */
  push(samples: Int16Array): Int16Array {
    if (!this.#table) return samples;
    this.#append(this.#table, samples.length, (into, at) => into.set(samples, at));
    return this.#drain(this.#table, this.#filled);
  }

  /** Returns the state after the samples so far. */
  save(): SavedResampler {
    const input = Int16Array.from(this.#input.subarray(this.#at, this.#filled));
    return { input: savedSamples(input), phase: this.#phase };
  }

  /** Restores a saved state in a new resampler of the same rate. */
  restore(saved: SavedResampler): void {
    this.#input = Float32Array.from(restoredSamples(saved.input));
    this.#filled = this.#input.length;
    this.#at = 0;
    this.#phase = saved.phase;
  }

  /** Ends the input, and returns the rest of the output. */
  end(): Int16Array {
    if (!this.#table) return new Int16Array(0);
    // Silence of half a filter length completes the last output sample.
    const half = this.#table.taps / 2;
    this.#append(this.#table, half, (into, at) => into.fill(0, at, at + half));
    return this.#drain(this.#table, this.#filled);
  }

  #append(table: Table, count: number, write: (into: Float32Array, at: number) => void): void {
    const kept = this.#filled - Math.min(this.#at, this.#filled);
    const needed = kept + count;
    const from = this.#filled - kept;
    if (needed > this.#input.length) {
      const grown = new Float32Array(needed + table.taps);
      grown.set(this.#input.subarray(from, this.#filled));
      this.#input = grown;
    } else {
      this.#input.copyWithin(0, from, this.#filled);
    }
    this.#at -= from;
    write(this.#input, kept);
    this.#filled = needed;
  }

  #drain(table: Table, filled: number): Int16Array {
    const { up, down, taps, rows, isExact } = table;
    const last = filled - taps;
    if (this.#at > last) return new Int16Array(0);
    const out = new Int16Array(Math.ceil(((last - this.#at + 1) * up) / down) + 1);
    const step = Math.floor(down / up);
    const stepPhase = down % up;
    const input = this.#input;
    let [at, phase, count] = [this.#at, this.#phase, 0];
    while (at <= last) {
      const place = isExact ? phase : (phase / up) * phasesShared;
      const row = Math.floor(place);
      let value = dot(input, at, rows, row * taps, taps);
      if (!isExact) {
        value += (place - row) * (dot(input, at, rows, (row + 1) * taps, taps) - value);
      }
      out[count++] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
      at += step;
      phase += stepPhase;
      if (phase >= up) {
        phase -= up;
        at += 1;
      }
    }
    this.#at = at;
    this.#phase = phase;
    return out.subarray(0, count);
  }
}

function dot(a: Float32Array, atA: number, b: Float32Array, atB: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += (a[atA + k] ?? 0) * (b[atB + k] ?? 0);
  return sum;
}

/** The most recently used tables, by rate. All streams of a rate share one table. */
const tables = new LRUCache<number, Table>({ max: tablesKept });

function tableFor(rateHertz: number): Table {
  const table = tables.get(rateHertz) ?? makeTable(rateHertz);
  tables.set(rateHertz, table);
  return table;
}

function makeTable(rateHertz: number): Table {
  const divisor = greatestCommonDivisor(rateHertz, resampledRate);
  const up = resampledRate / divisor;
  const isExact = up <= phasesExactMax;
  const phases = isExact ? up : phasesShared;
  const lower = Math.min(1, resampledRate / rateHertz);
  const half = Math.ceil(zeroCrossings / lower);
  const taps = 2 * half;
  const rows = new Float32Array((phases + 1) * taps);
  for (let phase = 0; phase <= phases; phase++) {
    const row = rows.subarray(phase * taps, (phase + 1) * taps);
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      const t = k - half + 1 - phase / phases;
      const window = bessel(kaiserBeta * Math.sqrt(Math.max(0, 1 - (t / half) ** 2)));
      const tap = sinc(lower * cutOff * t) * window;
      row[k] = tap;
      sum += tap;
    }
    // Every row is normalized, so that every phase passes a constant unchanged; otherwise a tone
    // would appear at the phase rate.
    for (let k = 0; k < taps; k++) row[k] = (row[k] ?? 0) / sum;
  }
  return { up, down: rateHertz / divisor, taps, rows, isExact };
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Returns the modified Bessel function of order 0, computed as its power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
