import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Resampler } from "../src/audio/resample.ts";
import { readWavHeader } from "../src/audio/wav.ts";

export type Voice = "slt" | "rms" | "awb";

/** Speech made now, as a WAVE file: 16 bit, one channel, 16 kHz unless another rate is asked for. */
export function speak(
  text: string,
  options: { readonly voice?: Voice; readonly sampleRateHertz?: number } = {},
): Buffer {
  const { voice = "slt", sampleRateHertz = 16_000 } = options;
  const folder = mkdtempSync(join(tmpdir(), "hlust-flite-"));
  try {
    const spoken = join(folder, "spoken.wav");
    execFileSync("flite", ["-voice", voice, "-t", text, "-o", spoken]);
    if (sampleRateHertz === 16_000) return readFileSync(spoken);
    const resampled = join(folder, "resampled.wav");
    const rate = ["-ar", String(sampleRateHertz), "-ac", "1", resampled];
    execFileSync("ffmpeg", ["-nostdin", "-loglevel", "error", "-i", spoken, ...rate]);
    return readFileSync(resampled);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The same as samples. */
export function flite(...spoken: Parameters<typeof speak>): Int16Array {
  return samplesOfWav(speak(...spoken));
}

/** Icelandic, spoken by espeak-ng. */
export function espeak(
  text: string,
  { voice = "is" }: { readonly voice?: string } = {},
): Int16Array {
  const file = execFileSync("espeak-ng", ["-v", voice, "--stdout", text], { maxBuffer: 64 << 20 });
  const rate = readWavHeader(file)?.sampleRateHertz;
  if (rate === undefined) throw new Error("espeak-ng wrote no WAVE file");
  const resampler = new Resampler(rate);
  return joined(resampler.push(samplesOfWav(file)), resampler.end());
}

export interface SpokenWord {
  readonly text: string;
  /** From the first sample. */
  readonly startMs: number;
}

/** The same with the truth about its words, from flite's own times of its sounds. */
export function fliteWords(
  text: string,
  voice: Voice,
): { readonly samples: Int16Array; readonly words: readonly SpokenWord[] } {
  const sounds = soundsOf(text, voice);
  let at = 0;
  const words = text.split(" ").map((word): SpokenWord => {
    while (sounds[at]?.name === "pau") at += 1;
    const startMs = 1000 * (sounds[at - 1]?.endSeconds ?? 0);
    at += soundsOf(word, voice).filter(({ name }) => name !== "pau").length;
    return { text: word.toLowerCase(), startMs };
  });
  if (at !== sounds.length - 1 || sounds[at]?.name !== "pau") {
    throw new Error(`flite says "${text}" with other sounds than its words`);
  }
  return { samples: flite(text, { voice }), words };
}

function soundsOf(text: string, voice: Voice) {
  const told = execFileSync("flite", ["-voice", voice, "-psdur", "-t", text, "-o", "/dev/null"]);
  const sounds = told.toString().trim().split(/\s+/);
  return sounds.map((sound) => {
    const [name = "", end] = sound.split(":");
    return { name, endSeconds: Number(end) };
  });
}

/** The samples of a WAVE file of one channel. */
export function samplesOfWav(file: Uint8Array): Int16Array {
  const header = readWavHeader(file);
  if (header?.channels !== 1) throw new Error("not a WAVE file of one channel");
  const { dataOffset, dataBytes } = header;
  return new Int16Array(Uint8Array.from(file.subarray(dataOffset, dataOffset + dataBytes)).buffer);
}

/** Digital silence. */
export function silence(ms: number, sampleRateHertz = 16_000): Int16Array {
  return new Int16Array(Math.round((ms * sampleRateHertz) / 1000));
}

/** One after the other. */
export function joined(...parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Steady white noise. */
export function noise(ms: number, amplitude: number, sampleRateHertz = 16_000): Int16Array {
  let state = 1;
  return silence(ms, sampleRateHertz).map(() => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.round((state / 2 ** 31 - 1) * amplitude);
  });
}
