// `npm run bench:alignment [-- --minutes 60] [-- --only ctc|pocketsphinx]` measures alignment with
// real engine processes: how many words begin when they were said, and its CPU time relative to
// that of recognizing the same audio. The speech is that of two voices of espeak-ng (ctc) and flite
// (PocketSphinx); in the text, words are replaced and sentences moved, missing or added.
import { parseArgs } from "node:util";
import { type EnginePool, openEnginePool } from "../src/engines/pool/engine-pool.ts";
import { alignRecording } from "../src/jobs/worker/align-recording.ts";
import { cutPieces } from "../src/jobs/worker/cut-pieces.ts";
import { createLog } from "../src/std/log.ts";
import { espeakTimedWords } from "../test/fixtures/espeak-words.ts";
import { fliteWords, type TimedSpeech } from "../test/fixtures/flite.ts";
import { makeSpokenText, type SpokenText } from "../test/fixtures/spoken-text.ts";
import { engineUse } from "./engine-use.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import { type Figure, report, reportMachine } from "./report.ts";
import { sentences } from "./sentences.ts";

const rate = 16_000;
const inTimeShareMin = 0.95;
/**
 * The share of the CPU time of recognition. The ctc engine misses it with the starter model, whose
 * features and network alone, which alignment needs as well, are 40 % of its recognition.
 */
const cpuShareMax = { ctc: 0.2, PocketSphinx: 0.2 } as const;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    recognized: { type: "string", default: "5" },
    seed: { type: "string", default: "18" },
    only: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const wants = (name: string) => values.only === undefined || values.only === name;
reportMachine();
await using pool = await openEnginePool({
  engine: "auto",
  processes: 1,
  log: createLog("error"),
});
const figures: Figure[] = [];
if (wants("ctc")) {
  const spoken = await Promise.all(
    icelandicSentences.map((text, at) => espeakTimedWords(text, at % 2 === 0 ? "is" : "is+f2")),
  );
  figures.push(...(await measure("ctc", spoken, { languageCode: "is-IS", offMsMax: 100 })));
}
if (wants("pocketsphinx")) {
  const spoken = sentences.map((text, at) =>
    fliteWords(text.replaceAll(/[^\w' ]/g, ""), at % 2 === 0 ? "slt" : "rms"),
  );
  figures.push(
    ...(await measure("PocketSphinx", spoken, { languageCode: "en-US", offMsMax: 150 })),
  );
}
report(figures);

async function measure(
  name: keyof typeof cpuShareMax,
  spoken: readonly TimedSpeech[],
  { languageCode, offMsMax }: { readonly languageCode: string; readonly offMsMax: number },
): Promise<Figure[]> {
  const text = makeSpokenText(spoken, { minutes, seed: Number(values.seed) });
  const before = await engineUse();
  const aligned = await alignRecording(inChunks(text.samples), text.segments, {
    languageCode,
    aligner: pool,
    signal: new AbortController().signal,
  });
  const after = await engineUse();
  const seconds = text.samples.length / rate;
  const alignedMs = (after.cpuMs - before.cpuMs) / seconds;
  const offs = differences(
    text,
    aligned.segments.map((words) => words.map(({ startMs }) => startMs)),
  );
  const inTime = offs.filter((off) => off <= offMsMax).length / offs.length;
  const recognizedMs = await recognitionCost(pool, languageCode, text.samples);
  const percentile = (share: number) => offs[Math.floor(share * (offs.length - 1))]?.toFixed(0);
  return [
    {
      name: `${name}: words that begin over ${offMsMax} ms off`,
      ratio: (1 - inTime) / (1 - inTimeShareMin),
      ratioMax: 1,
      note:
        `${(100 * inTime).toFixed(1)} % of ${offs.length} words within ${offMsMax} ms (limit 95 %), ` +
        `p50 ${percentile(0.5)} ms, p90 ${percentile(0.9)} ms, p95 ${percentile(0.95)} ms, p99 ${percentile(0.99)} ms`,
    },
    {
      name: `${name}: CPU of alignment to recognition`,
      ratio: alignedMs / recognizedMs,
      ratioMax: cpuShareMax[name],
      note: `${alignedMs.toFixed(2)} ms and ${recognizedMs.toFixed(2)} ms for a second of audio`,
    },
  ];
}

/** Returns by how much the starts of the spoken words differ from the truth, sorted. */
function differences(
  { startsMs }: SpokenText,
  found: readonly (readonly number[])[],
): readonly number[] {
  return startsMs
    .flatMap((starts, segment) =>
      starts.flatMap((startMs, word) => {
        if (startMs === undefined) return [];
        return Math.abs((found[segment]?.[word] ?? Infinity) - startMs);
      }),
    )
    .toSorted((a, b) => a - b);
}

/** Returns the CPU milliseconds of recognizing a second of this audio, as a job does. */
async function recognitionCost(
  from: EnginePool,
  languageCode: string,
  samples: Int16Array,
): Promise<number> {
  const used = samples.subarray(0, Number(values.recognized) * 60 * rate);
  const before = await engineUse();
  for await (const piece of cutPieces(inChunks(used), rate)) {
    const options = { languageCode, mode: "job", sampleRateHertz: rate } as const;
    for await (const _ of from.recognize(inChunks(piece.samples), options)) void _;
  }
  const after = await engineUse();
  return (after.cpuMs - before.cpuMs) / (used.length / rate);
}

/** Yields the samples in chunks of half a second, as a decoder does. */
async function* inChunks(samples: Int16Array): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += rate / 2) yield samples.subarray(at, at + rate / 2);
}
