// npm run bench:accuracy [folder]: word error rate of short and live recognition through real
// engine processes, per recording and in total: English of flite voices and of the recordings of a
// folder (name.wav with name.txt), if it exists; Icelandic of espeak-ng, with the starter model's
// lexicon and without it.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type EnginePool, openEnginePool } from "../src/engines/pool/engine-pool.ts";
import { builtinModelsFolder } from "../src/models/models-folder.ts";
import { createLog } from "../src/std/log.ts";
import { espeak, flite, joined } from "../test/fixtures/flite.ts";
import { icelandicSentences } from "./icelandic-sentences.ts";
import { readRecordings, type Recording } from "./recordings.ts";
import { sentences } from "./sentences.ts";
import { wordErrors, wordsOf } from "./word-errors.ts";

const errorPercentMax = { flite: 8, recordings: 21, icelandic: 5, withoutLexicon: 10 };
const shortMsMax = 2000;
const voices = ["slt", "rms", "awb"] as const;
const rate = 16_000;
const alternativesMax = 10;

type Mode = "short" | "live";

interface Recognition {
  readonly pool: EnginePool;
  readonly languageCode: string;
}

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../shared/audio"));
const processes = availableParallelism();
const log = createLog("error");
await using pool = await openEnginePool({ engine: "auto", processes, log });

console.log(`machine  ${cpus()[0]?.model}, ${processes} cores, Node ${process.versions.node}`);
const models = pool.state().models.map(({ name, version }) => `${name} ${version}`);
console.log(`models   ${models.join(", ")}\n`);
const spoken = voices.flatMap((voice) =>
  sentences.map((text, index) => ({
    name: `${voice} ${index + 1}`,
    text,
    samples: flite(text, { voice }),
  })),
);
const icelandic = icelandicSentences.map((text, index) => ({
  name: `is ${index + 1}`,
  text,
  samples: espeak(text),
}));
const english: Recognition = { pool, languageCode: "en-US" };
const isWithin = [
  await measureLatency(spoken),
  await measureSet("flite", spoken, errorPercentMax.flite, english),
];
const recordings = readRecordings(folder);
if (recordings.length === 0) console.log(`no recordings in ${folder}: skipped\n`);
else {
  const { recordings: percentMax } = errorPercentMax;
  isWithin.push(await measureSet("recordings", recordings, percentMax, english));
}
const own: Recognition = { pool, languageCode: "is-IS" };
isWithin.push(await measureSet("icelandic", icelandic, errorPercentMax.icelandic, own));
isWithin.push(await measureAlternatives(icelandic, own));
isWithin.push(await measureWithoutLexicon());
if (isWithin.includes(false)) process.exitCode = 1;

/** How long a caller waits for the result of 5 s of speech, on an otherwise idle machine. */
async function measureLatency(from: readonly Recording[]): Promise<boolean> {
  const five = joined(...from.slice(0, 3).map(({ samples }) => samples)).subarray(0, 5 * rate);
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const startedAt = performance.now();
    await recognize(english, five, "short");
    times.push(performance.now() - startedAt);
  }
  const [median = NaN] = times.toSorted((a, b) => a - b).slice(2);
  console.log(`5 s in short recognition: ${median.toFixed(0)} ms (limit ${shortMsMax})\n`);
  return median < shortMsMax;
}

