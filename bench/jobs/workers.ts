import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type ServiceProcess, startService } from "../../test/fault/process.ts";
import { openMediaHost } from "../../test/spec/media-host.ts";
import type { Figure } from "../report.ts";
import { atLeast } from "./figure.ts";
import { submitJob, untilProgress } from "./job-calls.ts";
import { makeRecording } from "./recording.ts";
import { type Spent, spentBetween, TreeWatch } from "./service-tree.ts";

const linearMin = 0.85;
const counts = [1, 2, 4];
/**
 * The speed of a number of workers by the clock, and the speed that they would have on an otherwise
 * idle machine.
 */
interface Speed {
  readonly byClock: number;
  readonly byCpuTime: number;
  readonly note: string;
}

/**
 * Measures how much faster 2 and 4 workers, each with one engine process, finish many jobs than one
 * worker does, relative to the number of workers or cores. The workers share a database and a
 * folder with one API node. The figures are medians of rounds, because the memory speed of a shared
 * machine changes from minute to minute.
 */
export async function measureWorkers(
  folder: string,
  options: { readonly seconds: number; readonly engine: string; readonly rounds: number },
): Promise<Figure[]> {
  const { seconds, engine, rounds } = options;
  using recording = makeRecording(folder, seconds);
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using host = await openMediaHost({ "/long.mp3": readFileSync(recording.file) });
    const environment = { HLUST_ENGINE: engine, HLUST_LOG: "error" };
    await using api = await startService(data, { ...environment, HLUST_ROLE: "api" });
    const start = async (): Promise<ServiceProcess> =>
      await startService(data, { ...environment, HLUST_ROLE: "worker" });
    const measured: Speed[][] = [];
    for (let round = 0; round < rounds; round += 1) {
      const speeds: Speed[] = [];
      await using workers = new AsyncDisposableStack();
      const pids: number[] = [];
      for (const count of counts) {
        while (pids.length < count) pids.push(workers.use(await start()).pid);
        const jobs = Array.from({ length: jobsAWorker * count }, () => `${host.address}/long.mp3`);
        using watch = new TreeWatch(pids);
        const before = await watch.look();
        const names = await Promise.all(jobs.map((uri) => submitJob(api, uri)));
        await Promise.all(names.map((name) => untilProgress(api, name)));
        const spent = spentBetween(before, await watch.look());
        speeds.push(speedOf(spent, { audioSeconds: seconds * jobs.length, count }));
      }
      measured.push(speeds);
    }
    return figuresOf(measured);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * The number of jobs per worker. It is large enough that the end, when some workers have no jobs
 * left, has little effect.
 */
const jobsAWorker = 4;

/** Returns the speed in seconds of audio per second. */
function speedOf(
  { wallMs, cpuMs, engineCpuMs, idleShare }: Spent,
  { audioSeconds, count }: { readonly audioSeconds: number; readonly count: number },
): Speed {
  const cores = availableParallelism();
  // A single worker is as fast as its engine. When all cores are busy, the work of all processes
  // counts.
  const quietMs = Math.max(engineCpuMs / count, cpuMs / cores) / (1 - idleShare);
  const ms = (value: number) => (value / audioSeconds).toFixed(1);
  return {
    byClock: (1000 * audioSeconds) / wallMs,
    byCpuTime: (1000 * audioSeconds) / quietMs,
    note: `${ms(cpuMs)} ms of CPU per second, ${ms(engineCpuMs)} of it engines, idle ${(100 * idleShare).toFixed(1)} %`,
  };
}

function figuresOf(rounds: readonly (readonly Speed[])[]): Figure[] {
  return counts.slice(1).flatMap((count, index) => {
    const cores = Math.min(count, availableParallelism());
    const name = `linear, ${count} workers to 1`;
    const pairs = rounds.flatMap(([one, ...more]) => {
      const many = more[index];
      return one && many ? [{ one, many }] : [];
    });
    const figure = (how: string, of: (speed: Speed) => number): Figure => {
      const sorted = pairs
        .map(({ one, many }) => ({ times: of(many) / of(one), one, many }))
        .toSorted((a, b) => a.times - b.times);
      const { times = NaN, one, many } = sorted[sorted.length >> 1] ?? {};
      const all = sorted.map((each) => each.times.toFixed(2)).join(" ");
      const note = `times as fast: ${all}; ${many?.note}; one: ${one?.note}`;
      return atLeast(`${name}, ${how}`, times / cores, linearMin, note);
    };
    return [
      figure("by CPU time", ({ byCpuTime }) => byCpuTime),
      figure("by the clock", ({ byClock }) => byClock),
    ];
  });
}
