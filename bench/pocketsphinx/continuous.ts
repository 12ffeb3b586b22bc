// Compares the CPU time of our live recognition with that of pocketsphinx_continuous, for the same
// recording and the same settings.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavHeader } from "../../src/std/wav.ts";
import { bytesOfSamples } from "../../src/engines/protocol/engine-frames.ts";
import type { Effort } from "../../src/engines/protocol/engine.ts";
import { openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import { languageWeight } from "../../src/engines/pocketsphinx/sphinx-settings.ts";
import type { Log } from "../../src/std/log.ts";
import { silence } from "../../test/fixtures/flite.ts";
import type { Figure } from "../report.ts";
import { engineUse } from "../engine-use.ts";
import { sampleRate } from "./talk.ts";

const program = "pocketsphinx_continuous";
const settings = ["-fwdflat", "no", "-maxhmmpf", "10000", "-lw", languageWeight];
const ratioMax = 1.15;

export interface Cost {
  readonly figure: Figure;
  /** The CPU time of the engine in seconds per second of the recording. */
  readonly cpuPerSecond: number;
}

/** Compares the minimum of `rounds` runs of each; the two alternate. */
export async function measureCost(samples: Int16Array, log: Log, rounds: number): Promise<Cost> {
  const isInstalled = spawnSync(program, ["-help"]).error === undefined;
  let [own, full, other] = [Infinity, Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    own = Math.min(own, await ownSeconds(samples, log, "quick"));
    full = Math.min(full, await ownSeconds(samples, log, "full"));
    if (isInstalled) other = Math.min(other, continuousSeconds(samples));
  }
  const seconds = samples.length / sampleRate;
  const withFull = `with full effort ${(full / seconds).toFixed(3)} s`;
  const note = isInstalled
    ? `${(own / seconds).toFixed(3)} s (${withFull}) against ${(other / seconds).toFixed(3)} per second of recording, with interim results`
    : `${program} is not installed (apt-get install pocketsphinx): ${(own / seconds).toFixed(3)} s per second of recording, ${withFull}, without a comparison`;
  const ratio = isInstalled ? own / other : NaN;
  const figure = { name: `CPU against ${program}`, ratio, ratioMax, note };
  return { figure, cpuPerSecond: own / seconds };
}

async function ownSeconds(samples: Int16Array, log: Log, effort: Effort): Promise<number> {
  await using pool = await openEnginePool({ engine: "pocketsphinx", processes: 1, log });
  const before = await engineUse();
  const options = { languageCode: "en-US", sampleRateHertz: sampleRate } as const;
  const input = (function* () {
    const length = sampleRate / 10;
    for (let at = 0; at < samples.length; at += length) yield samples.subarray(at, at + length);
  })();
  let finals = 0;
  for await (const { isFinal } of pool.recognize(input, {
    ...options,
    mode: "live",
    effort,
    interim: true,
  })) {
    if (isFinal) finals += 1;
  }
  if (finals === 0) throw new Error("nothing was recognized");
  return ((await engineUse()).cpuMs - before.cpuMs) / 1000;
}

function continuousSeconds(samples: Int16Array): number {
  const folder = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    const run = (name: string, samples: Int16Array): number => {
      const path = join(folder, name);
      writeFileSync(path, waveOf(samples));
      const before = childrenSeconds();
      const { status } = spawnSync(program, ["-infile", path, ...settings, "-logfn", "/dev/null"]);
      if (status !== 0) throw new Error(`${program} ended with ${status}`);
      return childrenSeconds() - before;
    };
    const start = run("nothing.wav", silence(100));
    return run("talk.wav", samples) - start;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the CPU time in seconds of all children of this process that have ended. */
function childrenSeconds(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function waveOf(samples: Int16Array): Buffer {
  const header = wavHeader({ sampleRateHertz: sampleRate, dataBytes: samples.byteLength });
  return Buffer.concat([header, bytesOfSamples(samples)]);
}
