// `npm run bench:alignment [-- --minutes 60] [-- --only ctc|pocketsphinx]` measures alignment with
// real engine processes: how many words begin when they were said, and its CPU time relative to
// that of recognizing the same audio. The speech is that of two voices of espeak-ng (ctc) and flite
// (PocketSphinx); in the text, words are replaced and sentences moved, missing or added.
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openEnginePool } from "../src/engines/pool/engine-pool.ts";
import type { KeptOutputs } from "../src/engines/protocol/kept-outputs.ts";
import { type AlignableRecording, alignRecording } from "../src/jobs/worker/align-recording.ts";
import { cutPieces } from "../src/jobs/worker/cut-pieces.ts";
import { HeldAudio } from "../src/jobs/worker/held-audio.ts";
import { KeptRecording } from "../src/jobs/worker/kept-recording.ts";
import { findOutputs, keepOutputs, type MediaOutputs } from "../src/media/media-outputs.ts";
import { newId } from "../src/std/ids.ts";
import { createLog } from "../src/std/log.ts";
import { espeakTimedWords } from "../test/fixtures/espeak-words.ts";
import { fliteWords, type TimedSpeech } from "../test/fixtures/flite.ts";
import { openTestDatabase } from "../test/fixtures/open-test-database.ts";
import { makeSpokenText, type SpokenText } from "../test/fixtures/spoken-text.ts";
import { engineUse } from "./engine-use.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import { type Figure, report, reportMachine } from "./report.ts";
import { sentences } from "./sentences.ts";

const rate = 16_000;
const inTimeShareMin = 0.95;
/**
 * The share of the CPU time of recognition. With ctc it is that of outputs that recognition has
 * kept.
 */
const cpuShareMax = { ctc: 0.2, PocketSphinx: 0.2 } as const;
/**
 * The share of ctc by samples, whose network alone takes more than a fifth: 0.4 to 0.7 is measured
 * (docs/decisions.md, The limit of a fifth for alignment holds for media with kept outputs).
 */
const samplesShareMax = 1;

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
await using database = await openTestDatabase();
const mediaId = await insertTestMedia();
await using pool = await openEnginePool({
  engine: "auto",
  processes: 1,
  log: createLog("error"),
});
// Processes that are still being loaded would count as alignment.
while (pool.state().models.some(({ loading }) => loading)) await sleep(50);
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
  how: { readonly languageCode: string; readonly offMsMax: number },
): Promise<Figure[]> {
  const text = makeSpokenText(spoken, { minutes, seed: Number(values.seed) });
  const { languageCode } = how;
  const model = pool.outputsModel(languageCode);
  // The outputs of the whole recording are needed if they are kept.
  const used = model === undefined ? Number(values.recognized) : Infinity;
  const recognized = await recognize(languageCode, text.samples.subarray(0, used * 60 * rate));
  const held = new HeldAudio(inChunks(text.samples), rate);
  const figures = await alignedFigures(name, {
    text,
    audio: held,
    recognized,
    ...how,
    shareMax: model === undefined ? cpuShareMax[name] : samplesShareMax,
  });
  if (model === undefined) return figures;
  const db = database.db;
  await keepOutputs(db, recognized.parts);
  const durationMs = Math.round(text.samples.length / (rate / 1000));
  await db.updateTable("media").set({ duration_ms: durationMs }).execute();
  const outputs = await findOutputs(db, mediaId, model);
  if (!outputs) throw new Error("the outputs are not those of the whole recording");
  const audio = new KeptRecording(db, outputs);
  const kept = await alignedFigures(`${name}, kept outputs`, {
    text,
    audio,
    recognized,
    ...how,
    shareMax: cpuShareMax[name],
  });
  const bytes = recognized.parts.reduce((sum, part) => sum + part.bytes.length, 0);
  const mb = (bytes * 60) / minutes / 1e6;
  return [
    ...figures,
    ...kept,
    { name: `${name}: outputs of an hour`, ratio: mb, ratioMax: 1, unit: "MB", note: model },
  ];
}

/** Returns the figures of aligning a text, to its samples or to kept outputs. */
async function alignedFigures(
  name: string,
  {
    text,
    audio,
    recognized,
    languageCode,
    offMsMax,
    shareMax,
  }: {
    readonly text: SpokenText;
    readonly audio: AlignableRecording;
    readonly recognized: Recognized;
    readonly languageCode: string;
    readonly offMsMax: number;
    readonly shareMax: number;
  },
): Promise<Figure[]> {
  const signal = new AbortController().signal;
  const options = { languageCode, aligner: pool, signal };
  const before = await engineUse();
  const ownBefore = process.cpuUsage();
  const aligned = await alignRecording(audio, text.segments, options);
  const own = process.cpuUsage(ownBefore);
  const after = await engineUse();
  const seconds = text.samples.length / rate;
  const engineMs = (after.cpuMs - before.cpuMs) / seconds;
  // Reading and sending, without decoding, which bench:media measures.
  const ownMs = (own.user + own.system) / 1000 / seconds;
  const offs = differences(
    text,
    aligned.segments.map((words) => words.map(({ startMs }) => startMs)),
  );
  const inTime = offs.filter((off) => off <= offMsMax).length / offs.length;
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
      ratio: (engineMs + ownMs) / recognized.cpuMs,
      ratioMax: shareMax,
      note:
        `${engineMs.toFixed(2)} ms in the engine and ${ownMs.toFixed(2)} ms in the service, and ` +
        `${recognized.cpuMs.toFixed(2)} ms of recognition, for a second of audio`,
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

/** What recognition of a recording took and left. */
interface Recognized {
  /** The CPU milliseconds of the engine for a second of audio. */
  readonly cpuMs: number;
  /** The outputs, if the engine keeps them. */
  readonly parts: readonly MediaOutputs[];
}

/** Recognizes a recording as a job does, and keeps its outputs. */
async function recognize(languageCode: string, samples: Int16Array): Promise<Recognized> {
  const parts: MediaOutputs[] = [];
  const before = await engineUse();
  for await (const { index, startMs, endMs, samples: part } of cutPieces(inChunks(samples), rate)) {
    const onOutputs = (outputs: KeptOutputs): void => {
      parts.push({ mediaId, number: index, startMs, endMs, ...outputs });
    };
    const options = { languageCode, mode: "job", sampleRateHertz: rate, onOutputs } as const;
    for await (const _ of pool.recognize(inChunks(part), options)) void _;
  }
  const after = await engineUse();
  return { cpuMs: (after.cpuMs - before.cpuMs) / (samples.length / rate), parts };
}

async function insertTestMedia(): Promise<string> {
  const [id, accountId] = [newId(), newId()];
  const { db } = database;
  await db.insertInto("account").values({ id: accountId, display_name: "" }).execute();
  const media = { account_id: accountId, size_bytes: 0, sha256: null, content_type: "audio/wav" };
  await db
    .insertInto("media")
    .values({ id, ...media })
    .execute();
  return id;
}

/** Yields the samples in chunks of half a second, as a decoder does. */
async function* inChunks(samples: Int16Array): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += rate / 2) yield samples.subarray(at, at + rate / 2);
}
