import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { Resampler } from "./resample.ts";

function resampled(rate: number, chunks: readonly Int16Array[]): number[] {
  const resampler = new Resampler(rate);
  const parts = chunks.map((chunk) => [...resampler.push(chunk)]);
  return [...parts.flat(), ...resampler.end()];
}

function tone(rate: number, hertz: number, seconds: number): Int16Array {
  return Int16Array.from({ length: rate * seconds }, (_, index) =>
    Math.round(16_384 * Math.sin((2 * Math.PI * hertz * index) / rate)),
  );
}

/**
 * Measures a tone of this frequency at 16 kHz. Returns the level of the tone relative to tone(),
 * and the level of everything else relative to the measured tone, both in dB.
 */
function measure(samples: readonly number[], hertz: number): { level: number; rest: number } {
  // The ends are omitted, since they include half a filter length of silence.
  const middle = samples.slice(1600, -1600);
  let [cos, sin] = [0, 0];
  const phase = (index: number) => (2 * Math.PI * hertz * index) / 16_000;
  for (const [index, value] of middle.entries()) {
    cos += (2 * value * Math.cos(phase(index))) / middle.length;
    sin += (2 * value * Math.sin(phase(index))) / middle.length;
  }
  const power = middle.reduce((sum, value, index) => {
    const rest = value - cos * Math.cos(phase(index)) - sin * Math.sin(phase(index));
    return sum + rest * rest;
  }, 0);
  const amplitude = Math.hypot(cos, sin);
  return {
    level: 20 * Math.log10(amplitude / 16_384 + 1e-9),
    rest: 10 * Math.log10((2 * power) / middle.length / amplitude ** 2),
  };
}

test("Resampler passes 16 kHz unchanged", () => {
  const samples = Int16Array.of(1, -2, 3);
  const resampler = new Resampler(16_000);
  assert.equal(resampler.push(samples), samples);
  assert.equal(resampler.end().length, 0);
});

test("Resampler preserves a tone and passes no alias", () => {
  for (const rate of [8000, 11_025, 22_050, 32_000, 44_099, 44_100, 48_000]) {
    const { level, rest } = measure(resampled(rate, [tone(rate, 1000, 2)]), 1000);
    assert.ok(Math.abs(level) < 0.01, `1 kHz from ${rate}: ${level} dB`);
    assert.ok(rest < -80, `distortion from ${rate}: ${rest} dB`);
  }
  // A tone of 9 kHz would appear as an alias of 7 kHz.
  for (const rate of [32_000, 44_099, 44_100, 48_000]) {
    const { level } = measure(resampled(rate, [tone(rate, 9000, 2)]), 7000);
    assert.ok(level < -80, `alias from ${rate}: ${level} dB`);
  }
  assert.ok(measure(resampled(8000, [tone(8000, 3400, 2)]), 4600).level < -80, "image");
  assert.ok(measure(resampled(48_000, [tone(48_000, 7200, 2)]), 7200).level > -1, "pass band");
});

test("Resampler suppresses everything above its band, at any rate and frequency", () => {
  const power = (samples: readonly number[]) =>
    samples.reduce((sum, value) => sum + value * value, 0) / samples.length;
  // All tones are at 8.7 kHz or above. The slope of the filter is between 7.4 and 8 kHz, where
  // speech has no energy.
  for (const rate of [22_050, 24_000, 32_000, 44_099, 44_100, 47_999, 48_000]) {
    for (const hertz of [8700, 9500, 10_700, 12_345, 15_900, 16_100, 19_000, 23_500]) {
      if (hertz >= rate / 2) continue;
      const out = resampled(rate, [tone(rate, hertz, 1)]).slice(1600, -1600);
      const level = 10 * Math.log10(power(out) / (16_384 ** 2 / 2) + 1e-12);
      assert.ok(level < -80, `${hertz} Hz at ${rate}: ${level} dB`);
    }
  }
});

/**
 * Computes only the products and sums of a filter with 24 zero crossings on either side, for a
 * second at 16 kHz.
 */
function filterPlainly(input: Float32Array, filter: Float32Array): number {
  let loudest = 0;
  for (let at = 0; at < 16_000; at++) {
    let sum = 0;
    for (let k = 0; k < filter.length; k++) sum += (input[at + k] ?? 0) * (filter[k] ?? 0);
    loudest = Math.max(loudest, sum);
  }
  return loudest;
}

