import { readFileSync } from "node:fs";
import { join } from "node:path";
import { espeak, type EspeakManner, noise } from "../test/fixtures/flite.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import type { Recording } from "./recordings.ts";

export interface SpokenCondition {
  readonly name: string;
  readonly recordings: readonly Recording[];
}

/** The manners in which espeak-ng speaks; training had none of the three variants. */
const manners: Readonly<Record<string, EspeakManner>> = {
  "slow, 130 words a minute": { speed: 130 },
  "fast, 220 words a minute": { speed: 220 },
  "low, pitch 25": { pitch: 25 },
  "high, pitch 80": { pitch: 80 },
  "woman, variant f4": { voice: "is+f4" },
  "man, variant m7": { voice: "is+m7" },
  "Klatt synthesizer, variant klatt4": { voice: "is+klatt4" },
};
const noiseDecibels = 15;
const openWordsFile = join(import.meta.dirname, "../tools/is-IS-starter/open-words.txt");

/** Yields the Icelandic sentences in other manners, voices and noise, and the open words. */
export function* icelandicConditions(): Generator<SpokenCondition> {
  for (const [name, manner] of Object.entries(manners)) {
    yield { name, recordings: spoken(icelandicSentences, (text) => espeak(text, manner)) };
  }
  yield {
    name: `white noise, ${noiseDecibels} dB`,
    recordings: spoken(icelandicSentences, (text) => inNoise(espeak(text))),
  };
  const open = readFileSync(openWordsFile, "utf8").trimEnd().split("\n");
  yield { name: "open words", recordings: spoken(open, (text) => espeak(text)) };
}

function spoken(
  texts: readonly string[],
  speak: (text: string) => Int16Array,
): readonly Recording[] {
  return texts.map((text, index) => ({ name: `is ${index + 1}`, text, samples: speak(text) }));
}

/** Adds white noise at a fixed ratio to the power of the speech. */
function inNoise(samples: Int16Array): Int16Array {
  const root = (of: Int16Array): number =>
    Math.sqrt(of.reduce((sum, value) => sum + value * value, 0) / of.length);
  const white = noise(Math.ceil(samples.length / 16), 1000);
  const scale = root(samples) / root(white) / 10 ** (noiseDecibels / 20);
  return samples.map((value, index) =>
    Math.max(-32_768, Math.min(32_767, value + scale * (white[index] ?? 0))),
  );
}
