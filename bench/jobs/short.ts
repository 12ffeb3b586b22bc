import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { bytesOfSamples } from "../../src/engines/protocol/engine-frames.ts";
import { startService } from "../../test/fault/process.ts";
import { openMediaHost } from "../../test/spec/media-host.ts";
import { callRest } from "../../test/spec/service.ts";
import type { Figure } from "../report.ts";
import { cancelJob, type Node, submitJob, untilEnginesReady } from "./job-calls.ts";
import { makeRecording } from "./recording.ts";
import { engineUse, spentBetween, TreeWatch } from "./service-tree.ts";

const ratioMax = 1.3;
const queuedJobs = 20;
const recordingSeconds = 3600;
const shortSeconds = 5;
const callsARound = 7;
/** Engines that are idle for this share of the time count as idle. */
const idleShareMin = 0.95;

/**
 * The time that a recognition took, and the CPU time of the engines during the recognition. With
 * jobs, all engines run all the time; without jobs, only one engine runs.
 */
interface Call {
  readonly wallMs: number;
  readonly ranMs: number;
}

/**
 * Compares a short recognition while jobs of an hour each are queued with a short recognition
 * without jobs. The two alternate, and their medians are compared, by the clock and by the CPU time
 * of the engine. The CPU time includes the engine's work for jobs, and is valid on a busy machine
 * too.
 */
export async function measureShort(
  folder: string,
  { rounds }: { readonly rounds: number },
): Promise<Figure[]> {
  using recording = makeRecording(folder, recordingSeconds);
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using host = await openMediaHost({ "/hour.mp3": readFileSync(recording.file) });
    await using service = await startService(data, {
      HLUST_ENGINE: "pocketsphinx",
      HLUST_ENGINE_PROCESSES: "",
      HLUST_LOG: "error",
    });
    await untilEnginesReady(service);
    const audio = recording.talk.subarray(0, 16_000 * shortSeconds);
    const content = Buffer.from(bytesOfSamples(audio)).toString("base64");
    using watch = new TreeWatch([service.pid]);
    const engines = (await watch.look()).engines.map(({ pid }) => pid);
    const call = async (count: number) => await callTimes(service, content, { count, engines });
    const [alone, withJobs]: [Call[], Call[]] = [[], []];
    // These calls are not measured, because the first recognition takes longer.
    await call(2);
    for (let round = 0; round < rounds; round += 1) {
      alone.push(...(await call(callsARound)));
      const jobs = await Promise.all(
        Array.from({ length: queuedJobs }, () => submitJob(service, `${host.address}/hour.mp3`)),
      );
      await untilEngines(watch, (idleShare) => idleShare < 1 - idleShareMin);
      withJobs.push(...(await call(callsARound)));
      for (const job of jobs) await cancelJob(service, job);
      await untilEngines(watch, (idleShare) => idleShare > idleShareMin);
    }
    const name = `short recognition next to ${queuedJobs} jobs of an hour`;
    const ran = (calls: readonly Call[], share: number) =>
      median(calls.map(({ ranMs }) => ranMs)) / share;
    const wall = (calls: readonly Call[]) => median(calls.map(({ wallMs }) => wallMs));
    return [
      figureOf(`${name}, by CPU time`, ran(withJobs, engines.length), ran(alone, 1)),
      figureOf(`${name}, by the clock`, wall(withJobs), wall(alone)),
    ];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

function figureOf(name: string, withJobs: number, alone: number): Figure {
  const note = `${withJobs.toFixed(0)} ms, ${alone.toFixed(0)} alone, medians`;
  return { name, ratio: withJobs / alone, ratioMax, note };
}

async function callTimes(
  { address, key }: Node,
  content: string,
  { count, engines }: { readonly count: number; readonly engines: readonly number[] },
): Promise<Call[]> {
  const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
  const body = { config, audio: { content } };
  const ranMs = async (): Promise<number> => {
    const uses = await Promise.all(engines.map(engineUse));
    return uses.reduce((sum, each) => sum + each.ranMs, 0);
  };
  const found: Call[] = [];
  for (let call = 0; call < count; call += 1) {
    const [startMs, ranBeforeMs] = [performance.now(), await ranMs()];
    const path = "/v2beta1/speech:recognize";
    const { status, json } = await callRest(address, key, { method: "POST", path, body });
    if (status !== 200) throw new Error(`recognition failed: ${JSON.stringify(json)}`);
    found.push({ wallMs: performance.now() - startMs, ranMs: (await ranMs()) - ranBeforeMs });
  }
  return found;
}

/**
 * Waits until the idle share of all engines of a service, measured over half a second, meets a
 * condition.
 */
async function untilEngines(watch: TreeWatch, isSo: (idleShare: number) => boolean): Promise<void> {
  for (;;) {
    const before = await watch.look();
    await delay(500);
    if (isSo(spentBetween(before, await watch.look()).idleShare)) return;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