test("Resampler takes at most 8 times the CPU time of a plain convolution", () => {
  for (const rate of [8000, 44_099, 44_100, 48_000]) {
    const second = tone(rate, 1000, 1);
    const resampler = new Resampler(rate);
    const filter = new Float32Array(48 * Math.max(1, rate / 16_000)).fill(0.01);
    const input = Float32Array.from({ length: 16_000 + filter.length }, (_, at) => at % 100);
    let [least, plainly] = [Infinity, Infinity];
    // The minimum of several rounds is used. The rounds alternate with the baseline, so that a busy
    // or slow machine affects both.
    for (let round = 0; round < 8 || (round < 80 && least > 8 * plainly); round++) {
      const startMs = cpuMs();
      for (let part = 0; part < 10; part++) {
        resampler.push(second.subarray((part * rate) / 10, ((part + 1) * rate) / 10));
      }
      const betweenMs = cpuMs();
      assert.ok(filterPlainly(input, filter) > 0);
      least = Math.min(least, betweenMs - startMs);
      plainly = Math.min(plainly, cpuMs() - betweenMs);
    }
    // The ratio is 1 to 3, and a second of audio takes 2 to 4 ms (bench/RESULTS.md).
    assert.ok(least <= 8 * plainly, `${rate}: ${least} ms, its sums alone ${plainly} ms`);
  }
});

test("Resampler preserves the time of each sample", () => {
  const rate = 48_000;
  const pulse = new Int16Array(4800);
  pulse[2400] = 30_000;
  const out = resampled(rate, [pulse]);
  assert.equal(out.indexOf(Math.max(...out)), 800);
});

test("Resampler returns the same samples, and the right number of samples, for any split into chunks", () => {
  const samples = Int16Array.from({ length: 3000 }, (_, index) =>
    Math.round(20_000 * Math.sin(index * index * 0.0007)),
  );
  const rates = fc.oneof(
    fc.constantFrom(8000, 11_025, 22_050, 24_000, 44_100, 48_000),
    fc.integer({ min: 8000, max: 48_000 }),
  );
  const cuts = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 20 });
  fc.assert(
    fc.property(rates, fc.integer({ min: 0, max: 3000 }), cuts, (rate, length, cutsAt) => {
      const input = samples.subarray(0, length);
      const whole = resampled(rate, [input]);
      assert.equal(whole.length, Math.ceil((length * 16_000) / rate));
      const edges = [0, ...cutsAt.filter((at) => at <= length).toSorted((a, b) => a - b), length];
      const chunks = edges.slice(1).map((edge, index) => input.subarray(edges[index], edge));
      assert.deepEqual(resampled(rate, chunks), whole);
    }),
    { numRuns: 60 },
  );
});

test("Resampler clips loud samples to 16 bits", () => {
  const square = Int16Array.from({ length: 4800 }, (_, index) =>
    Math.floor(index / 40) % 2 ? 32_767 : -32_768,
  );
  const out = resampled(48_000, [square]);
  assert.equal(Math.max(...out), 32_767);
  assert.equal(Math.min(...out), -32_768);
});

test("Resampler rejects rates outside its range", () => {
  for (const rate of [7999, 48_001, 16_000.5, Number.NaN]) {
    assert.throws(() => new Resampler(rate), RangeError, String(rate));
  }
});

test("a restored Resampler continues exactly where the saved one stopped", () => {
  const rates = fc.constantFrom(8000, 11_025, 16_000, 22_050, 44_099, 44_100, 48_000);
  const lengths = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(rates, lengths, fc.nat(5), (rate, sizes, savedAt) => {
      let seed = 1;
      const chunks = sizes.map((length) =>
        Int16Array.from({ length }, () => {
          seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
          return (seed >>> 16) - 32_768;
        }),
      );
      const first = new Resampler(rate);
      const before = chunks.slice(0, savedAt).flatMap((chunk) => [...first.push(chunk)]);
      const second = new Resampler(rate);
      second.restore(JSON.parse(JSON.stringify(first.save())));
      const after = chunks.slice(savedAt).flatMap((chunk) => [...second.push(chunk)]);
      assert.deepEqual([...before, ...after, ...second.end()], resampled(rate, chunks));
    }),
  );
});
