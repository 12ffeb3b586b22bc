import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavHeader } from "../../src/std/wav.ts";

/** A microphone of Chromium that plays a tone. */
export interface FakeMicrophone extends Disposable {
  /** The arguments for Chromium. */
  readonly args: readonly string[];
}

/**
 * Creates a fake microphone. Its tone is never silent, because the scripted engine treats any
 * sample except 0 as speech.
 */
export function createFakeMicrophone(seconds = 20): FakeMicrophone {
  const folder = mkdtempSync(join(tmpdir(), "hlust-live-"));
  const tone = join(folder, "tone.wav");
  writeFileSync(tone, toneWav(seconds));
  return {
    args: ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${tone}`],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

function toneWav(seconds: number): Buffer {
  const rate = 48_000;
  const samples = Int16Array.from({ length: seconds * rate }, (_, at) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 440 * (at + 0.5)) / rate)),
  );
  const header = wavHeader({ sampleRateHertz: rate, dataBytes: samples.byteLength });
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}
