import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Log } from "../../src/std/log.ts";
import { startService } from "../../test/fault/process.ts";
import { openMediaHost } from "../../test/spec/media-host.ts";
import { recognizeAlone } from "./engine-alone.ts";
import type { Figure } from "../report.ts";
import { atLeast } from "./figure.ts";
import { submitJob, untilEnginesReady, untilProgress } from "./job-calls.ts";
import { makeRecording } from "./recording.ts";
import { type Spent, spentBetween, TreeWatch } from "./service-tree.ts";

const shareMin = 0.9;

/**
 * Measures one recording on all cores, from its submission to its transcript. Compares it with one
 * engine process that recognizes the same recording alone, before and after. Returns two figures:
 *
 * - the share of all CPU time that engines use, times the share of the time in which engines work,
 *   which is valid on a busy machine too
 * - the speed by the clock, which needs an idle machine
 */
export async function measureHour(
  folder: string,
  { minutes, log }: { readonly minutes: number; readonly log: Log },
): Promise<Figure[]> {
  using recording = makeRecording(folder, 60 * minutes);
  const talkSeconds = recording.talk.length / 16_000;
  const before = await recognizeAlone(recording.talk, log);
  const whole = await transcribe(recording.file);
  const after = await recognizeAlone(recording.talk, log);
  const cores = availableParallelism();
  const alone = {
    cpuMs: (before.engineCpuMs + after.engineCpuMs) / 2 / talkSeconds,
    wallMs: (before.wallMs + after.wallMs) / 2 / talkSeconds,
  };
  const { seconds } = recording;
  const speed = (1000 * seconds) / whole.wallMs;
  const speedAlone = 1000 / alone.wallMs;
  const ms = (value: number) => `${(value / seconds).toFixed(1)} ms`;
  const restMs = whole.cpuMs - whole.engineCpuMs - whole.databaseCpuMs;
  const name = `${minutes} min over ${cores} cores`;
  return [
    atLeast(
      `${name}, by CPU time`,
      (whole.engineCpuMs / whole.cpuMs) * (1 - whole.idleShare),
      shareMin,
      `a second: engines ${ms(whole.engineCpuMs)} (${alone.cpuMs.toFixed(1)} alone), service and decoder ${ms(restMs)}, ` +
        `PostgreSQL ${ms(whole.databaseCpuMs)}; engines idle ${(100 * whole.idleShare).toFixed(1)} % of the time`,
    ),
    atLeast(
      `${name}, by the clock`,
      speed / (cores * speedAlone),
      shareMin,
      `${(whole.wallMs / 1000).toFixed(0)} s, ${speed.toFixed(1)} times as fast as it is spoken; one engine alone ${speedAlone.toFixed(1)} times`,
    ),
  ];
}

async function transcribe(file: string): Promise<Spent> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using host = await openMediaHost({ "/long.mp3": readFileSync(file) });
    await using service = await startService(data, {
      HLUST_ENGINE: "pocketsphinx",
      HLUST_ENGINE_PROCESSES: "",
      HLUST_LOG: "error",
    });
    await untilEnginesReady(service);
    using watch = new TreeWatch([service.pid]);
    const before = await watch.look();
    const job = await submitJob(service, `${host.address}/long.mp3`);
    await untilProgress(service, job);
    return spentBetween(before, await watch.look());
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}
