import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { createLog } from "../std/log.ts";
import { decodeAudio, decodedSampleRate } from "./decode.ts";
import { probeMedia, type MediaProbe } from "./probe-media.ts";
import { chooseSandbox, type Sandbox } from "./sandbox.ts";

const run = promisify(execFile);
let folder = "";
let sandbox: Sandbox;

/** A 500 Hz tone of one second, then half a second of silence. */
const tone = "-f lavfi -i sine=f=500:r=44100:d=1,apad=pad_dur=0.5";
const pictures = "-f lavfi -i testsrc=d=1.5:s=64x64:r=25 -f lavfi -i testsrc=d=1.5:s=720x576:r=25";
const telephone = "-ar 8000 -ac 1";

/** Recordings that contain only the tone, with the parameters for ffmpeg. */
const sounds: Readonly<Record<string, string>> = {
  "8-bit.wav": "-c:a pcm_u8",
  "stereo.wav": "-ac 2 -ar 48000",
  "surround.wav": "-ac 6",
  "24-bit.wav": "-c:a pcm_s24le",
  "32-bit.wav": "-c:a pcm_s32le",
  "float.wav": "-c:a pcm_f32le",
  "double.wav": "-c:a pcm_f64le",
  "large.wav": "-rf64 always",
  "mu-law.wav": `-c:a pcm_mulaw ${telephone}`,
  "a-law.wav": `-c:a pcm_alaw ${telephone}`,
  "gsm.wav": `-c:a libgsm_ms ${telephone}`,
  "adpcm-ms.wav": "-c:a adpcm_ms",
  "adpcm-ima.wav": "-c:a adpcm_ima_wav",
  "g722.wav": "-c:a g722 -ar 16000 -ac 1",
  "g723.wav": `-c:a g723_1 -b:a 6300 ${telephone}`,
  "g726.wav": `-c:a g726 ${telephone}`,
  "mp3.wav": "-c:a libmp3lame",
  "a.w64": "",
  "a.aiff": "",
  "mu-law.aifc": "-f aiff -c:a pcm_mulaw",
  "a.au": "-c:a pcm_mulaw",
  "a.caf": "",
  "alac.caf": "-c:a alac",
  "a.voc": "",
  "a.gsm": `-c:a libgsm ${telephone}`,
  "a.flac": "",
  "a.wv": "",
  "a.tta": "",
  "a.mp3": "",
  "a.mp2": "",
  "a.aac": "",
  "a.latm": "-c:a aac",
  "a.ac3": "",
  "a.eac3": "",
  "a.dts": "-c:a dca -strict -2",
  "a.m4a": "",
  "alac.m4a": "-c:a alac",
  "a.3gp": "-c:a aac",
  "vorbis.ogg": "-c:a libvorbis",
  "a.opus": "",
  "a.oga": "-c:a flac",
  "a.spx": `-c:a libspeex ${telephone}`,
  "opus.webm": "-c:a libopus",
  "a.mka": "-c:a pcm_s16le",
  "a.wma": "",
  "a.rm": "-c:a ac3",
};

