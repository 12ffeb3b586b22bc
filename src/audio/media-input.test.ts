import assert from "node:assert/strict";
import { mkdtempDisposable, open, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { examineMp4 } from "./examine-mp4.ts";
import { formatParameters } from "./media-input.ts";

async function withFile<T>(
  bytes: Buffer,
  look: (file: Awaited<ReturnType<typeof open>>) => Promise<T>,
): Promise<T> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "hlust-input-test-"));
  const path = join(folder.path, "media");
  await writeFile(path, bytes);
  await using file = await open(path);
  return await look(file);
}

/** Returns an ID3 tag with this many bytes of content. */
function id3(length: number, flags = 0): Buffer {
  const sizes = [21, 14, 7, 0].map((shift) => (length >> shift) & 0x7f);
  const footer = flags & 0x10 ? 10 : 0;
  return Buffer.concat([
    Buffer.from([0x49, 0x44, 0x33, 4, 0, flags, ...sizes]),
    Buffer.alloc(length + footer),
  ]);
}

test("formatParameters() names the format that follows an ID3 tag, and no format for other files", async () => {
  const mp3 = Buffer.from("fffb9064", "hex");
  const rows: readonly (readonly [string, Buffer, string | undefined])[] = [
    ["MP3", Buffer.concat([id3(5_000), mp3]), "mp3"],
    ["MP3 behind two tags", Buffer.concat([id3(300), id3(40_000, 0x10), mp3]), "mp3"],
    ["MP2", Buffer.concat([id3(10), Buffer.from("fffd9064", "hex")]), "mp3"],
    ["AAC", Buffer.concat([id3(10), Buffer.from("fff15080", "hex")]), "aac"],
    ["FLAC", Buffer.concat([id3(10), Buffer.from("fLaC")]), "flac"],
    ["a reserved version", Buffer.concat([id3(10), Buffer.from("ffea9064", "hex")]), undefined],
    ["a reserved rate", Buffer.concat([id3(10), Buffer.from("fffb9c64", "hex")]), undefined],
    ["a playlist behind a tag", Buffer.concat([id3(10), Buffer.from("#EXTM3U\n")]), undefined],
    ["MP3 without a tag", mp3, undefined],
    ["a tag alone", id3(100), undefined],
    ["a tag that ends nowhere", id3(100).subarray(0, 50), undefined],
    ["tags without end", Buffer.concat(Array.from({ length: 9 }, () => id3(0))), undefined],
    ["nothing", Buffer.alloc(0), undefined],
  ];
  for (const [name, bytes, format] of rows) {
    const expected = format === undefined ? [] : ["-f", format];
    assert.deepEqual(await withFile(bytes, formatParameters), expected, name);
  }
});

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 8));
  head.write(type, 4);
  return Buffer.concat([head, ...parts]);
}

test("examineMp4() finds encrypted tracks and too many edits, and terminates for any file", async () => {
  const entry = (codec: string): Buffer =>
    box("stsd", Buffer.alloc(8), box(codec, Buffer.alloc(28)));
  const track = (codec: string, edits: number): Buffer => {
    const list = Buffer.alloc(8);
    list.writeUInt32BE(edits, 4);
    const media = box("mdia", box("mdhd"), box("minf", box("stbl", entry(codec))));
    return box("trak", box("edts", box("elst", list)), media);
  };
  const start = box("ftyp", Buffer.from("isom"));
  const film = (...tracks: readonly Buffer[]): Buffer =>
    Buffer.concat([start, box("mdat", Buffer.alloc(99)), box("moov", ...tracks)]);
  const zero = Buffer.concat([start, Buffer.alloc(100)]);
  const huge = Buffer.concat([
    start,
    Buffer.from("00000001", "hex"),
    Buffer.from("mdat"),
    Buffer.alloc(8, 0xff),
  ]);
  const rows: readonly (readonly [string, Buffer, RegExp])[] = [
    ["plain", film(track("mp4a", 2)), /^undefined$/],
    ["encrypted sound", film(track("avc1", 0), track("enca", 0)), /^encrypted/],
    ["encrypted pictures", film(track("encv", 0)), /^encrypted/],
    ["bought in a shop", film(track("drms", 0)), /^encrypted/],
    ["a million edits", film(track("mp4a", 1_000_000)), /more than 10000 edits/],
    ["no film", track("enca", 0), /^undefined$/],
    ["a box of no length", zero, /^undefined$/],
    ["a box past the end", huge, /^undefined$/],
    [
      "boxes without end",
      Buffer.concat([
        start,
        ...Array.from({ length: 50_000 }, () => box("free")),
        film(track("enca", 0)),
      ]),
      /^undefined$/,
    ],
    ["cut short", film(track("enca", 0)).subarray(0, 130), /^undefined$/],
  ];
  for (const [name, bytes, expected] of rows) {
    const found = await withFile(bytes, async (file) => examineMp4(file, bytes.length));
    assert.match(`${found}`, expected, name);
  }
});
