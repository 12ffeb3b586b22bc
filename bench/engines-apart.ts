// The CPU time of the process that holds the streams: engines on an engine node against engines
// that are its children.
import { once } from "node:events";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EnginePool, openEnginePool } from "../src/engines/pool/engine-pool.ts";
import { createLog } from "../src/std/log.ts";
import { freePort } from "../test/fixtures/free-port.ts";
import { report, reportMachine } from "./report.ts";

const streams = Number(process.env["STREAMS"] ?? 200);
const seconds = Number(process.env["SECONDS"] ?? 10);
const rounds = Number(process.env["ROUNDS"] ?? 5);
const processes = 2;
const chunkMs = 20;
const ratioMax = 1.3;
const credential = "the-credential-of-this-benchmark";
const log = createLog("silent");

const folder = mkdtempSync(join(tmpdir(), "hlust-engines-apart-"));
try {
  await using node = await openNode();
  const common = { engine: "scripted", processes, log } as const;
  await using local = await openEnginePool(common);
  await using apart = await openEnginePool({
    ...common,
    hasOwnModels: false,
    nodes: { names: [{ host: "127.0.0.1", port: node.port, isEncrypted: false }], credential },
  });
  while (apart.state().ready < processes) await sleep(50);
  for (const pool of [local, apart]) await cpuOfChunk(pool, 2);
  const measured = { local: [] as number[], apart: [] as number[] };
  // The two take turns, so that other programs disturb both.
  for (let round = 0; round < rounds; round += 1) {
    measured.local.push(await cpuOfChunk(local, seconds));
    measured.apart.push(await cpuOfChunk(apart, seconds));
  }
  const [pipe, remote] = [median(measured.local), median(measured.apart)];
  reportMachine();
  report([
    {
      name: "CPU of a chunk, engine node / pipe",
      ratio: remote / pipe,
      ratioMax,
      note: `${remote.toFixed(1)} us, ${pipe.toFixed(1)} us: ${streams} streams, ${chunkMs} ms, median of ${rounds}`,
    },
  ]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the CPU microseconds of this process for a chunk of paced streams. */
async function cpuOfChunk(pool: EnginePool, ofSeconds: number): Promise<number> {
  const before = process.cpuUsage();
  const counts = await Promise.all(
    Array.from({ length: streams }, (_, index) => speak(pool, ofSeconds, index)),
  );
  const { user, system } = process.cpuUsage(before);
  return (user + system) / counts.reduce((sum, count) => sum + count, 0);
}

/** Sends speech and pauses in real time. Returns the number of chunks. */
async function speak(pool: EnginePool, ofSeconds: number, index: number): Promise<number> {
  const chunks = Math.round((ofSeconds * 1000) / chunkMs);
  async function* input() {
    const startMs = performance.now() + (index % chunkMs);
    for (let at = 0; at < chunks; at += 1) {
      const dueMs = startMs + at * chunkMs - performance.now();
      if (dueMs > 1) await sleep(dueMs);
      const isSpeech = (at * chunkMs + index * 97) % 2_200 < 1_300;
      yield new Int16Array(chunkMs * 16).fill(isSpeech ? 1_000 : 0);
    }
  }
  const options = { languageCode: "is-IS", mode: "live", sampleRateHertz: 16_000, interim: true };
  for await (const _ of pool.recognize(input(), { ...options, mode: "live" })) continue;
  return chunks;
}

/** Starts an engine node in a process of its own. */
async function openNode() {
  const port = await freePort();
  const child = spawn(resolve(import.meta.dirname, "../bin/hlust"), ["serve"], {
    env: {
      PATH: process.env["PATH"],
      HLUST_PORT: "0",
      HLUST_DATA: folder,
      HLUST_ROLE: "engine",
      HLUST_ENGINE: "scripted",
      HLUST_ENGINE_PROCESSES: String(processes),
      HLUST_ENGINE_LISTEN: `127.0.0.1:${port}`,
      HLUST_ENGINE_CREDENTIAL: credential,
      HLUST_DRAIN: "0",
      HLUST_LOG: "error",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
