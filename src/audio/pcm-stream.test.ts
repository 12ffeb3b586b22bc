import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { wavHeader } from "../std/wav.ts";
import { AudioError } from "./audio-error.ts";
import { PcmStream, type BarePcm } from "./pcm-stream.ts";
import { Resampler } from "./resample.ts";

const bare = { encoding: "s16", sampleRateHertz: 16_000 } as const;

/** Returns all samples of a stream that is split into these parts. */
function samplesOf(parts: readonly Uint8Array[], expected: BarePcm | "wav" = bare): number[] {
  const pcm = new PcmStream(expected);
  const samples = parts.flatMap((part) => [...pcm.push(part)]);
  return [...samples, ...pcm.end().samples];
}

/** Splits bytes at these places. */
function split(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)];
  return places.map((from, at) => bytes.subarray(from, places[at + 1]));
}

/** A WAV header of any encoding, with 16 bytes of format. */
function header(
  format: { tag?: number; bits?: number; channels?: number; rate?: number; size?: number } = {},
): Buffer {
  const { tag = 1, bits = 16, channels = 1, rate = 16_000, size = 0xffff_ffff } = format;
  const bytes = Buffer.from(wavHeader({ sampleRateHertz: rate, dataBytes: 0, channels }));
  bytes.writeUInt16LE(tag, 20);
  bytes.writeUInt16LE((bits / 8) * channels, 32);
  bytes.writeUInt16LE(bits, 34);
  bytes.writeUInt32LE(size, 40);
  return bytes;
}

const ramp = Int16Array.from({ length: 300 }, (_, at) => at * 97 - 14_000);
const rampBytes = Buffer.from(ramp.buffer);

test("PcmStream returns the same samples wherever the audio is split, with and without a WAV header", () => {
  const extra = Buffer.concat([Buffer.from("LIST\x04\0\0\0abcd", "latin1")]);
  const long = header({ size: rampBytes.length });
  const withList = Buffer.concat([long.subarray(0, 36), extra, long.subarray(36)]);
  const rows = [
    rampBytes,
    Buffer.concat([header(), rampBytes]),
    Buffer.concat([header({ size: 0 }), rampBytes]),
    Buffer.concat([withList, rampBytes, extra]),
  ];
  fc.assert(
    fc.property(fc.constantFrom(...rows), fc.array(fc.nat(2000)), (bytes, cuts) => {
      assert.deepEqual(samplesOf(split(bytes, cuts)), [...ramp]);
    }),
  );
  assert.deepEqual(samplesOf([...rampBytes].map((byte) => Uint8Array.of(byte))), [...ramp]);
});

test("PcmStream leaves out an incomplete sample at the end and reports its bytes", () => {
  const pcm = new PcmStream(bare);
  assert.equal(pcm.push(rampBytes.subarray(0, 101)).length, 50);
  assert.deepEqual(pcm.end(), { samples: new Int16Array(0), restBytes: 1 });
});

test("PcmStream reads G.711 with and without its header", () => {
  const bytes = Buffer.alloc(200, 0x8f);
  for (const [encoding, tag, value] of [
    ["mulaw", 7, 16_764],
    ["alaw", 6, 6_784],
  ] as const) {
    const expected = { encoding, sampleRateHertz: 8000 };
    const all = Array.from({ length: 200 }, () => value);
    assert.deepEqual(samplesOf([bytes], expected), all, encoding);
    const file = Buffer.concat([header({ tag, bits: 8, rate: 8000 }), bytes]);
    assert.deepEqual(samplesOf(split(file, [30, 60]), expected), all, encoding);
  }
});

test("PcmStream decodes WAV files of one or two channels at any rate to 16 kHz", () => {
  const stereo = Int16Array.from(ramp, (_, at) => (at % 2 === 0 ? 1000 : 3000));
  const file = Buffer.concat([header({ channels: 2 }), Buffer.from(stereo.buffer)]);
  assert.deepEqual(
    samplesOf([file], "wav"),
    Array.from({ length: 150 }, () => 2000),
  );
  const resampler = new Resampler(8000);
  const expected = [...resampler.push(ramp), ...resampler.end()];
  const narrow = Buffer.concat([header({ rate: 8000 }), rampBytes]);
  assert.deepEqual(samplesOf(split(narrow, [100, 333]), "wav"), expected);
});

test("PcmStream refuses headers that do not agree with the configuration, and other formats", () => {
  const mulaw: BarePcm = { encoding: "mulaw", sampleRateHertz: 8000 };
  const foreignOf = () => "audio/ogg";
  const rows: [bytes: Buffer, expected: BarePcm | "wav", field: string, message: RegExp][] = [
    [header({ rate: 8000 }), bare, "sampleRateHertz", /is 16000, but the WAV header .* has 8000/],
    [header({ channels: 2 }), bare, "audio", /1 channel, not 2/],
    [header({ bits: 24 }), bare, "audio", /LINEAR16, not format 1 with 24 bits/],
    [header({ tag: 7, bits: 8 }), bare, "audio", /LINEAR16, not MULAW/],
    [header({ rate: 8000 }), mulaw, "audio", /MULAW, not LINEAR16/],
    [header({ rate: 0 }), bare, "audio", /sample rate of 0/],
    [rampBytes, { ...bare, foreignOf }, "audio", /looks like audio\/ogg/],
    [rampBytes, "wav", "audio", /is not a WAV file/],
    [header({ channels: 6 }), "wav", "audio", /6 channels, not 1 or 2/],
    [header({ rate: 96_000 }), "wav", "audio", /96000 Hz, not 8000 to 48000/],
    [header({ tag: 2, bits: 4 }), "wav", "audio", /format 2 with 4 bits, which is not supported/],
    [header().subarray(0, 40), bare, "audio", /ends before its samples/],
  ];
  for (const [bytes, expected, field, message] of rows) {
    const padded = bytes.length < 44 ? bytes : Buffer.concat([bytes, Buffer.alloc(64)]);
    assert.throws(
      () => samplesOf([padded], expected),
      (error) =>
        error instanceof AudioError && error.field === field && message.test(error.message),
      String(message),
    );
  }
});
