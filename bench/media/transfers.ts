import { execFile } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { callRest } from "../../test/spec/service.ts";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";

const run = promisify(execFile);
const mebibyte = 2 ** 20;
/** The minimum speed of transfers, as a share of the speed of cp. */
const speedRatioMin = 0.7;
/**
 * The maximum growth of the service's memory during a transfer of any size: the chunks in flight
 * and their garbage.
 */
const memoryMebibytesMax = 64;

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly holds: boolean;
  readonly limit: string;
  readonly note: string;
}

/**
 * A service on the disk of the temporary folder, a recording next to it, and programs that transfer
 * the recording.
 */
export interface Transfers extends AsyncDisposable {
  readonly service: ServiceProcess;
  /** Replaces the recording with one of this size. */
  makeSource(gibibytes: number): Promise<void>;
  /** Copies the recording with cp, and syncs the file and its folder as the service does. */
  copyIn(): Promise<Taken>;
  /** Uploads the recording with curl. The response arrives when the recording is durable. */
  upload(): Promise<Taken>;
  /** Copies the file in the service's store with cp, and syncs it. */
  copyOut(): Promise<Taken>;
  /** Downloads the recording with get-file.ts into a file, and syncs it. */
  download(): Promise<Taken>;
  forget(): Promise<void>;
}

export interface Taken {
  readonly wallMs: number;
  /** The CPU time of the service's process, without its engines and its database. */
  readonly cpuMs: number;
}

export async function openTransfers(): Promise<Transfers> {
  const folder = mkdtempSync(join(tmpdir(), "hlust-bench-media-"));
  const [data, source, copy] = ["data", "source", "copy"].map((name) => join(folder, name));
  if (data === undefined || source === undefined || copy === undefined) throw new Error("unnamed");
  const environment = { HLUST_ENGINE: "scripted", HLUST_LOG: "error", HLUST_ROLE: "api" };
  const service = await startService(data, environment);
  const call = async (method: string, path: string, body?: unknown) =>
    (await callRest(service.address, service.key, { method, path, body })).json;
  const draft = { metadata: { fileType: "AUDIO", languageCode: "is-IS" } };
  let name: string | undefined;
  const timed = async (work: () => Promise<unknown>): Promise<Taken> => {
    const began = { at: performance.now(), cpuMs: cpuMsOf(service.pid) };
    await work();
    const wallMs = performance.now() - began.at;
    return { wallMs, cpuMs: cpuMsOf(service.pid) - began.cpuMs };
  };
  const copyFile = async (from: string): Promise<Taken> => {
    const taken = await timed(async () => {
      await run("cp", [from, copy]);
      await run("sync", [copy, folder]);
    });
    await rm(copy);
    return taken;
  };
  const forget = async (): Promise<void> => {
    if (name !== undefined) await call("DELETE", `/v1alpha1/${name}`);
    name = undefined;
  };
  return {
    service,
    async makeSource(gibibytes) {
      await rm(source, { force: true });
      await using file = await open(source, "w");
      const block = Buffer.alloc(16 * mebibyte);
      for (let each = 0; each < gibibytes * 64; each += 1) await file.write(randomFillSync(block));
      await file.sync();
    },
    copyIn: async () => await copyFile(source),
    async upload() {
      await forget();
      name = (await call("POST", "/v1alpha1/transcripts", draft)).name;
      const { storageSignedUrl: url } = await call("POST", "/v1alpha1/initupload", {
        resourceName: name,
      });
      return await timed(async () => await run("curl", ["-sSf", "-T", source, url]));
    },
    async copyOut() {
      const finished = join(data, "media", "finished");
      const file = (await readdir(finished, { recursive: true })).find((each) =>
        each.includes("/"),
      );
      if (file === undefined) throw new Error("nothing was uploaded");
      return await copyFile(join(finished, file));
    },
    async download() {
      const { uri } = await call("GET", `/v1alpha1/${name}`);
      const taken = await timed(async () => {
        await run(process.execPath, [join(import.meta.dirname, "get-file.ts"), uri, copy]);
        await run("sync", [copy, folder]);
      });
      await run("cmp", [source, copy]);
      await rm(copy);
      return taken;
    },
    forget,
    async [Symbol.asyncDispose]() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Compares the medians of uploads and downloads with those of cp. The measurements alternate. */
export async function measureSpeed(transfers: Transfers, rounds: number): Promise<Figure[]> {
  const taken: Record<"copyIn" | "upload" | "copyOut" | "download", Taken[]> = {
    copyIn: [],
    upload: [],
    copyOut: [],
    download: [],
  };
  await transfers.upload();
  for (let round = 0; round < rounds; round += 1) {
    taken.copyIn.push(await transfers.copyIn());
    taken.upload.push(await transfers.upload());
    taken.copyOut.push(await transfers.copyOut());
    taken.download.push(await transfers.download());
  }
  const figure = (name: string, copied: Taken[], moved: Taken[]): Figure => {
    const [cp, own] = [copied, moved].map((all) => median(all.map(({ wallMs }) => wallMs)));
    const value = (cp ?? NaN) / (own ?? NaN);
    const cpuMs = Math.min(...moved.map((each) => each.cpuMs));
    const all = moved.map(({ wallMs }) => Math.round(wallMs)).join(", ");
    const cps = copied.map(({ wallMs }) => Math.round(wallMs)).join(", ");
    const note = `${own?.toFixed(0)} ms, cp ${cp?.toFixed(0)} ms (${all}; cp ${cps}); CPU of the service ${cpuMs.toFixed(0)} ms`;
    return { name, value, holds: value >= speedRatioMin, limit: `at least ${speedRatioMin}`, note };
  };
  return [
    figure("upload, speed of cp", taken.copyIn, taken.upload),
    figure("download, speed of cp", taken.copyOut, taken.download),
  ];
}

/** Measures how much the memory of the service's process grows during an upload and a download. */
export async function measureMemory(transfers: Transfers): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const way of ["upload", "download"] as const) {
    const before = residentMebibytes(transfers.service.pid);
    let peak = before;
    const sampling = setInterval(() => {
      peak = Math.max(peak, residentMebibytes(transfers.service.pid));
    }, 20);
    const { wallMs } = await transfers[way]().finally(() => {
      clearInterval(sampling);
    });
    const value = peak - before;
    const note = `MiB: from ${before.toFixed(0)} to ${peak.toFixed(0)} in ${(wallMs / 1000).toFixed(1)} s`;
    const [holds, limit] = [value <= memoryMebibytesMax, `at most ${memoryMebibytesMax}`];
    figures.push({ name: `memory, ${way} of 4 GiB`, value, holds, limit, note });
  }
  return figures;
}

/**
 * Returns the user and system time of all threads of a process. The clock of /proc ticks 100 times
 * per second.
 */
function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function residentMebibytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
