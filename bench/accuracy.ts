// npm run bench:accuracy [folder]: word error rate of short and live recognition through real engine processes, per recording and
// in total: over flite voices, and over the recordings of a folder (name.wav beside name.txt) where there is one.
import { availableParallelism, cpus } from "node:os";
import { join, resolve } from "node:path";
import { type EnginePool, openEnginePool } from "../src/engines/engine-pool.ts";
import { createLog } from "../src/std/log.ts";
import { flite, joined } from "../test/flite.ts";
import { readRecordings, type Recording } from "./recordings.ts";
import { sentences } from "./sentences.ts";
import { wordErrors, wordsOf } from "./word-errors.ts";

const errorPercentMax = { flite: 8, recordings: 21 };
const shortMsMax = 2000;
const voices = ["slt", "rms", "awb"] as const;
const rate = 16_000;

type Mode = "short" | "live";

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "../../shared/audio"));
const processes = availableParallelism();
await using pool = await openEnginePool({ engine: "auto", processes, log: createLog("error") });

console.log(`machine  ${cpus()[0]?.model}, ${processes} cores, Node ${process.versions.node}`);
console.log(`engines  ${pool.engines.map(({ name }) => name).join(", ")}\n`);
const spoken = voices.flatMap((voice) =>
  sentences.map((text, index) => ({
    name: `${voice} ${index + 1}`,
    text,
    samples: flite(text, { voice }),
  })),
);
let isWithin = await measureLatency(spoken);
isWithin = (await measureSet("flite", spoken, errorPercentMax.flite)) && isWithin;
const recordings = readRecordings(folder);
if (recordings.length === 0) console.log(`no recordings in ${folder}: skipped`);
else {
  const isGood = await measureSet("recordings", recordings, errorPercentMax.recordings);
  isWithin = isGood && isWithin;
}
if (!isWithin) process.exitCode = 1;

/** How long a waiting caller waits for 5 s of speech, on a machine that does nothing else. */
async function measureLatency(recordings: readonly Recording[]): Promise<boolean> {
  const five = joined(...recordings.slice(0, 3).map(({ samples }) => samples)).subarray(
    0,
    5 * rate,
  );
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    const startedAt = performance.now();
    await hear(pool, five, "short");
    times.push(performance.now() - startedAt);
  }
  const [median = NaN] = times.toSorted((a, b) => a - b).slice(2);
  console.log(`5 s in short recognition: ${median.toFixed(0)} ms (limit ${shortMsMax})\n`);
  return median < shortMsMax;
}

async function measureSet(
  name: string,
  recordings: readonly Recording[],
  percentMax: number,
): Promise<boolean> {
  const total = { words: 0, short: 0, live: 0 };
  console.log(`${name.padEnd(18)} words  short   live  heard (short) where it differs`);
  const waiting = recordings.map((recording, index) => ({ recording, index }));
  const lines: string[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { recording, index } = next;
      const said = wordsOf(recording.text);
      const short = wordsOf(await hear(pool, recording.samples, "short"));
      const live = wordsOf(await hear(pool, recording.samples, "live"));
      const errors = { short: wordErrors(said, short), live: wordErrors(said, live) };
      total.words += said.length;
      total.short += errors.short;
      total.live += errors.live;
      const counts = [said.length, errors.short, errors.live].map((n) => String(n).padStart(5));
      const heard = errors.short > 0 ? short.join(" ") : "";
      lines[index] = `${recording.name.padEnd(18)} ${counts.join("  ")}  ${heard}`.trimEnd();
    }
  };
  await Promise.all(Array.from({ length: processes }, work));
  console.log(lines.join("\n"));
  const percent = (errors: number) => (100 * errors) / total.words;
  const isWithin = percent(total.short) <= percentMax;
  console.log(
    `${name}: short ${percent(total.short).toFixed(1)} % (${total.short} of ${total.words}; limit ${percentMax} %), ` +
      `live ${percent(total.live).toFixed(1)} % (${total.live})${isWithin ? "" : "  OVER THE LIMIT"}\n`,
  );
  return isWithin;
}

async function hear(from: EnginePool, samples: Int16Array, mode: Mode): Promise<string> {
  const texts: string[] = [];
  const options = { languageCode: "en-US", mode, sampleRateHertz: rate } as const;
  for await (const { alternatives } of from.recognize(inChunks(samples), options)) {
    texts.push(alternatives[0]?.text ?? "");
  }
  return texts.join(" ");
}

/** As a caller sends it: 100 ms at a time. */
function* inChunks(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += rate / 10) yield samples.subarray(at, at + rate / 10);
}
