// `npm run bench:metrics-paired` measures what metrics cost a call of a whole service, finely
// enough to see one percent: one service with metrics, whose recorders of calls and of database
// connections are switched on and off every few calls while a client calls without a pause. The
// slices of a block are on, off, off and on, or the reverse, so that a steady drift of the machine
// cancels out. A block gives one ratio, of the CPU time of the main thread; the result is the mean
// of their logarithms, since the mean of ratios of noisy values is above 1 even without a
// difference. The control compares the two slices of a block that are alike. The clients are other
// processes.
//
// Usage: npm run bench:metrics-paired [blocks] [calls of a slice]
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { openApp } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { CallMetrics } from "../src/metrics/call-metrics.ts";
import { StorageMetrics } from "../src/metrics/storage-metrics.ts";
import type { RecordedCall } from "../src/metrics/recorders.ts";
import { unrecorded } from "../src/server/record-calls.ts";
import { createLog } from "../src/std/log.ts";
import { seedPostgres } from "../test/fixtures/seed-postgres.ts";
import { report, reportMachine } from "./report.ts";
import { openCaller, requestText } from "./transcoding/calls.ts";
import { trimmedMean } from "./trimmed-mean.ts";

const blocks = Number(process.argv[2] ?? 600);
const callsOfSlice = Number(process.argv[3] ?? 32);
const warmBlocks = 20;
const callsPerSecond = 1_000;

const recorders = { isOn: true };
switchRecorders();

await using parts = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "hlust-bench-metrics-"));
parts.defer(() => rmSync(folder, { recursive: true, force: true }));
await seedPostgres(join(folder, "postgres"));
const config = readConfig({
  HLUST_DATA: folder,
  HLUST_PORT: "0",
  HLUST_ENGINE: "scripted",
  HLUST_ENGINE_PROCESSES: "1",
  HLUST_METRICS_LISTEN: "127.0.0.1:0",
  HLUST_ACCOUNT_REQUESTS_PER_MINUTE: "0",
});
const app = parts.use(await openApp(config, { log: createLog("error") }));
const { port } = new URL(app.address);
// Each has four connections: with 16 calls at a time the service rarely waits for a client.
const callers = Array.from({ length: 4 }, () => parts.use(openCaller(port)));
const token = readFileSync(join(folder, "api-key"), "utf8").trim();
const request = requestText("GET", "/v1alpha1/transcripts?pageSize=1", { token });

/** The logarithms of the ratios of the blocks. */
const costs: number[] = [];
const controls: number[] = [];
let offNs = 0;
for (let block = -warmBlocks; block < blocks; block += 1) {
  // Every other block begins with off.
  const first = block % 2 === 0;
  const outer = await nsOfSlice(first);
  const inner = [await nsOfSlice(!first), await nsOfSlice(!first)] as const;
  const both = [outer + (await nsOfSlice(first)), inner[0] + inner[1]] as const;
  const [on, off] = first ? both : [both[1], both[0]];
  // The first blocks load and compile.
  if (block < 0) continue;
  costs.push(Math.log(on / off));
  controls.push(Math.log(inner[1] / inner[0]));
  offNs += off;
}

const counted = await countedCalls();
const offUs = offNs / 1_000 / (2 * callsOfSlice * blocks);
const cost = trimmedMean(costs);
const control = trimmedMean(controls);
const percent = (value: number) => `${(value * 100).toFixed(2)} %`;
reportMachine();
report([
  {
    name: "a call, metrics on to off",
    ratio: cost.mean * 100,
    ratioMax: 1,
    unit: "%",
    note:
      `standard error ${percent(cost.error)}, the middle 80 % of ${blocks} blocks; ` +
      `${offUs.toFixed(0)} us a call without; ${counted} calls counted`,
  },
  {
    name: "control, equal slices",
    ratio: Math.abs(control.mean * 100),
    ratioMax: 300 * control.error,
    unit: "%",
    note: `standard error ${percent(control.error)}`,
  },
  {
    name: "1,000 calls a second",
    ratio: (cost.mean * offUs * callsPerSecond) / 1e4,
    ratioMax: 1,
    unit: "% of a core",
    note: `${(cost.mean * offUs).toFixed(1)} us a call`,
  },
]);

/** Makes the calls of a slice. Returns the CPU time of the main thread, in nanoseconds. */
async function nsOfSlice(isOn: boolean): Promise<number> {
  recorders.isOn = isOn;
  const began = mainThreadNs();
  await Promise.all(callers.map((each) => each.call(request, callsOfSlice / callers.length)));
  return mainThreadNs() - began;
}

function mainThreadNs(): number {
  const times = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8");
  return Number(times.split(" ")[0]);
}

/** Makes the recorders of every call record only while `recorders.isOn`, from the start on. */
function switchRecorders(): void {
  const calls = CallMetrics.prototype;
  const begin = Reflect.get(calls, "begin");
  calls.begin = function (this: CallMetrics, protocol): RecordedCall {
    return recorders.isOn ? begin.call(this, protocol) : unrecorded.begin(protocol);
  };
  const storage = StorageMetrics.prototype;
  const waited = Reflect.get(storage, "waited");
  storage.waited = function (this: StorageMetrics, seconds): void {
    if (recorders.isOn) waited.call(this, seconds);
  };
}

/** Returns the number of calls that the metrics have counted: those of the slices that were on. */
async function countedCalls(): Promise<number> {
  const text = await (await fetch(`${app.metricsAddress}/metrics`)).text();
  const counts = text.matchAll(/^hlust_calls_total\{.*ListTranscripts".*\} (\d+)$/gm);
  const count = Array.from(counts, ([, value]) => Number(value)).reduce((a, b) => a + b, 0);
  const expected = (blocks + warmBlocks) * 2 * callsOfSlice;
  if (count !== expected) throw new Error(`${count} calls were counted, not ${expected}`);
  return count;
}
