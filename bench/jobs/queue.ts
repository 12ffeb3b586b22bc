import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closedLoop } from "../../src/cli/bench/closed-loop.ts";
import { Distribution } from "../../src/cli/bench/distribution.ts";
import { HttpCaller } from "../../src/cli/bench/http-caller.ts";
import { jsonField, jsonText } from "../../src/cli/bench/json-field.ts";
import { serveFiles } from "../../src/cli/bench/media-server.ts";
import { ownPostgresOf, processTree } from "../../src/cli/bench/process-tree.ts";
import { syntheticRecording } from "../../src/cli/bench/recording.ts";
import { wavHeader } from "../../src/std/wav.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";
import type { Figure } from "../report.ts";

/**
 * The minimum number of jobs per second, end to end, with uploaded media and with media that is
 * fetched first. figure() derives the rate from CPU time, as on idle cores, because wall-clock time
 * also includes other work of the machine.
 */
const rates = { queue: 200, fetched: 100 } as const;
const jobs = 1_500;
const warmJobs = 700;
/** The number of concurrent submits, and the number of jobs that are polled concurrently. */
const [submitting, watching] = [16, 4];
const pollMs = 100;
const timeoutMs = 120_000;
/** One of every 25 transcripts is read at the end. */
const readEvery = 25;

/** The source of one job. */
interface Source {
  readonly useUri: boolean;
  readonly uri: string;
}

/**
 * Measures jobs of 3.7 s of plain WAV over REST, from the submit until a poll returns SUCCESS, in
 * one process with the scripted engine. The CPU time of all processes counts, including PostgreSQL
 * and this client, because it depends less on other load than wall-clock time does.
 */
export async function measureQueue(): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using service = await startService(data, {
      HLUST_ENGINE: "scripted",
      HLUST_LOG: "error",
    });
    const file = join(data, "recording.wav");
    const { samples, sampleRateHertz } = syntheticRecording(1);
    const header = wavHeader({ sampleRateHertz, dataBytes: samples.length });
    writeFileSync(file, Buffer.concat([header, samples]));
    await using caller = new HttpCaller({ url: service.address, token: service.key }, timeoutMs);
    await using served = await serveFiles([file], "127.0.0.1");
    const fetched = (): Source => ({ useUri: true, uri: served.urls[0] ?? "" });
    const bytes = readFileSync(file);
    const uploads: Source[] = [];
    await closedLoop({ count: warmJobs + jobs, inFlight: 8, rampMs: 0 }, async () => {
      uploads.push({ useUri: false, uri: await upload(caller, bytes) });
    });
    await run(service, caller, uploads.splice(0, warmJobs));
    return [
      figure("queue, uploaded media", rates.queue, await run(service, caller, uploads)),
      figure(
        "queue, fetched media",
        rates.fetched,
        await run(service, caller, Array.from({ length: jobs }, fetched)),
      ),
    ];
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function upload(caller: HttpCaller, bytes: Buffer): Promise<string> {
  const begun = await caller.call("POST", "/v1alpha1/initupload", "{}");
  const answer = await fetch(jsonText(begun, "storageSignedUrl"), { method: "PUT", body: bytes });
  if (!answer.ok) throw new Error(`HTTP ${answer.status} to an upload`);
  return jsonText(begun, "resourceName");
}

interface Measured {
  readonly jobs: number;
  readonly wallMs: number;
  /** The number of jobs per second, without the first and the last tenth of the jobs. */
  readonly steadyRate: number;
  readonly doneMsP50: number;
  readonly clientCpuMs: number;
  /** The CPU time of each server process, by its name. */
  readonly serverCpuMs: ReadonlyMap<string, number>;
}

/**
 * Submits a job for every source and waits for all jobs. Throws if a job has no readable
 * transcript.
 */
