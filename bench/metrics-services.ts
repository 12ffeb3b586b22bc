// `npm run bench:metrics-services` measures what metrics cost a whole service: the CPU time of the
// service's process for a call, with metrics on and a scrape each 15 s, and with metrics off. Both
// are processes of their own with a database each, and take turns with the same calls.
//
// Usage: npm run bench:metrics-services [calls of a turn] [pairs of turns]
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startService, type ServiceProcess } from "../test/fault/process.ts";
import { freePort } from "../test/fixtures/free-port.ts";
import { report, reportMachine } from "./report.ts";

const callsOfTurn = Number(process.argv[2] ?? 300);
const pairs = Number(process.argv[3] ?? 12);
const warmPairs = 4;
const scrapeEverySeconds = 15;
const scrapesMeasured = 10;

await using parts = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "hlust-bench-metrics-"));
parts.defer(() => rmSync(folder, { recursive: true, force: true }));

const listen = `127.0.0.1:${await freePort()}`;
const off = await open("off");
const on = await open("on", { HLUST_METRICS_LISTEN: listen });

let scrapes = 0;
/** Why a scrape failed: the figures would then be those of a service without scrapes. */
let failure: unknown;
const timer = setInterval(() => {
  scrape().catch((error: unknown) => {
    failure = error;
  });
}, scrapeEverySeconds * 1_000);
const ratios: number[] = [];
const costs = { on: [] as number[], off: [] as number[] };
for (let pair = -warmPairs; pair < pairs; pair += 1) {
  // Each is first in every other pair.
  const first = pair % 2 === 0;
  const before = first ? await usOfCall(off) : undefined;
  const withMetrics = await usOfCall(on);
  const without = before ?? (await usOfCall(off));
  // The first pairs load and compile.
  if (pair < 0) continue;
  ratios.push(withMetrics / without);
  costs.on.push(withMetrics);
  costs.off.push(without);
}
clearInterval(timer);
const scrapesOfRun = scrapes;
const scrapeMs = await msOfScrape();
assert.equal(failure, undefined);

const sorted = ratios.toSorted((a, b) => a - b);
const quarter = (part: number) =>
  (sorted[Math.floor((sorted.length - 1) * part)] ?? NaN).toFixed(3);
reportMachine();
report([
  {
    name: "a call, metrics on to off",
    ratio: medianOf(ratios),
    ratioMax: 1.05,
    note:
      `${medianOf(costs.on).toFixed(0)} us on, ${medianOf(costs.off).toFixed(0)} us off; ` +
      `${pairs} pairs of ${callsOfTurn} calls, quartiles ${quarter(0.25)} to ${quarter(0.75)}, ` +
      `${quarter(0)} to ${quarter(1)}; ${scrapesOfRun} scrapes in the run`,
  },
  {
    name: "a scrape over HTTP",
    ratio: scrapeMs,
    ratioMax: 60,
    unit: "ms",
    note: `${(scrapeMs / 10 / scrapeEverySeconds).toFixed(3)} % of a core each 15 s`,
  },
]);

/** Starts a service with a database and data folder of its own. */
async function open(name: string, settings: Record<string, string> = {}): Promise<ServiceProcess> {
  const environment = { HLUST_ENGINE: "scripted", ...settings };
  return parts.use(await startService(join(folder, name), environment));
}

/** Returns the CPU time that the service's process takes for a call, in microseconds. */
async function usOfCall(service: ServiceProcess): Promise<number> {
  const headers = { authorization: `Bearer ${service.key}` };
  const began = cpuNsOf(service.pid);
  for (let call = 0; call < callsOfTurn; call += 1) {
    const answer = await fetch(`${service.address}/v1alpha1/transcripts?pageSize=1`, { headers });
    assert.equal(answer.status, 200);
    await answer.arrayBuffer();
  }
  return (cpuNsOf(service.pid) - began) / 1_000 / callsOfTurn;
}

async function scrape(): Promise<void> {
  const answer = await fetch(`http://${listen}/metrics`);
  assert.equal(answer.status, 200);
  await answer.arrayBuffer();
  scrapes += 1;
}

/** Returns the CPU time that the service's process takes for a scrape, in milliseconds. */
async function msOfScrape(): Promise<number> {
  const began = cpuNsOf(on.pid);
  for (let count = 0; count < scrapesMeasured; count += 1) await scrape();
  return (cpuNsOf(on.pid) - began) / 1e6 / scrapesMeasured;
}

/** Returns the CPU time of the threads of a process so far, in nanoseconds. */
function cpuNsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const timeOf = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, thread) => sum + timeOf(thread), 0);
}

function medianOf(values: readonly number[]): number {
  const ordered = values.toSorted((a, b) => a - b);
  const [low = NaN, high = NaN] = [
    ordered[(ordered.length - 1) >> 1],
    ordered[ordered.length >> 1],
  ];
  return (low + high) / 2;
}
