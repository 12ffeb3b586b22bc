// `npm run bench:metrics` measures the CPU time of metrics in this process: what a call, a chunk of
// live audio and a scrape add. 1,000 calls a second may take 1 % of a core.
import { servedMethods } from "../src/served-services.ts";
import { ArrivalTimes } from "../src/engines/pool/arrival-times.ts";
import { callProtocols } from "../src/metrics/recorders.ts";
import { Metrics } from "../src/metrics/metrics.ts";
import { cpuMs } from "../test/fixtures/cpu-time.ts";
import { report, reportMachine } from "./report.ts";

const callsPerSecond = 1_000;
/** The statements of a call: most have one or two. */
const statementsOfCall = 2;
const scrapeEverySeconds = 15;
const calls = 300_000;
const chunks = 2_000_000;
const scrapes = 100;
const rounds = 5;

const methods = servedMethods();
using metrics = new Metrics({ version: "1", role: "all", methods });

/** Returns the least CPU time of a run, in microseconds for one of `count`. */
async function usOf(count: number, run: () => void | Promise<void>): Promise<number> {
  const times: number[] = [];
  await run();
  for (let round = 0; round < rounds; round += 1) {
    const before = cpuMs();
    await run();
    times.push(((cpuMs() - before) * 1_000) / count);
  }
  return Math.min(...times);
}

const callUs = await usOf(calls, () => {
  for (let at = 0; at < calls; at += 1) {
    const call = metrics.calls.begin(callProtocols[at % 5] ?? "rest");
    call.called(methods[at % methods.length]?.name ?? "", true);
    for (let count = 0; count < statementsOfCall; count += 1) metrics.storage.waited(0.000_2);
    if (at % 10 === 0) call.failed({ code: "not_found", reason: "TRANSCRIPT_NOT_FOUND" });
    call.end();
  }
});

const stream = metrics.engines.beginStream("model");
const arrivals = new ArrivalTimes();
const chunkUs = await usOf(chunks, () => {
  for (let at = 0; at < chunks; at += 1) {
    arrivals.waits();
    stream.audio(0.1);
    arrivals.arrived(100);
    if (at % 50 === 0) stream.final(arrivals.sinceArrivalMs(at * 100) / 1_000);
  }
});

// Every model and combination of a busy node has its series.
for (let model = 0; model < 4; model += 1) metrics.engines.exited(`model-${model}`, "crashed");
let text = "";
const scrapeUs = await usOf(scrapes, async () => {
  for (let at = 0; at < scrapes; at += 1) text = await metrics.scrape("prometheus");
});
const series = text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;

const coreOfCalls = (callsPerSecond * callUs) / 1e4;
const coreOfScrapes = scrapeUs / 1e4 / scrapeEverySeconds;
reportMachine();
report([
  {
    name: "a call",
    ratio: callUs,
    ratioMax: 10,
    unit: "us",
    note: `with ${statementsOfCall} waits for a database connection`,
  },
  {
    name: "a chunk of live audio",
    ratio: chunkUs,
    ratioMax: 1,
    unit: "us",
    note: "of the 31 to 42 us that a chunk takes in the main process",
  },
  {
    name: "a scrape",
    ratio: scrapeUs / 1_000,
    ratioMax: 30,
    unit: "ms",
    note: `${series} series, ${(text.length / 1_024).toFixed(0)} KiB`,
  },
  {
    name: "1,000 calls a second and a scrape each 15 s",
    ratio: coreOfCalls + coreOfScrapes,
    ratioMax: 1,
    unit: "% of a core",
    note: `calls ${coreOfCalls.toFixed(2)} %, scrapes ${coreOfScrapes.toFixed(2)} %`,
  },
]);