async function run(
  service: ServiceProcess,
  caller: HttpCaller,
  sources: readonly Source[],
): Promise<Measured> {
  const postgres = await ownPostgresOf(service.pid);
  if (postgres === undefined) throw new Error("the service has no PostgreSQL of its own");
  const submitted = sources.map(() => Promise.withResolvers<string>());
  const submittedAt: number[] = [];
  const doneAt: number[] = [];
  const done = new Distribution();
  const pids = [service.pid, postgres];
  const [serverBefore, clientBefore] = [await serverCpu(pids), cpuMs()];
  const submitAll = { count: sources.length, inFlight: submitting, rampMs: 0 };
  const seeAll = { count: sources.length, inFlight: watching, rampMs: 0 };
  const [, wallMs] = await Promise.all([
    closedLoop(submitAll, async (index) => {
      submittedAt[index] = performance.now();
      submitted[index]?.resolve(await submit(caller, index, sources[index]));
    }),
    // Jobs end roughly in the order of their submission, so only the oldest running job is polled
    // repeatedly.
    closedLoop(seeAll, async (index) => {
      const name = (await submitted[index]?.promise) ?? "";
      const endsAt = performance.now() + timeoutMs;
      while (!(await isDone(caller, name))) {
        if (performance.now() > endsAt) throw new Error(`${name} took too long`);
        await sleep(pollMs);
      }
      doneAt.push(performance.now());
      done.add(performance.now() - (submittedAt[index] ?? NaN));
    }),
  ]);
  const clientCpuMs = cpuMs() - clientBefore;
  const serverCpuMs = new Map(
    [...(await serverCpu(pids))].map(([name, ms]) => [name, ms - (serverBefore.get(name) ?? 0)]),
  );
  await readSome(caller, await Promise.all(submitted.map(({ promise }) => promise)));
  const [from, to] = [0.1, 0.9].map((share) => Math.floor(share * doneAt.length));
  const steadyMs = (doneAt[to ?? 0] ?? NaN) - (doneAt[from ?? 0] ?? NaN);
  return {
    wallMs,
    clientCpuMs,
    serverCpuMs,
    jobs: sources.length,
    steadyRate: (((to ?? 0) - (from ?? 0)) * 1000) / steadyMs,
    doneMsP50: done.summary()?.p50 ?? NaN,
  };
}

/** Returns the CPU time so far of these processes and their descendants. */
async function serverCpu(pids: readonly number[]): Promise<Map<string, number>> {
  const cpu = new Map<string, number>();
  for (const pid of pids) {
    for (const { name, cpuMs } of await processTree(pid))
      cpu.set(name, (cpu.get(name) ?? 0) + cpuMs);
  }
  return cpu;
}

async function submit(caller: HttpCaller, index: number, source?: Source): Promise<string> {
  const metadata = { languageCode: "en-US", fileType: "AUDIO", subject: `job ${index}` };
  const body = JSON.stringify({ metadata, ...source });
  return jsonText(await caller.call("POST", "/v1alpha1/transcriptjob:submit", body), "name");
}

async function isDone(caller: HttpCaller, name: string): Promise<boolean> {
  const job = await caller.call("GET", `/v1alpha1/${name}`);
  const state = jsonText(job, "state");
  if (state === "PROCESSING") return false;
  if (state !== "SUCCESS") throw new Error(`${name}: ${JSON.stringify(job)}`);
  return true;
}

async function readSome(caller: HttpCaller, names: readonly string[]): Promise<void> {
  for (const name of names.filter((_, index) => index % readEvery === 0)) {
    const job = await caller.call("GET", `/v1alpha1/${name}`);
    const transcript = await caller.call("GET", `/v1alpha1/${jsonText(job, "transcript")}`);
    const segments = jsonField(transcript, "segments");
    if (!Array.isArray(segments) || segments.length === 0) throw new Error(`${name} has no words`);
  }
}

/**
 * Returns the rate that idle cores would reach. All processes share the cores, and the service's
 * main thread uses at most one core.
 */
function figure(name: string, rateMin: number, measured: Measured): Figure {
  const { serverCpuMs, clientCpuMs, wallMs, steadyRate, doneMsP50 } = measured;
  const each = (ms: number): number => ms / measured.jobs;
  const cores = availableParallelism();
  const totalMs = each(serverCpuMs.values().reduce((sum, ms) => sum + ms, clientCpuMs));
  const mainMs = each(serverCpuMs.get("hlust.ts") ?? NaN);
  const rate = 1000 / Math.max(totalMs / cores, mainMs);
  const parts = [...serverCpuMs].map(([part, ms]) => `${part} ${each(ms).toFixed(2)}`).join(", ");
  return {
    name,
    ratio: rateMin / rate,
    ratioMax: 1,
    note:
      `${rate.toFixed(0)} jobs/s on ${cores} idle cores: CPU ms per job ${totalMs.toFixed(2)} ` +
      `(${parts}, client ${each(clientCpuMs).toFixed(2)}); here, with whatever other load: ` +
      `${((1000 * measured.jobs) / wallMs).toFixed(0)} jobs/s, steady ${steadyRate.toFixed(0)}, ` +
      `submit to seen done p50 ${doneMsP50.toFixed(0)} ms`,
  };
}
