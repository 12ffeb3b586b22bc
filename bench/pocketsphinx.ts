// `npm run bench:pocketsphinx [-- --folder recordings] [-- --seconds 30] [-- --only
// cpu|streams|final]` compares the CPU time of live recognition with PocketSphinx with that of
// pocketsphinx_continuous. It also measures how many streams a core recognizes in time, and the
// latency of finals.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Summary } from "../src/cli/bench/distribution.ts";
import { createLog } from "../src/std/log.ts";
import { measureCost } from "./pocketsphinx/continuous.ts";
import { type Lags, measurePaced } from "./pocketsphinx/paced.ts";
import { makeTalk } from "./pocketsphinx/talk.ts";
import { type Figure, report, reportMachine } from "./report.ts";

const streamsMin = 4;
const streamsTried = 8;
const interimMsMax = 500;
/**
 * Streams that take turns cost more than a single stream, because they evict each other from the
 * caches.
 */
const turnsFactor = 1.25;
/** The default silence that ends an utterance, and 200 ms for the final result after it. */
const finalMsMax = 500 + 200;
/** The same with full effort, whose second search may take 500 ms more. */
const fullFinalMsMax = finalMsMax + 500;

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: join(import.meta.dirname, "../../shared/audio") },
    seconds: { type: "string", default: "30" },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const wants = (name: string) => values.only === undefined || values.only === name;
const cores = availableParallelism();
const log = createLog("error");
reportMachine();

const talks = Array.from({ length: streamsTried }, (_, index) =>
  makeTalk(values.folder, 5 * index),
);
const figures: Figure[] = [];
let cpuPerSecond = 0.1;
if (wants("cpu")) {
  const [talk] = talks;
  const cost = await measureCost(talk?.samples ?? new Int16Array(0), log, 4);
  figures.push(cost.figure);
  cpuPerSecond = cost.cpuPerSecond;
}
if (wants("streams")) figures.push(await measureStreams());
if (wants("final")) figures.push(await measureFinal(), await measureFullFinal());
report(figures);

/** Finds the maximum number of streams of one engine process whose interim results are in time. */
async function measureStreams(): Promise<Figure> {
  let most = 0;
  let last = NaN;
  for (let count = streamsMin; count <= streamsTried; count++) {
    const lags = await measurePaced(talks, { count, processes: 1, seconds, log });
    console.log(line(`${count} streams, 1 process`, lags));
    if (lags.refused > 0 || !(p95(lags.interim) < interimMsMax)) break;
    most = count;
    last = p95(lags.interim);
  }
  return {
    name: `${streamsMin} over real-time streams a core`,
    ratio: most > 0 ? streamsMin / most : NaN,
    ratioMax: 1,
    note: `${most} with the p95 of the interim lag at ${last.toFixed(0)} ms (limit ${interimMsMax})`,
  };
}

/** Measures the latency of finals while engines use half of the machine. */
async function measureFinal(): Promise<Figure> {
  const count = Math.max(1, Math.round((0.5 * cores) / (turnsFactor * cpuPerSecond)));
  const lags = await measurePaced(talks, { count, processes: cores, seconds, log });
  console.log(line(`${count} streams, ${cores} processes`, lags));
  const finals = lags.final?.count ?? 0;
  return {
    name: "p95 of the final after the end of speech",
    ratio: lags.refused > 0 ? NaN : p95(lags.final) / finalMsMax,
    ratioMax: 1,
    note: `${p95(lags.final).toFixed(0)} ms (limit ${finalMsMax}) of ${finals} finals, ${lags.cores.toFixed(2)} of ${cores} cores taken`,
  };
}

/** Measures the latency of finals of a stream alone, with full effort. */
async function measureFullFinal(): Promise<Figure> {
  const lags = await measurePaced(talks, { count: 1, processes: 1, seconds, log, effort: "full" });
  console.log(line("1 stream, full effort", lags));
  return {
    name: "p95 of the final with full effort",
    ratio: lags.refused > 0 ? NaN : p95(lags.final) / fullFinalMsMax,
    ratioMax: 1,
    note: `${p95(lags.final).toFixed(0)} ms (limit ${fullFinalMsMax}), ${lags.cores.toFixed(2)} cores taken`,
  };
}

function p95(summary: Summary | undefined): number {
  return summary?.p95 ?? NaN;
}

function line(name: string, { interim, word, final, cores, bytes, refused }: Lags): string {
  const text = (summary: Summary | undefined) => {
    if (!summary) return "-";
    return [summary.p50, summary.p95, summary.max].map((ms) => ms.toFixed(0)).join(" / ");
  };
  const refusals = refused > 0 ? `; ${refused} REFUSED OR FAILED` : "";
  return (
    `${name.padEnd(24)} interim ${text(interim)}, from its last word ${text(word)}, final after speech ${text(final)} ms ` +
    `(p50 / p95 / max); ${cores.toFixed(2)} cores, ${(bytes / 2 ** 20).toFixed(0)} MiB${refusals}`
  );
}
