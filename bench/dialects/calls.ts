import { bytesOfSamples } from "../../src/engines/protocol/engine-frames.ts";
import { encode } from "../../test/fixtures/encoded-audio.ts";
import { espeak, flite, joined } from "../../test/fixtures/flite.ts";
import type { ServiceProcess } from "../../test/fault/process.ts";
import { wavOf } from "../../test/fixtures/jobs-fixture.ts";
import { callRest } from "../../test/spec/service.ts";
import { spentBetween, TreeWatch } from "../jobs/service-tree.ts";
import type { Figure } from "../report.ts";
import { transcribe, withService } from "./transcribe.ts";

const seconds = 5;
const ratioMax = 1.15;
const mp3MsMax = 120;
const callsARound = 5;

const languages = [
  ["en-US", () => flite("the weather is cold and dark today and we will stay at home with a book")],
  ["is-IS", () => espeak("við hittumst á kaffihúsinu og hún býr í litlu húsi við höfnina")],
] as const;

/**
 * Compares the CPU time of a transcription of five seconds of WAV and of MP3 with that of
 * speech:recognize with the same samples, in turns, for both languages.
 */
export async function measureCalls({ rounds }: { readonly rounds: number }): Promise<Figure[]> {
  return await withService({}, async (service) => {
    const figures: Figure[] = [];
    for (const [languageCode, speak] of languages) {
      const speech = speak();
      const samples = joined(speech, speech).subarray(0, 16_000 * seconds);
      figures.push(...(await compare(service, samples, { languageCode, rounds })));
    }
    return figures;
  });
}

async function compare(
  service: ServiceProcess,
  samples: Int16Array,
  { languageCode, rounds }: { readonly languageCode: string; readonly rounds: number },
): Promise<Figure[]> {
  const wav = wavOf(samples);
  const config = {
    encoding: "LINEAR16",
    sampleRateHertz: 16_000,
    languageCode,
    enableFormatting: true,
    enableAutomaticPunctuation: true,
  };
  const content = Buffer.from(bytesOfSamples(samples)).toString("base64");
  const path = "/v2beta1/speech:recognize";
  const recognize: Call = async () => {
    const call = { method: "POST", path, body: { config, audio: { content } } };
    const { status } = await callRest(service.address, service.key, call);
    if (status !== 200) throw new Error(`speech:recognize answered ${status}`);
  };
  const post =
    (file: Blob): Call =>
    async () => {
      await transcribe(service, file, languageCode);
    };
  const calls = {
    recognize,
    wav: post(new Blob([new Uint8Array(wav)])),
    mp3: post(new Blob([new Uint8Array(encode(wav, "mp3"))])),
  };
  const ms = await cpuOf(service, calls, rounds);
  return [
    {
      name: `${languageCode}: ${seconds} s of WAV, of speech:recognize`,
      ratio: ms.wav / ms.recognize,
      ratioMax,
      note: `${ms.wav.toFixed(1)} and ${ms.recognize.toFixed(1)} ms of CPU a call`,
    },
    {
      name: `${languageCode}: the same as MP3, more`,
      ratio: ms.mp3 - ms.wav,
      ratioMax: mp3MsMax,
      unit: "ms",
      note: "with ffprobe and ffmpeg in the sandbox",
    },
  ];
}

type Call = () => Promise<void>;

/** Returns the CPU time of one call of each kind; the kinds take turns. */
async function cpuOf(
  { pid }: ServiceProcess,
  { recognize, wav, mp3 }: { readonly recognize: Call; readonly wav: Call; readonly mp3: Call },
  rounds: number,
): Promise<{ readonly recognize: number; readonly wav: number; readonly mp3: number }> {
  using watch = new TreeWatch([pid]);
  const sums = { recognize: 0, wav: 0, mp3: 0 };
  const spent = async (call: Call): Promise<number> => {
    const before = await watch.look();
    for (let count = 0; count < callsARound; count += 1) await call();
    return spentBetween(before, await watch.look()).cpuMs / (rounds * callsARound);
  };
  // The first calls take longer and are not measured.
  for (const call of [recognize, wav, mp3]) await call();
  for (let round = 0; round < rounds; round += 1) {
    sums.recognize += await spent(recognize);
    sums.wav += await spent(wav);
    sums.mp3 += await spent(mp3);
  }
  return sums;
}
