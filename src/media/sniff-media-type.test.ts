import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import fc from "fast-check";
import { sniffedBytesMax, sniffMediaType } from "./sniff-media-type.ts";

const run = promisify(execFile);

async function headOf(file: string): Promise<Buffer> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(sniffedBytesMax));
  return buffer.subarray(0, bytesRead);
}

test("sniffMediaType() recognizes the formats that ffmpeg writes", async () => {
  const audio = ["-map", "0:a"];
  const video = ["-map", "0:a", "-map", "1:v"];
  const rows: [name: string, options: string[], type: string][] = [
    ["a.wav", audio, "audio/wav"],
    ["rf64.wav", [...audio, "-rf64", "always"], "audio/wav"],
    ["a.w64", audio, "audio/x-w64"],
    ["a.mp3", audio, "audio/mpeg"],
    ["bare.mp3", [...audio, "-id3v2_version", "0", "-write_xing", "0"], "audio/mpeg"],
    ["low.mp3", [...audio, "-ar", "16000", "-b:a", "24k", "-id3v2_version", "0"], "audio/mpeg"],
    ["a.mp2", audio, "audio/mpeg"],
    ["a.flac", audio, "audio/flac"],
    ["a.ogg", [...audio, "-c:a", "libvorbis"], "audio/ogg"],
    ["a.opus", audio, "audio/ogg"],
    ["v.ogv", [...video, "-c:v", "libtheora"], "video/ogg"],
    ["a.m4a", audio, "audio/mp4"],
    ["v.mp4", [...video, "-c:v", "mpeg4"], "video/mp4"],
    ["v.mov", [...video, "-c:v", "mpeg4"], "video/quicktime"],
    ["a.webm", [...audio, "-c:a", "libopus"], "audio/webm"],
    ["v.webm", [...video, "-c:v", "libvpx"], "video/webm"],
    ["a.mka", audio, "audio/x-matroska"],
    ["v.mkv", [...video, "-c:v", "mpeg4"], "video/x-matroska"],
    ["a.aac", audio, "audio/aac"],
    ["a.aiff", audio, "audio/aiff"],
    ["a.au", audio, "audio/basic"],
    ["a.caf", audio, "audio/x-caf"],
    ["a.wv", audio, "audio/x-wavpack"],
    ["a.wma", audio, "audio/x-ms-wma"],
    ["v.wmv", video, "video/x-ms-wmv"],
    ["v.avi", [...video, "-c:v", "mpeg4"], "video/x-msvideo"],
    ["v.flv", [...video, "-ar", "44100"], "video/x-flv"],
    ["v.mpg", video, "video/mpeg"],
    ["v.ts", [...video, "-c:v", "mpeg2video"], "video/mp2t"],
    ["v.m2ts", [...video, "-c:v", "mpeg2video", "-mpegts_m2ts_mode", "1"], "video/mp2t"],
    ["v.3gp", [...video, "-c:v", "mpeg4", "-c:a", "aac"], "video/3gpp"],
    ["picture.png", ["-map", "1:v", "-frames:v", "1"], "application/octet-stream"],
    ["picture.jpg", ["-map", "1:v", "-frames:v", "1"], "application/octet-stream"],
  ];
  const folder = await mkdtemp(join(tmpdir(), "hlust-sniff-"));
  try {
    const outputs = rows.flatMap(([name, options]) => [...options, join(folder, name)]);
    const inputs = [
      "sine=440:duration=1:sample_rate=48000",
      "testsrc=size=64x64:rate=25:duration=1",
    ];
    await run("ffmpeg", [
      "-v",
      "error",
      ...inputs.flatMap((input) => ["-f", "lavfi", "-i", input]),
      ...outputs,
    ]);
    for (const [name, , type] of rows) {
      assert.equal(sniffMediaType(await headOf(join(folder, name))), type, name);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("sniffMediaType() recognizes nothing else as media", () => {
  const rows = [
    "",
    "R",
    "RIFF",
    "RIFF....WEBPVP8 ",
    "FORM....ILBM",
    "....ftypavif",
    "....ftypheic",
    "<!DOCTYPE html><script>",
    "<svg xmlns='http://www.w3.org/2000/svg'>",
    "%PDF-1.7",
    "PK\x03\x04",
    "#EXTM3U\nfile:///etc/passwd",
    "\x1a\x45\xdf\xa3 something else",
    "\xff\xfb\x90\x00 one frame that no other follows",
    "\xff\xf1 adts?",
    "G".repeat(10),
  ];
  for (const head of rows) {
    assert.equal(sniffMediaType(Buffer.from(head, "latin1")), "application/octet-stream", head);
  }
  assert.equal(sniffMediaType(Buffer.from("#!AMR\n\x3c")), "audio/amr");
  assert.equal(sniffMediaType(Buffer.from("#!AMR-WB\n\x3c")), "audio/amr-wb");
});

test("sniffMediaType() returns a safe type for any bytes", () => {
  const starts = [
    "RIFF",
    "FORM",
    "OggS",
    "\xff\xfb",
    "\xff\xf1",
    "\x1a\x45\xdf\xa3",
    "\0\0\0\x20ftyp",
    "G",
    "",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 300 }), (start, rest) => {
      const type = sniffMediaType(Buffer.concat([Buffer.from(start, "latin1"), rest]));
      assert.match(type, /^(?:audio|video)\/[\w-]+$|^application\/octet-stream$/);
    }),
    { numRuns: 1000 },
  );
});
