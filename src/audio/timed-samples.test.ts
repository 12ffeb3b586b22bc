import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readTimedSamples } from "./timed-samples.ts";

const rate = 16_000;

/**
 * Returns output like that of ffmpeg: a header, chunks about the stream, packets of [ms, samples],
 * and an end.
 */
function written(packets: readonly (readonly [number, readonly number[]])[]): Buffer {
  const chunk = (tag: string, ms: readonly number[], body: Buffer): Buffer => {
    const numbers = Buffer.alloc(4 * ms.length + 4);
    for (const [index, value] of [...ms, body.length].entries())
      numbers.writeUInt32BE(value, 4 * index);
    return Buffer.concat([Buffer.from(tag), numbers, body]);
  };
  const sounds = packets.map(([ms, samples]) =>
    chunk("sndD", [ms], Buffer.from(Int16Array.from(samples).buffer)),
  );
  const start = [
    Buffer.alloc(16),
    chunk("_TXT", [], Buffer.from("sndD")),
    chunk("_SND", [], Buffer.alloc(8)),
  ];
  return Buffer.concat([...start, Buffer.from("HEND"), ...sounds, Buffer.from("DONE")]);
}

async function read(bytes: Buffer, size = bytes.length): Promise<Int16Array[]> {
  async function* split() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  return await Array.fromAsync(readTimedSamples(split(), rate));
}

async function samplesOf(...from: Parameters<typeof read>): Promise<number[]> {
  return (await read(...from)).flatMap((part) => [...part]);
}

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

test("readTimedSamples() returns all samples in order, for any split into chunks", async () => {
  const packets = fc.array(fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 50 }), {
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(packets, fc.integer({ min: 1, max: 300 }), async (packets, size) => {
      let before = 0;
      const timed = packets.map((samples) => {
        const packet = [Math.round((before * 1000) / rate), samples] as const;
        before += samples.length;
        return packet;
      });
      assert.deepEqual(await samplesOf(written(timed), size), packets.flat());
    }),
    { numRuns: 100, seed: 3 },
  );
});

test("readTimedSamples() fills gaps with silence, drops duplicates and tolerates inexact times", async () => {
  const rows: readonly (readonly [string, [number, number[]][], (readonly [number, number])[]])[] =
    [
      [
        "a late start",
        [[30, ones(160)]],
        [
          [480, 0],
          [160, 1],
        ],
      ],
      [
        "a gap",
        [
          [0, ones(160)],
          [1_010, ones(160)],
        ],
        [
          [160, 1],
          [16_000, 0],
          [160, 1],
        ],
      ],
      [
        "times that are 90 ms off",
        [
          [0, ones(160)],
          [100, ones(160)],
          [0, ones(160)],
        ],
        [[480, 1]],
      ],
      [
        "a second twice",
        [
          [0, ones(32_000)],
          [1_000, ones(32_000)],
        ],
        [[48_000, 1]],
      ],
      [
        "what is over",
        [
          [0, ones(32_000)],
          [0, ones(16_000)],
        ],
        [[32_000, 1]],
      ],
      ["nothing", [], []],
    ];
  for (const [name, packets, expected] of rows) {
    const samples = expected.flatMap(([count, value]) =>
      Array.from({ length: count }, () => value),
    );
    assert.deepEqual(await samplesOf(written(packets)), samples, name);
  }
});

test("readTimedSamples() yields a gap of eight hours in small chunks", async () => {
  let [total, most] = [0, 0];
  async function* all() {
    yield written([[8 * 3_600_000, [7]]]);
  }
  for await (const { length } of readTimedSamples(all(), rate)) {
    total += length;
    most = Math.max(most, length);
  }
  assert.equal(total, 8 * 3_600 * rate + 1);
  assert.equal(most, rate / 2);
});

test("readTimedSamples() rejects data that no decoder writes", async () => {
  const whole = written([[0, ones(10)]]);
  const odd = Buffer.from(whole);
  odd.writeUInt32BE(19, odd.indexOf("sndD", 30) + 8);
  const large = Buffer.from(whole);
  large.writeUInt32BE(0xffff_ffff, large.indexOf("sndD", 30) + 8);
  const other = Buffer.concat([whole.subarray(0, 16), Buffer.from("RIFF"), whole.subarray(16)]);
  for (const bytes of [odd, large, other]) {
    await assert.rejects(read(bytes), { reason: "MEDIA_INVALID" });
  }
});
