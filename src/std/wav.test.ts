import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readWavHeader, WavError, wavHeader } from "./wav.ts";

/**
 * Creates a RIFF/WAVE file from these chunks. The declared size of a chunk can differ from that of
 * its body.
 */
function wave(chunks: readonly [tag: string, body: Uint8Array, size?: number][]): Buffer {
  const parts = chunks.flatMap(([tag, body, size = body.length]) => {
    const head = Buffer.alloc(8);
    head.write(tag, 0, "latin1");
    head.writeUInt32LE(size, 4);
    return [head, body, Buffer.alloc(body.length % 2)];
  });
  const riff = Buffer.alloc(12);
  riff.write("RIFF", 0, "latin1");
  riff.write("WAVE", 8, "latin1");
  return Buffer.concat([riff, ...parts]);
}

function format(fields: { tag?: number; channels?: number; rate?: number; bits?: number }): Buffer {
  const { tag = 1, channels = 1, rate = 16_000, bits = 16 } = fields;
  const body = Buffer.alloc(16);
  body.writeUInt16LE(tag, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt16LE(bits, 14);
  return body;
}

const extensible = Buffer.concat([
  format({ tag: 0xfffe, channels: 2, rate: 48_000 }),
  Buffer.from([22, 0, 16, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38]),
  Buffer.from([0x9b, 0x71]),
]);
const samples = Buffer.from([1, 0, 2, 0, 3, 0, 4, 0]);

test("readWavHeader() finds the samples", () => {
  const rows: [
    what: string,
    file: Buffer,
    rate: number,
    channels: number,
    at: number,
    n: number,
  ][] = [
    [
      "plain",
      wave([
        ["fmt ", format({})],
        ["data", samples],
      ]),
      16_000,
      1,
      44,
      8,
    ],
    [
      "a LIST chunk of odd length before the data",
      wave([
        ["fmt ", format({ rate: 8000 })],
        ["LIST", Buffer.from("INFOx")],
        ["data", samples],
      ]),
      8000,
      1,
      58,
      8,
    ],
    [
      "a size of 0xFFFFFFFF, as written to pipes",
      wave([
        ["fmt ", format({})],
        ["data", samples, 0xffff_ffff],
      ]),
      16_000,
      1,
      44,
      8,
    ],
    [
      "no size",
      wave([
        ["fmt ", format({})],
        ["data", samples, 0],
      ]),
      16_000,
      1,
      44,
      8,
    ],
    [
      "cut short",
      wave([
        ["fmt ", format({})],
        ["data", samples, 800],
      ]),
      16_000,
      1,
      44,
      8,
    ],
    [
      "a chunk after the data",
      wave([
        ["fmt ", format({})],
        ["data", samples],
        ["LIST", samples],
      ]),
      16_000,
      1,
      44,
      8,
    ],
    [
      "extensible",
      wave([
        ["fmt ", extensible],
        ["data", samples],
      ]),
      48_000,
      2,
      68,
      8,
    ],
    [
      "half a stereo frame at the end",
      wave([
        ["fmt ", format({ channels: 2 })],
        ["data", samples.subarray(0, 6)],
      ]),
      16_000,
      2,
      44,
      4,
    ],
  ];
  for (const [what, file, sampleRateHertz, channels, dataOffset, dataBytes] of rows) {
    const expected = { sampleRateHertz, channels, dataOffset, dataBytes };
    assert.deepEqual(readWavHeader(file), expected, what);
  }
});

test("readWavHeader() throws WavError for files that it cannot use", () => {
  const rows: [Buffer, RegExp][] = [
    [
      wave([
        ["fmt ", format({ tag: 3, bits: 32 })],
        ["data", samples],
      ]),
      /format 3 with 32 bits/,
    ],
    [
      wave([
        ["fmt ", format({ bits: 8 })],
        ["data", samples],
      ]),
      /8 bits/,
    ],
    [
      wave([
        ["fmt ", format({ channels: 0 })],
        ["data", samples],
      ]),
      /0 channels/,
    ],
    [
      wave([
        ["fmt ", format({ rate: 0 })],
        ["data", samples],
      ]),
      /sample rate of 0/,
    ],
    [wave([["data", samples]]), /no fmt chunk/],
    [wave([["fmt ", format({})]]), /no data chunk/],
    [
      wave([
        ["fmt ", format({}).subarray(0, 8)],
        ["data", samples],
      ]),
      /ends within its fmt chunk/,
    ],
    [wave([["fmt ", format({})]]).subarray(0, 30), /ends within its fmt chunk/],
  ];
  for (const [file, message] of rows) {
    assert.throws(
      () => readWavHeader(file),
      (error) => error instanceof WavError && message.test(error.message),
      String(message),
    );
  }
});

test("readWavHeader() ignores bytes that are not RIFF/WAVE, and throws no errors other than WavError", () => {
  assert.equal(readWavHeader(samples), undefined);
  assert.equal(readWavHeader(Buffer.from("RIFF....AVI ")), undefined);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const file = Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE"), bytes]);
      try {
        const header = readWavHeader(file);
        assert.ok(header && header.dataOffset + header.dataBytes <= file.length);
      } catch (error) {
        assert.ok(error instanceof WavError, String(error));
      }
    }),
  );
});

test("readWavHeader() reads headers written by wavHeader()", () => {
  const rateAndChannels = fc.record({
    sampleRateHertz: fc.integer({ min: 1, max: 192_000 }),
    channels: fc.integer({ min: 1, max: 8 }),
  });
  fc.assert(
    fc.property(rateAndChannels, fc.integer({ min: 1, max: 100 }), (format, frames) => {
      const dataBytes = frames * 2 * format.channels;
      const file = Buffer.concat([wavHeader({ ...format, dataBytes }), Buffer.alloc(dataBytes)]);
      assert.deepEqual(readWavHeader(file), { ...format, dataOffset: 44, dataBytes });
    }),
  );
});
