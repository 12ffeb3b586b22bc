import assert from "node:assert/strict";
import { test } from "node:test";
import { FilterBanks } from "./filter-banks.ts";
import { silenceFeature } from "./mel-filters.ts";

/** Generates a speech-like sound: tones that glide and fade, with background noise. */
function sound(length: number, seed = 1): Int16Array {
  let state = seed;
  return Int16Array.from({ length }, (_, index) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const noise = state / 0x7fffffff - 0.5;
    const tone = Math.sin(index * (0.02 + index * 2e-6)) * Math.sin(index / 900) ** 2;
    return Math.round(400 + 9000 * tone + 600 * noise);
  });
}

/**
 * A reference implementation, which processes the whole recording at once and computes a Fourier
 * sum for each bin.
 */
function slowFilterBanks(samples: Int16Array, binCount: number): number[][] {
  const count = Math.floor((samples.length + 80) / 160);
  const mel = (hertz: number) => 1127 * Math.log(1 + hertz / 700);
  const step = (mel(7600) - mel(20)) / (binCount + 1);
  return Array.from({ length: count }, (_, frame) => {
    const raw = Array.from({ length: 400 }, (_, index) => {
      let at = frame * 160 + 80 - 200 + index;
      while (at < 0 || at >= samples.length) at = at < 0 ? -1 - at : 2 * samples.length - 1 - at;
      return (samples[at] ?? 0) / 32_768;
    });
    const mean = raw.reduce((sum, each) => sum + each, 0) / 400;
    const level = raw.map((each) => each - mean);
    const shaped = level.map((each, index) => {
      const emphasized = each - 0.97 * (level[index - 1] ?? each);
      return emphasized * (0.5 - 0.5 * Math.cos((2 * Math.PI * index) / 399)) ** 0.85;
    });
    const powers = Array.from({ length: 256 }, (_, bin) => {
      let [real, imaginary] = [0, 0];
      for (const [index, each] of shaped.entries()) {
        real += each * Math.cos((2 * Math.PI * bin * index) / 512);
        imaginary += each * Math.sin((2 * Math.PI * bin * index) / 512);
      }
      return real * real + imaginary * imaginary;
    });
    return Array.from({ length: binCount }, (_, bin) => {
      const center = mel(20) + (bin + 1) * step;
      const sum = powers.reduce((total, power, at) => {
        const distance = Math.abs(mel((at * 16_000) / 512) - center) / step;
        return total + power * Math.max(0, 1 - distance);
      }, 0);
      return Math.log(Math.max(sum, 1.1920928955078125e-7));
    });
  });
}

function banksOf(samples: Int16Array, length: number, binCount = 80): FilterBanks {
  const banks = new FilterBanks(binCount);
  for (let at = 0; at < samples.length; at += length) {
    banks.accept(samples.subarray(at, at + length));
  }
  banks.end();
  return banks;
}

test("filter banks equal those of a Fourier sum over mirrored samples", () => {
  for (const [length, binCount] of [
    [0, 80],
    [79, 80],
    [80, 80],
    [100, 80],
    [281, 80],
    [4001, 80],
    [1500, 64],
    [1500, 128],
  ] as const) {
    const samples = sound(length);
    const expected = slowFilterBanks(samples, binCount);
    const banks = banksOf(samples, 10_000, binCount);
    assert.equal(banks.count, expected.length, `${length} samples`);
    for (const [index, value] of expected.flat().entries()) {
      const difference = Math.abs(value - (banks.values[index] ?? Number.NaN));
      assert.ok(difference < 2e-6, `${length} samples, value ${index} is off by ${difference}`);
    }
  }
});

test("any split of the samples gives exactly the same frames", () => {
  const samples = sound(20_000);
  const whole = banksOf(samples, samples.length).values;
  for (const length of [1, 7, 159, 160, 400, 401, 1600, 6001]) {
    assert.deepEqual(banksOf(samples, length).values, whole, `chunks of ${length}`);
  }
});

test("a frame is created as soon as its window is complete", () => {
  const banks = new FilterBanks();
  banks.accept(sound(279));
  assert.equal(banks.count, 0);
  banks.accept(sound(1));
  assert.equal(banks.count, 1);
  banks.accept(sound(1600));
  assert.equal(banks.count, 11);
});

test("drop() removes the first frames while a minute of audio is added", () => {
  const samples = sound(16_000);
  const whole = banksOf(samples, samples.length).values;
  const banks = new FilterBanks();
  const taken: number[] = [];
  for (let at = 0; at < samples.length; at += 500) {
    banks.accept(samples.subarray(at, at + 500));
    if (banks.count < 9) continue;
    taken.push(...banks.values.subarray(0, 7 * 80));
    banks.drop(7);
  }
  banks.end();
  taken.push(...banks.values);
  assert.deepEqual(Float32Array.from(taken), whole);
});

test("clear() removes everything from the last utterance", () => {
  const samples = sound(3000);
  const banks = banksOf(sound(5000, 7), 900);
  banks.drop(3);
  banks.clear();
  assert.equal(banks.count, 0);
  banks.accept(samples);
  banks.end();
  assert.deepEqual(banks.values, banksOf(samples, 3000).values);
});

test("silence has the minimum feature value, including silence that addSilence() adds", () => {
  const banks = banksOf(new Int16Array(800), 800);
  banks.addSilence(2);
  assert.equal(banks.count, 7);
  assert.ok(banks.values.every((value) => value === Math.fround(silenceFeature)));
});
