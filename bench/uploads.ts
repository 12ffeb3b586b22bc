// Uploads a large file with tus-js-client over a line that breaks again and again, and measures the
// time, the memory of the service and the bytes that were sent twice.
//
// Usage: npm run bench:uploads [GiB] [MiB between breaks]
import { createHash } from "node:crypto";
import { createReadStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval as every } from "node:timers/promises";
import { Upload } from "tus-js-client";
import { startService } from "../test/fault/process.ts";
import { openCuttingProxy } from "../test/fixtures/cutting-proxy.ts";
import { report, reportMachine } from "./report.ts";

const gibibytes = Number(process.argv[2] ?? 1);
const breakEveryBytes = Number(process.argv[3] ?? 64) * 2 ** 20;
const sizeBytes = gibibytes * 2 ** 30;

reportMachine();
const folder = mkdtempSync(join(tmpdir(), "hlust-uploads-"));
try {
  await measure();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const source = join(folder, "talk.wav");
  const sent = await makeSource(source);
  using line = await openCuttingProxy(breakEveryBytes);
  await using service = await startService(join(folder, "data"), {
    HLUST_ENGINE: "scripted",
    HLUST_PUBLIC_URL: line.address,
  });
  line.target = service.address;
  const stop = new AbortController();
  const peak = peakOf(service.pid, stop.signal);
  const began = performance.now();
  const url = await upload(source, `${line.address}/v1alpha1/uploads`, service.key);
  const seconds = (performance.now() - began) / 1000;
  stop.abort();
  const { before, most } = await peak;
  const stored = await digestOf(storedFile(join(folder, "data"), url.split("/").at(-1) ?? ""));
  if (stored !== sent) throw new Error("the stored media differs from the file");
  const speed = sizeBytes / 2 ** 20 / seconds;
  const note = `${gibibytes} GiB in ${seconds.toFixed(0)} s, ${speed.toFixed(0)} MiB/s, ${line.cuts} breaks`;
  report([
    { name: "memory above idle", ratio: most - before, ratioMax: 150, unit: "MiB", note },
    {
      name: "bytes sent / bytes of the file",
      ratio: line.sentBytes / sizeBytes,
      ratioMax: 1.5,
      note: `a break every ${breakEveryBytes / 2 ** 20} MiB`,
    },
  ]);
}

/** Makes a file that has a different number in each MiB; the rest is empty. */
async function makeSource(path: string): Promise<string> {
  await using file = await open(path, "w");
  await file.truncate(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 2 ** 20) {
    await file.write(Buffer.from(`part ${at}`), 0, undefined, at);
  }
  return await digestOf(path);
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) hash.update(chunk);
  return hash.digest("hex");
}

function storedFile(dataFolder: string, id: string): string {
  return join(dataFolder, "media", "finished", id.slice(-2), id);
}

function upload(path: string, endpoint: string, key: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const uploading = new Upload(createReadStream(path), {
    endpoint,
    uploadSize: sizeBytes,
    headers: { authorization: `Bearer ${key}` },
    retryDelays: [100, 200, 400, 800, 1600],
    onSuccess: () => resolve(uploading.url ?? ""),
    onError: reject,
  });
  uploading.start();
  return promise;
}

/** Returns the memory of the service's own process in MiB: at the start, and the maximum. */
async function peakOf(pid: number, signal: AbortSignal): Promise<{ before: number; most: number }> {
  const before = memoryOf(pid);
  let most = before;
  try {
    for await (const _ of every(200, undefined, { signal })) most = Math.max(most, memoryOf(pid));
  } catch {
    // The upload has ended.
  }
  return { before, most };
}

function memoryOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}
