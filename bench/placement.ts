// The spread of load over four unequal engine nodes: processes of their own with 1, 2 and 4 cores,
// and one with 2 cores that has streams of another client. The number of cores is what each node
// reports, since the machine of this benchmark has fewer; the load of a core is measured by the
// engine processes, as always.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { processTree } from "../src/cli/bench/process-tree.ts";
import { type EnginePool, openEnginePool } from "../src/engines/pool/engine-pool.ts";
import { scriptedOrders } from "../src/engines/scripted/scripted-engine.ts";
import { createLog } from "../src/std/log.ts";
import { report, reportMachine } from "./report.ts";

const streams = Number(process.env["STREAMS"] ?? 100);
const openSeconds = Number(process.env["OPEN_SECONDS"] ?? 40);
const measuredSeconds = Number(process.env["SECONDS"] ?? 20);
const coresOfNodes = [1, 2, 4, 2] as const;
/** The streams that another client has on the last node. */
const otherStreams = Number(process.env["OTHER_STREAMS"] ?? 20);
/** Issue 25: the spread of load is at most 15 %. */
const spreadMax = 0.15;
const chunkMs = 100;
/** On a busy machine, processes of this benchmark may wait long for a core. */
const silentMsMax = 60_000;
const credential = "the-credential-of-this-benchmark";

await using opened = new AsyncDisposableStack();
const nodes = await Promise.all(coresOfNodes.map(openNode));
const pool = await openPool(nodes);
const other = await openPool(nodes.slice(-1));

const ended = new AbortController();
const speakOn = (on: EnginePool, count: number) =>
  Array.from({ length: count }, async (_, index) => {
    await sleep((index / count) * openSeconds * 1_000);
    await speak(on, index, ended.signal);
  });
const running = Promise.all([...speakOn(other, otherStreams), ...speakOn(pool, streams)]);
await sleep(openSeconds * 1_000 + 5_000);
const before = await Promise.all(nodes.map(engineCpuMs));
const samples: number[][] = coresOfNodes.map(() => []);
for (let second = 0; second < measuredSeconds; second += 1) {
  await sleep(1_000);
  const states = pool.state().nodes ?? [];
  for (const [at, { load }] of states.entries()) samples[at]?.push(load);
}
const after = await Promise.all(nodes.map(engineCpuMs));
const sessions = (pool.state().nodes ?? []).map((each) => each.sessions);
ended.abort();
await running;

reportMachine();
const loads = samples.map((each) => each.reduce((sum, load) => sum + load, 0) / each.length);
for (const [at, cores] of coresOfNodes.entries()) {
  const cpuMs = (after[at] ?? NaN) - (before[at] ?? NaN);
  const ofCore = (100 * cpuMs) / (measuredSeconds * 1_000) / cores;
  console.log(
    `  ${cores} cores: ${sessions[at]} streams, load ${loads[at]?.toFixed(3)}, CPU time ${ofCore.toFixed(1)} % of each core`,
  );
}
const [least, most] = [Math.min(...loads), Math.max(...loads)];
report([
  {
    name: "spread of load over four engine nodes",
    ratio: (most - least) / most,
    ratioMax: spreadMax,
    note: `load ${least.toFixed(3)} to ${most.toFixed(3)}; ${streams} streams, mean of ${measuredSeconds} s`,
  },
]);

/** Opens a pool that uses these engine nodes, and waits for all of their processes. */
async function openPool(of: readonly { readonly port: number; readonly cores: number }[]) {
  const own = opened.use(
    await openEnginePool({
      engine: "scripted",
      processes: 1,
      hasOwnModels: false,
      nodes: {
        names: of.map(({ port }) => ({ host: "127.0.0.1", port, isEncrypted: false })),
        credential,
        silentMsMax,
      },
      log: createLog("error"),
    }),
  );
  const processes = of.reduce((sum, { cores }) => sum + cores, 0);
  while (own.state().ready < processes) await sleep(50);
  return own;
}

/** Starts an engine node in a process of its own. */
async function openNode(cores: number) {
  const file = join(import.meta.dirname, "placement/engine-node.ts");
  const child: ChildProcess = fork(file, [`${cores}`, credential, `${silentMsMax}`]);
  opened.defer(async () => {
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  });
  const [port] = await once(child, "message");
  return { child, cores, port: Number(port) };
}

/** Returns the CPU time so far of the engine processes of a node. */
async function engineCpuMs({ child }: { readonly child: ChildProcess }): Promise<number> {
  const tree = await processTree(child.pid ?? NaN);
  return tree
    .filter(({ name }) => name === "engine-process.ts")
    .reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/**
 * Sends speech and pauses in real time, until the signal aborts. 40 ms of each utterance take 8 ms
 * of CPU time.
 */
async function speak(on: EnginePool, index: number, signal: AbortSignal): Promise<void> {
  const samplesOf = (ms: number) => ms * 16;
  async function* input() {
    const startMs = performance.now();
    for (let at = 0; !signal.aborted; at += 1) {
      const dueMs = startMs + at * chunkMs - performance.now();
      if (dueMs > 1) await sleep(dueMs);
      const inTurn = (at + index) % 22;
      const chunk = new Int16Array(samplesOf(chunkMs)).fill(inTurn < 13 ? 1_000 : 0);
      if (inTurn === 4) chunk.fill(scriptedOrders.toil, 0, samplesOf(40));
      yield chunk;
    }
  }
  const options = { languageCode: "is-IS", mode: "live", sampleRateHertz: 16_000 } as const;
  for await (const _ of on.recognize(input(), { ...options, interim: true })) continue;
}
