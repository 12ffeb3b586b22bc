import assert from "node:assert/strict";
import { before, test } from "node:test";
import { amrOf, encode, type EncodedFormat } from "../../test/fixtures/encoded-audio.ts";
import { speak } from "../../test/fixtures/flite.ts";
import { framerOf, type StreamFormat } from "./stream-framers.ts";

const formats: readonly [name: string, format: StreamFormat, make: () => Buffer][] = [
  ...(
    [
      ["flac", "flac"],
      ["opus.ogg", "ogg"],
      ["vorbis.ogg", "ogg"],
      ["mp3", "mp3"],
      ["webm", "matroska"],
      ["fragmented.mp4", "mov"],
      ["faststart.mp4", "mov"],
      ["mp4", "mov"],
      ["aac", "aac"],
    ] as const satisfies [EncodedFormat, StreamFormat][]
  ).map(([name, format]): [string, StreamFormat, () => Buffer] => [
    name,
    format,
    () => encode(wav, name),
  ]),
  ["amr", "amr", () => amrOf("narrow", 75)],
  ["amr-wb", "amr", () => amrOf("wide", 75)],
];
let wav: Buffer;
before(() => {
  wav = speak("thank you very much for your letter");
});

/** Frames bytes that arrive in chunks of this length. Returns what is decoded, and the error. */
function framed(bytes: Buffer, format: StreamFormat, chunkBytes: number) {
  const { framer } = framerOf(format);
  const parts: Uint8Array[] = [];
  let error = "";
  try {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      for (const part of framer.push(bytes.subarray(at, at + chunkBytes))) parts.push(part);
    }
    parts.push(framer.end());
  } catch (thrown) {
    error = String(thrown);
  }
  return { decoded: Buffer.concat(parts), error, paddingSeconds: framer.paddingSeconds };
}

test("framerOf() passes whole streams on, wherever they are split", () => {
  for (const [name, format, make] of formats) {
    const bytes = make();
    const whole = framed(bytes, format, bytes.length);
    assert.equal(whole.error, "", name);
    const isWrapped = format === "flac" || format === "mp3";
    if (!isWrapped) assert.ok(whole.decoded.equals(bytes), name);
    for (const chunkBytes of [7, 61, 997]) {
      const split = framed(bytes, format, chunkBytes);
      assert.equal(split.error, "", `${name} in ${chunkBytes} bytes`);
      assert.ok(split.decoded.equals(whole.decoded), `${name} in ${chunkBytes} bytes`);
    }
  }
});

test("framerOf() reports damage and a missing end, after the bytes before them", () => {
  for (const [name, format, make] of formats) {
    const bytes = make();
    const { decoded } = framed(bytes, format, bytes.length);
    const half = Math.floor(bytes.length / 2);
    const isIndexed = name === "faststart.mp4" || name === "mp4";
    const either = /is damaged|is cut short/;
    const rows: [damage: string, bytes: Buffer, error: RegExp][] = [
      ["without its last byte", bytes.subarray(0, -1), /is cut short/],
      ["cut in the middle", bytes.subarray(0, half + 3), /is cut short/],
      [
        "damaged in the middle",
        Buffer.from(bytes).fill(0x55, half, Math.min(half + 3000, bytes.length)),
        either,
      ],
      ["damaged from the middle on", Buffer.from(bytes).fill(0x55, half), either],
    ];
    // What is inside the samples of such MP4 is not framed: ffmpeg counts its errors.
    for (const [damage, changed, error] of isIndexed ? rows.slice(0, 2) : rows) {
      for (const chunkBytes of [113, changed.length]) {
        const found = framed(changed, format, chunkBytes);
        const row = `${name} ${damage} in ${chunkBytes} bytes`;
        // A damaged length may exceed what is left.
        assert.match(found.error, error, row);
        const common = format === "flac" ? 100 : decoded.length * 0.25;
        assert.ok(found.decoded.length > common, `${row}: ${found.decoded.length}`);
        const same = Math.min(found.decoded.length, Math.floor(decoded.length * 0.25));
        assert.ok(found.decoded.subarray(0, same).equals(decoded.subarray(0, same)), row);
      }
    }
  }
});

test("tags and zeros around the frames of MP3 are not audio", () => {
  const mp3 = encode(wav, "mp3");
  const { decoded } = framed(mp3, "mp3", mp3.length);
  // The content of a tag may look like frames.
  const id3 = Buffer.concat([
    Buffer.from("ID3\x04\0\0\0\0\x0f\x50", "latin1"),
    mp3.subarray(0, 2000),
  ]);
  const tag = Buffer.alloc(128, "TAG title ");
  const ape = Buffer.concat([Buffer.from("APETAGEX"), Buffer.alloc(24)]);
  ape.writeUInt32LE(32, 12);
  ape.writeUInt8(0x20, 23);
  const apeTag = Buffer.concat([ape, Buffer.alloc(32, "x")]);
  const rows: [name: string, bytes: Buffer][] = [
    ["ID3 before", Buffer.concat([id3, mp3])],
    ["ID3v1 after", Buffer.concat([mp3, tag])],
    ["APE and ID3v1 after", Buffer.concat([mp3, apeTag, tag])],
    ["zeros after", Buffer.concat([mp3, Buffer.alloc(300)])],
  ];
  for (const [name, bytes] of rows) {
    for (const chunkBytes of [1, 59, bytes.length]) {
      const found = framed(bytes, "mp3", chunkBytes);
      assert.equal(found.error, "", `${name} in ${chunkBytes} bytes`);
      assert.ok(found.decoded.equals(decoded), `${name} in ${chunkBytes} bytes`);
    }
  }
  const between = Buffer.concat([mp3, tag, mp3]);
  const twice = framed(between, "mp3", 100);
  assert.equal(twice.error, "");
  assert.ok(twice.decoded.length > 1.9 * decoded.length);
});

test("bytes that are never frames end a stream of frames while it arrives", () => {
  for (const [format, name] of [
    ["mp3", "mp3"],
    ["aac", "aac"],
  ] as const) {
    for (const fill of [0x55, 0]) {
      const endless = Buffer.concat([encode(wav, name), Buffer.alloc(200_000, fill)]);
      const { framer } = framerOf(format);
      assert.throws(() => {
        for (let at = 0; at < endless.length; at += 1000) {
          for (const _ of framer.push(endless.subarray(at, at + 1000))) void _;
        }
      }, /is damaged: its bytes are not frames of/);
    }
  }
});
