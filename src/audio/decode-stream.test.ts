import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { encode, type EncodedFormat } from "../../test/fixtures/encoded-audio.ts";
import { speak } from "../../test/fixtures/flite.ts";
import { createLog } from "../std/log.ts";
import { decodeAudio } from "./decode.ts";
import { openStreamDecoder } from "./decode-stream.ts";
import { joinSamples } from "./join-samples.ts";
import { chooseSandbox, type Sandbox } from "./sandbox.ts";
import type { StreamFormat } from "./stream-framers.ts";

let sandbox: Sandbox;
let folder: string;
let wav: Buffer;

before(async () => {
  // What can be decoded without /proc can be decoded with it.
  sandbox = await chooseSandbox("bubblewrap-without-proc", createLog("silent"));
  folder = await mkdtemp(join(tmpdir(), "hlust-decode-stream-"));
  wav = speak("thank you very much for your letter, and for everything that you have sent me");
});
after(() => rm(folder, { recursive: true }));

const formats: readonly [file: EncodedFormat, format: StreamFormat][] = [
  ["flac", "flac"],
  ["opus.ogg", "ogg"],
  ["vorbis.ogg", "ogg"],
  ["mp3", "mp3"],
  ["webm", "matroska"],
  ["fragmented.mp4", "mov"],
  ["faststart.mp4", "mov"],
  ["aac", "aac"],
];

/** Decodes bytes that arrive in chunks of this length. */
async function decodeStream(bytes: Buffer, format: StreamFormat, chunkBytes: number) {
  const options = { sandbox, format, streamMsMax: 60_000, gapMsMax: 60_000 };
  await using decoder = await openStreamDecoder(options);
  const write = async () => {
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      await decoder.write(bytes.subarray(at, at + chunkBytes));
    }
    decoder.end();
  };
  const [samples] = await Promise.all([Array.fromAsync(decoder.samples), write()]);
  return joinSamples(samples);
}

test("openStreamDecoder() decodes every format as decodeAudio() does, wherever it is split", async () => {
  for (const [name, format] of formats) {
    const bytes = encode(wav, name);
    const file = join(folder, `whole.${name}`);
    await writeFile(file, bytes, { mode: 0o644 });
    const source = { sandbox, file, durationMsMax: 60_000 };
    const whole = joinSamples(await Array.fromAsync(decodeAudio(source)));
    for (const chunkBytes of [bytes.length, 113]) {
      const streamed = await decodeStream(bytes, format, chunkBytes);
      assert.deepEqual(differenceOf(streamed, whole), undefined, `${name} in ${chunkBytes} bytes`);
    }
  }
});

/** Returns where the samples differ. Padding at the end of the encoder may be kept or not. */
function differenceOf(streamed: Int16Array, whole: Int16Array): string | undefined {
  if (Math.abs(streamed.length - whole.length) > 2048) {
    return `${streamed.length} samples, not ${whole.length}`;
  }
  const length = Math.min(streamed.length, whole.length) - 64;
  const at = streamed.subarray(0, length).findIndex((sample, index) => sample !== whole[index]);
  return at < 0 ? undefined : `sample ${at} of ${whole.length}`;
}
