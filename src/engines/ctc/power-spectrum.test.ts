import assert from "node:assert/strict";
import { test } from "node:test";
import { PowerSpectrum } from "./power-spectrum.ts";

test("power spectra equal Fourier sums", () => {
  for (const length of [8, 32, 512]) {
    const spectrum = new PowerSpectrum(length);
    const powers = new Float64Array(length / 2);
    // The spectrum is computed twice, because the first run must leave nothing behind.
    for (const turn of [1, 2]) {
      const frame = Float64Array.from(
        { length },
        (_, at) => Math.sin(at * at * turn) + at / length,
      );
      spectrum.write(frame, powers);
      for (const [bin, power] of powers.entries()) {
        let [real, imaginary] = [0, 0];
        for (const [at, each] of frame.entries()) {
          real += each * Math.cos((2 * Math.PI * bin * at) / length);
          imaginary += each * Math.sin((2 * Math.PI * bin * at) / length);
        }
        const difference = Math.abs(power - real * real - imaginary * imaginary);
        assert.ok(difference < 1e-8 * (1 + power), `bin ${bin} of ${length}`);
      }
    }
  }
});

test("lengths other than twice a power of four are rejected", () => {
  for (const length of [0, 3, 16, 400]) assert.throws(() => new PowerSpectrum(length), /power of/);
});
