import assert from "node:assert/strict";
import { test } from "node:test";
import { Cepstra, cepstrumLength } from "./cepstra.ts";
import { RunningMean, utteranceMean } from "./cepstral-mean.ts";

/** Frames of this power, with its tenth in every other coefficient. */
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

test("utteranceMean() is that of the speech, with little of the silence around it", () => {
  const rows: [parts: [power: number, count: number][], power: number][] = [
    [[[60, 100]], 60],
    // As much silence as is taken.
    [
      [
        [20, 15],
        [60, 85],
      ],
      54,
    ],
    // Twenty times as much of it changes nothing.
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
    // Nothing else is there.
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

test("RunningMean goes from what was known to what is said, and silence does not move it", () => {
  const mean = new RunningMean(new Float64Array(cepstrumLength).fill(40));
  assert.equal(mean.value()[0], 40);
  const add = (power: number, count: number) => {
    for (let n = 0; n < count; n++) mean.add(frames(power, 1));
    return mean.value()[0] ?? NaN;
  };
  assert.equal(add(-46, 100), 40);
  assert.equal(add(20, 100), 40);
  const soon = add(60, 150);
  assert.ok(Math.abs(soon - 50) < 0.1, String(soon));
  assert.equal(add(21, 500), soon);
  assert.ok(add(60, 5000) > 59);
});

test("Cepstra keeps what it is given, however much", () => {
  const cepstra = new Cepstra();
  for (let power = 1; power <= 1000; power++) cepstra.append(frames(power, power % 3));
  assert.equal(cepstra.count, 1000);
  assert.equal(cepstra.power(0), 1);
  assert.equal(cepstra.power(999), 1000);
  assert.deepEqual(cepstra.frame(999), frames(1000, 1));
  cepstra.clear();
  assert.equal(cepstra.count, 0);
});
