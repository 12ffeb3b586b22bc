import { performance } from "node:perf_hooks";
import type { Client } from "undici";
import { Distribution } from "../src/cli/bench/distribution.ts";
import { processTree } from "../src/cli/bench/process-tree.ts";
import { cpuMs } from "../test/fixtures/cpu-time.ts";
import type { Figure } from "./report.ts";

const rounds = 20;
const callsARound = 5;

/** Makes a call with this key. Throws if its status is not 200. */
export async function get(http: Client, key: string, path: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const { statusCode, body } = await http.request({ method: "GET", path, headers });
  const bytes = await body.arrayBuffer();
  if (statusCode !== 200) throw new Error(`${statusCode} ${Buffer.from(bytes).toString()}`);
}

/**
 * Measures the median time of whole calls to a service as a ratio to that of their SQL through the
 * driver. Alternates between the two, a few calls each, so that other work affects both equally.
 */
export async function compareCalls(
  name: string,
  pid: number,
  {
    whole,
    bare,
    ratioMax,
  }: {
    readonly whole: () => Promise<void>;
    readonly bare: () => Promise<void>;
    readonly ratioMax: number;
  },
): Promise<Figure> {
  const [times, bareTimes] = [new Distribution(), new Distribution()];
  let [cpu, bareCpu] = [0, 0];
  for (let round = 0; round <= rounds; round += 1) {
    const isMeasured = round > 0;
    const before = await cpuMsOf(pid);
    await repeat(whole, callsARound, isMeasured ? times : undefined);
    const between = await cpuMsOf(pid);
    const own = cpuMs();
    await repeat(bare, callsARound, isMeasured ? bareTimes : undefined);
    if (isMeasured) {
      cpu += between - before;
      bareCpu += cpuMs() - own;
    }
  }
  const calls = rounds * callsARound;
  const [p50, p99] = percentiles(times);
  const [bare50, bare99] = percentiles(bareTimes);
  const note =
    `p50 ${p50.toFixed(2)} p99 ${p99.toFixed(1)} ms, SQL ${bare50.toFixed(2)} ${bare99.toFixed(1)}; ` +
    `CPU a call ${(cpu / calls).toFixed(2)} ms, SQL ${(bareCpu / calls).toFixed(2)}`;
  return { name, ratio: p50 / bare50, ratioMax, note };
}

/** Repeats a call, and adds its times. */
export async function repeat(
  call: () => Promise<void>,
  calls: number,
  times?: Distribution,
): Promise<void> {
  for (let index = 0; index < calls; index += 1) {
    const began = performance.now();
    await call();
    times?.add(performance.now() - began);
  }
}

/** Returns the p50 and the p99 in ms. */
export function percentiles(times: Distribution): [p50: number, p99: number] {
  const summary = times.summary();
  return [summary?.p50 ?? NaN, summary?.p99 ?? NaN];
}

async function cpuMsOf(pid: number): Promise<number> {
  const [service] = await processTree(pid);
  return service?.cpuMs ?? NaN;
}