async function measureSet(
  name: string,
  from: readonly Recording[],
  percentMax: number,
  recognition: Recognition,
): Promise<boolean> {
  const total = { words: 0, short: 0, live: 0 };
  console.log(`${name.padEnd(18)} words  short   live  recognized (short) where it differs`);
  const lines = await eachOf(from, async (recording) => {
    const said = wordsOf(recording.text);
    const short = wordsOf((await recognize(recognition, recording.samples, "short"))[0] ?? "");
    const live = wordsOf((await recognize(recognition, recording.samples, "live"))[0] ?? "");
    const errors = { short: wordErrors(said, short), live: wordErrors(said, live) };
    total.words += said.length;
    total.short += errors.short;
    total.live += errors.live;
    const counts = [said.length, errors.short, errors.live].map((n) => String(n).padStart(5));
    const found = errors.short > 0 ? short.join(" ") : "";
    return `${recording.name.padEnd(18)} ${counts.join("  ")}  ${found}`.trimEnd();
  });
  console.log(lines.join("\n"));
  const percent = (errors: number) => (100 * errors) / total.words;
  const isGood = percent(total.short) <= percentMax;
  console.log(
    `${name}: short ${percent(total.short).toFixed(1)} % (${total.short} of ${total.words}; limit ${percentMax} %), ` +
      `live ${percent(total.live).toFixed(1)} % (${total.live})${isGood ? "" : "  OVER THE LIMIT"}\n`,
  );
  return isGood;
}

/** The correct text is among ten readings more often than it is the first one. */
async function measureAlternatives(
  from: readonly Recording[],
  recognition: Recognition,
): Promise<boolean> {
  const found = await eachOf(from, async ({ text, samples }) => {
    const truth = wordsOf(text).join(" ");
    const texts = await recognize(recognition, samples, "short", alternativesMax);
    const readings = texts.map((each) => wordsOf(each).join(" "));
    if (new Set(readings).size !== readings.length) throw new Error("readings are not distinct");
    return { top: readings[0] === truth, among: readings.includes(truth), count: readings.length };
  });
  const [top, among] = [found.filter((each) => each.top), found.filter((each) => each.among)];
  const readings = found.reduce((sum, { count }) => sum + count, 0) / found.length;
  const isGood = among.length > top.length || top.length === found.length;
  console.log(
    `of ${found.length} sentences ${top.length} are right on top, ${among.length} among ${readings.toFixed(1)} readings` +
      `${isGood ? "" : "  NO MORE THAN ON TOP"}\n`,
  );
  return isGood;
}

/** The starter model without its lexicon. */
async function measureWithoutLexicon(): Promise<boolean> {
  const modelsFolder = mkdtempSync(join(tmpdir(), "hlust-models-"));
  try {
    const copy = join(modelsFolder, "is-IS-starter");
    cpSync(join(builtinModelsFolder, "is-IS-starter"), copy, { recursive: true });
    const card = JSON.parse(readFileSync(join(copy, "model.json"), "utf8"));
    delete card.files.lexicon;
    writeFileSync(join(copy, "model.json"), JSON.stringify(card));
    await using plain = await openEnginePool({ engine: "auto", processes, modelsFolder, log });
    const recognition = { pool: plain, languageCode: "is-IS" };
    return await measureSet("no lexicon", icelandic, errorPercentMax.withoutLexicon, recognition);
  } finally {
    rmSync(modelsFolder, { recursive: true });
  }
}

/** Maps values in parallel, one per engine process; the results are in the order of the values. */
async function eachOf<T>(
  from: readonly Recording[],
  measure: (recording: Recording) => Promise<T>,
): Promise<T[]> {
  const waiting = from.map((recording, index) => ({ recording, index }));
  const results: T[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      results[next.index] = await measure(next.recording);
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  return results;
}

/**
 * The readings of a recording: the first joins the best readings of its utterances, the second
 * their second-best ones, and so on.
 */
async function recognize(
  { pool: from, languageCode }: Recognition,
  samples: Int16Array,
  mode: Mode,
  readings = 1,
): Promise<string[]> {
  const texts: string[][] = [];
  const options = { languageCode, mode, sampleRateHertz: rate, alternativesMax: readings };
  for await (const { alternatives } of from.recognize(inChunks(samples), options)) {
    texts.push(alternatives.map(({ text }) => text));
  }
  const count = Math.max(1, ...texts.map(({ length }) => length));
  return Array.from({ length: count }, (_, rank) =>
    texts.map((each) => each[rank] ?? each[0] ?? "").join(" "),
  );
}

/** The samples in chunks of 100 ms, as callers send them. */
function* inChunks(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += rate / 10) yield samples.subarray(at, at + rate / 10);
}
