import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { noise } from "../../test/fixtures/flite.ts";
import { WaveformMaker, waveformJson } from "./waveform.ts";

/** Returns the sections of the waveform of samples that are pushed in these parts. */
function sectionsOf(sampleRate: number, ...parts: readonly Int16Array[]): Int8Array[] {
  const maker = new WaveformMaker(sampleRate);
  const sections = parts.flatMap((part) => maker.push(part));
  const last = maker.end();
  return last ? [...sections, last] : sections;
}

function valuesOf(sections: readonly Int8Array[]): number[] {
  return sections.flatMap((section) => Array.from(section));
}

describe("WaveformMaker", () => {
  test("a pixel is the minimum and the maximum of 50 ms, divided by 256 and truncated towards zero", () => {
    const rows: [samples: number[], pixels: number[]][] = [
      [[], []],
      [[0], [0, 0]],
      [
        [255, -255, 0, 100],
        [0, 0],
      ],
      [
        [256, -256, 0, 100],
        [-1, 1],
      ],
      [
        [511, -511, 512, -513],
        [-2, 2],
      ],
      [
        [-32_768, 32_767, 0, 0],
        [-128, 127],
      ],
      [
        [300, 400, 500, 600],
        [1, 2],
      ],
      [
        [-300, -400, -500, -600],
        [-2, -1],
      ],
      [
        [0, 0, 0, 0, 2560],
        [0, 0, 10, 10],
      ],
      [
        [-2560, -2560, -2560, -2560, 0, 0, 0, 0],
        [-10, -10, 0, 0],
      ],
    ];
    for (const [samples, pixels] of rows) {
      // At 80 samples per second, a pixel has four samples.
      assert.deepEqual(valuesOf(sectionsOf(80, Int16Array.from(samples))), pixels, samples.join());
    }
  });

  test("pixels follow their definition, for any split of the samples into chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 40 }), {
          maxLength: 40,
        }),
        (parts) => {
          const samples = parts.flat();
          const expected: number[] = [];
          for (let at = 0; at < samples.length; at += 7) {
            const pixel = samples.slice(at, at + 7);
            for (const value of [Math.min(...pixel), Math.max(...pixel)]) {
              expected.push(Math.trunc(value / 256) + 0);
            }
          }
          const split = sectionsOf(140, ...parts.map((part) => Int16Array.from(part)));
          assert.deepEqual(valuesOf(split), expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("sections are ten minutes long, and the last section has the remaining pixels", () => {
    const samples = noise(25 * 60_000 + 20, 20_000, 400);
    const sections = sectionsOf(400, samples);
    assert.deepEqual(
      sections.map(({ length }) => length),
      [24_000, 24_000, 12_002],
    );
    const parts: Int16Array[] = [];
    for (let at = 0; at < samples.length; at += 4099) parts.push(samples.subarray(at, at + 4099));
    assert.deepEqual(sectionsOf(400, ...parts), sections);
    const whole = sectionsOf(400, samples.subarray(0, 2 * 240_000));
    assert.deepEqual(
      whole.map(({ length }) => length),
      [24_000, 24_000],
      "nothing is left for another one",
    );
  });
});

test("waveformJson() writes audiowaveform's JSON, version 2", async () => {
  const textOf = async (...sections: number[][]): Promise<string> => {
    const list = sections.map((section) => Int8Array.from(section));
    const length = sections.flat().length / 2;
    const texts = waveformJson({ sampleRate: 16_000, length, sections: each(list) });
    return (await Array.fromAsync(texts)).join("");
  };
  const head = (length: number): string =>
    `{"version":2,"channels":1,"sample_rate":16000,"samples_per_pixel":800,"bits":8,"length":${length},"data":`;
  assert.equal(await textOf(), `${head(0)}[]}`);
  assert.equal(await textOf([-1, 2]), `${head(1)}[-1,2]}`);
  assert.equal(await textOf([-128, 127, 0, 0], [-3, 4]), `${head(3)}[-128,127,0,0,-3,4]}`);
});

async function* each(sections: readonly Int8Array[]): AsyncGenerator<Int8Array, void, undefined> {
  yield* sections;
}