/** Videos with the tone as the second stream. */
const films: Readonly<Record<string, string>> = {
  "v.mp4": "-c:v mpeg4",
  "fragmented.mp4": "-c:v mpeg4 -movflags frag_keyframe+empty_moov",
  "v.mov": "-c:v mpeg4 -c:a pcm_s16le",
  "v.mkv": "-c:v mpeg4",
  "v.webm": "-c:v libvpx -deadline realtime -c:a libopus",
  "v.avi": "-c:v mpeg4",
  "v.wmv": "",
  "v.flv": "-c:a libmp3lame",
  "v.ogv": "-c:v libtheora -c:a libvorbis",
  "v.mpg": "",
  "v.vob": "",
  "v.ts": "",
  "v.m2ts": "-mpegts_m2ts_mode 1",
  "v.mxf": "-ar 48000",
  "v.wtv": "-c:v mpeg2video -c:a mp2",
};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-containers-test-"));
  // What can be decoded without /proc can be decoded with it.
  sandbox = await chooseSandbox("bubblewrap-without-proc", createLog("silent"));
  const outputs = [
    ...Object.entries(sounds).map(([name, how]) => `-map 0 ${how} ${name}`),
    ...Object.entries(films).map(([name, how]) => `-map 1 -map 0 ${how} ${name}`),
    "-map 2 -map 0 -c:v dvvideo -pix_fmt yuv420p -ar 48000 -ac 2 v.dv",
  ];
  const command = `-nostdin -v error ${tone} ${pictures} ${outputs.join(" ")}`;
  await run("ffmpeg", command.split(/\s+/), { cwd: folder });
  // ffmpeg cannot encode AMR, the format of mobile phones, so these files are written here: 75
  // frames of 20 ms.
  const frames = (bytes: number, mode: number): Buffer =>
    Buffer.concat(Array.from({ length: 75 }, () => Buffer.alloc(bytes).fill(mode, 0, 1)));
  await writeFile(join(folder, "a.amr"), Buffer.concat([Buffer.from("#!AMR\n"), frames(32, 0x3c)]));
  await writeFile(
    join(folder, "wide.amr"),
    Buffer.concat([Buffer.from("#!AMR-WB\n"), frames(61, 0x44)]),
  );
});
after(() => rm(folder, { recursive: true, force: true }));

interface Decoded {
  readonly facts: MediaProbe;
  readonly samples: Int16Array;
}

async function decode(name: string): Promise<Decoded> {
  const source = { file: join(folder, name), sandbox, durationMsMax: 3_600_000 };
  const facts = await probeMedia(source);
  const chunks = await Array.fromAsync(decodeAudio({ ...source, facts }));
  return { facts, samples: Int16Array.from(chunks.flatMap((chunk) => [...chunk])) };
}

function hertz(samples: Int16Array): number {
  const crossings = samples.filter((sample, i) => sample < 0 !== (samples[i - 1] ?? 0) < 0).length;
  return (crossings / 2 / samples.length) * decodedSampleRate;
}

/** Checks three files at a time, because each file takes two or three processes. */
async function forEach(names: readonly string[], check: (name: string) => Promise<void>) {
  const left = names.values();
  const next = async (): Promise<void> => {
    for (const name of left) await check(name);
  };
  await Promise.all([next(), next(), next()]);
}

test("every common container and codec decodes to the same tone, of the same length", async () => {
  const names = [...Object.keys(sounds), ...Object.keys(films), "v.dv"];
  const problems: string[] = [];
  await forEach(names, async (name) => {
    const { facts, samples } = await decode(name);
    const isOf = (what: string, value: number, least: number, most: number): void => {
      if (value < least || value > most) problems.push(`${name}: ${value} ${what}`);
    };
    if (facts.fileType !== (name in sounds ? "AUDIO" : "VIDEO")) problems.push(name);
    // Codecs write whole blocks, so a recording may become longer or shorter; the padding is
    // silence.
    isOf("s", samples.length / decodedSampleRate, 1.45, 1.65);
    isOf("ms declared", facts.durationMs ?? 0, 1_350, 1_650);
    isOf("Hz", hertz(samples.subarray(3_000, 14_000)), 495, 505);
    isOf("loudness at the end", Math.max(...samples.subarray(19_000, 22_000)), 0, 500);
  });
  assert.deepEqual(problems, []);
});

test("AMR recordings from telephones are decoded", async () => {
  await forEach(["a.amr", "wide.amr"], async (name) => {
    const { facts, samples } = await decode(name);
    assert.ok(Math.abs((facts.durationMs ?? 0) - 1_500) < 50, `${name}: ${facts.durationMs}`);
    assert.ok(Math.abs(samples.length - 24_000) < 800, `${name}: ${samples.length}`);
  });
});
