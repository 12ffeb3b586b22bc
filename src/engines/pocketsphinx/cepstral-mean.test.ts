import assert from "node:assert/strict";
import { test } from "node:test";
import { Cepstra, cepstrumLength } from "./cepstra.ts";
import { meanBetween, meanDistance, speechFrames, utteranceMean } from "./cepstral-mean.ts";

/** Frames with this power, and a tenth of it in every other coefficient. */
function frames(power: number, count: number): Float32Array {
  const values = new Float32Array(count * cepstrumLength).fill(power / 10);
  for (let frame = 0; frame < count; frame++) values[frame * cepstrumLength] = power;
  return values;
}

function cepstraOf(...parts: readonly [power: number, count: number][]): Cepstra {
  const cepstra = new Cepstra();
  for (const [power, count] of parts) cepstra.append(frames(power, count));
  return cepstra;
}

test("utteranceMean() returns the mean of the speech, with little of the silence around it", () => {
  const rows: [parts: [power: number, count: number][], power: number][] = [
    [[[60, 100]], 60],
    // This is the maximum amount of silence that counts.
    [
      [
        [20, 15],
        [60, 85],
      ],
      54,
    ],
    // Twenty times as much silence changes nothing.
    [
      [
        [20, 1700],
        [60, 300],
      ],
      54,
    ],
    // Digital silence does not count at all.
    [
      [
        [-46, 500],
        [60, 100],
        [-46, 500],
      ],
      60,
    ],
    [
      [
        [-46, 500],
        [20, 15],
        [60, 85],
      ],
      54,
    ],
    // There is only digital silence.
    [[[-46, 50]], -46],
  ];
  for (const [parts, power] of rows) {
    const mean = utteranceMean(cepstraOf(...parts));
    assert.equal(mean.length, cepstrumLength);
    const what = JSON.stringify(parts);
    assert.ok(Math.abs((mean[0] ?? NaN) - power) < 1e-4, `${what}: ${mean[0]}`);
    assert.ok(Math.abs((mean[12] ?? NaN) - power / 10) < 1e-4, `${what}: ${mean[12]}`);
  }
});

test("utteranceMean() of the first frames ignores the other frames", () => {
  const cepstra = cepstraOf([60, 50], [20, 500]);
  assert.ok(Math.abs((utteranceMean(cepstra, 50)[0] ?? NaN) - 60) < 1e-4);
});

test("speechFrames() counts frames that are louder than the quiet part", () => {
  const rows: [parts: [power: number, count: number][], count: number, speech: number][] = [
    [
      [
        [20, 40],
        [60, 60],
      ],
      100,
      60,
    ],
    [
      [
        [20, 90],
        [60, 10],
      ],
      100,
      10,
    ],
    // A click.
    [
      [
        [20, 97],
        [60, 3],
      ],
      100,
      0,
    ],
    [
      [
        [-46, 50],
        [20, 20],
        [60, 30],
      ],
      100,
      30,
    ],
    [
      [
        [20, 40],
        [60, 60],
      ],
      50,
      10,
    ],
    [[[-46, 50]], 50, 0],
  ];
  for (const [parts, count, speech] of rows) {
    assert.equal(speechFrames(cepstraOf(...parts), count), speech, JSON.stringify(parts));
  }
});

test("meanDistance() measures every coefficient in its standard deviations", () => {
  const zero = new Float64Array(cepstrumLength);
  const deviations = [29.6, 18.4, 14.5, 20.1, 18.1, 13.2, 14.9, 14.5, 13.4, 12.7, 10.7, 10, 10.6];
  const half = Float64Array.from(deviations, (deviation) => deviation / 2);
  assert.equal(meanDistance(zero, zero), 0);
  assert.ok(Math.abs(meanDistance(zero, half) - 0.5) < 1e-9);
  assert.ok(Math.abs(meanDistance(half, zero) - 0.5) < 1e-9);
});

test("meanBetween() returns the point at a given share of the way", () => {
  const [one, other] = [Float64Array.of(0, 10), Float64Array.of(4, 20)];
  assert.deepEqual(meanBetween(one, other, 0), one);
  assert.deepEqual(meanBetween(one, other, 1), other);
  assert.deepEqual(meanBetween(one, other, 0.25), Float64Array.of(1, 12.5));
});

test("Cepstra stores any number of frames", () => {
  const cepstra = new Cepstra();
  for (let power = 1; power <= 1000; power++) cepstra.append(frames(power, power % 3));
  assert.equal(cepstra.count, 1000);
  assert.equal(cepstra.power(0), 1);
  assert.equal(cepstra.power(999), 1000);
  assert.deepEqual(cepstra.frame(999), frames(1000, 1));
  cepstra.clear();
  assert.equal(cepstra.count, 0);
});
