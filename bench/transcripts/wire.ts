// Measures long transcripts over HTTP, with the real process.
//
// Usage: npm run bench:transcripts -- --only wire, or node bench/transcripts/wire.ts [--only
// get|write|modify|live]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { Distribution, type Summary } from "../../src/cli/bench/distribution.ts";
import { processTree } from "../../src/cli/bench/process-tree.ts";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";
import { longSegments } from "../../test/fixtures/long-transcript.ts";
import { load } from "../stream/load.ts";
import { type Figure, report } from "../report.ts";

const metadata = { fileType: "AUDIO", languageCode: "is-IS", subject: "mæling" };
const agent = new Agent({ keepAlive: true });

/** Runs the named measurement, or all of them, on a service with the scripted engine. */
export async function runWire(only?: string): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using service = await startService(data, {
      HLUST_ENGINE: "scripted",
      HLUST_LOG: "error",
    });
    const figures: Figure[] = [];
    const wants = (name: string): boolean => only === undefined || only === name;
    if (wants("get")) figures.push(...(await measureGet(service, data)));
    if (wants("write")) figures.push(...(await measureWrite(service)));
    if (wants("modify")) figures.push(...(await measureModify(service)));
    if (wants("live")) figures.push(...(await measureLive(service)));
    return figures;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * Measures the CPU time of the service's process per GET of 30,000 words as a ratio to that of the
 * bare server. The minimum of alternating rounds counts.
 */
async function measureGet(service: ServiceProcess, data: string): Promise<Figure[]> {
  const name = await makeTranscript(service, 30_000);
  const [socket = ""] = globSync("**/.s.PGSQL.5432", { cwd: data });
  const bare = spawn(
    process.execPath,
    [
      join(import.meta.dirname, "bare-get.ts"),
      dirname(join(data, socket)),
      name.split("/")[1] ?? "",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const [port] = await once(createInterface({ input: bare.stdout }), "line");
    const get = (encoding: string) => async () =>
      void (await call(service, "GET", `/v1alpha1/${name}`, {
        headers: { "accept-encoding": encoding },
      }));
    const getBare = async () =>
      void (await call({ address: `http://127.0.0.1:${port}`, key: "none" }, "GET", "/"));
    const [identity, zstd, least] = await leastCpuMs([
      [service.pid, get("identity")],
      [service.pid, get("zstd")],
      [bare.pid ?? 0, getBare],
    ]);
    const note = (ms = NaN): string => `${ms.toFixed(2)} ms of CPU, ${least?.toFixed(2)} bare`;
    return [
      figure("GET 30,000 words, identity", identity, least, 1.5, note(identity)),
      figure("GET 30,000 words, zstd", zstd, least, 1.5, note(zstd)),
    ];
  } finally {
    const exited = once(bare, "exit");
    bare.kill();
    await exited;
  }
}

/**
 * Measures the latency of single calls for eight hours of words, one after another. The latency has
 * no limit.
 */
async function measureWrite(service: ServiceProcess): Promise<Figure[]> {
  const body = bodyOf(72_000);
  const create = await timesOf(20, () => call(service, "POST", "/v1alpha1/transcripts", { body }));
  const name = await makeTranscript(service, 72_000);
  const path = `/v1alpha1/${name}`;
  const segments = await timesOf(20, (round) =>
    call(service, "PATCH", path, { body: segmentsBody(72_000 - round) }),
  );
  const renamed = await timesOf(20, (round) =>
    call(service, "PATCH", path, { body: Buffer.from(`{"metadata":{"subject":"${round}"}}`) }),
  );
  return [
    figureOf("create 72,000 words", create),
    figureOf("PATCH of the segments", segments),
    figureOf("PATCH of the metadata", renamed),
  ];
}

/**
 * Measures the CPU time of the service's process for a changed word in eight hours: ModifySegments
 * of one segment, as a ratio to a PATCH of all segments. The minimum of alternating rounds counts.
 */
async function measureModify(service: ServiceProcess): Promise<Figure[]> {
  const patched = `/v1alpha1/${await makeTranscript(service, 72_000)}`;
  const modified = `/v1alpha1/${await makeTranscript(service, 72_000)}`;
  const bodies = [72_000, 71_999].map(segmentsBody);
  let version = "";
  let count = 0;
  const patch = async (): Promise<void> => {
    count += 1;
    const body = bodies[count % 2];
    const status = await call(service, "PATCH", patched, { ...(body && { body }) });
    if (status !== 200) throw new Error(`PATCH: ${status}`);
  };
  const modify = async (): Promise<void> => {
    count += 1;
    const [middle] = longSegments(20);
    const moved = { ...middle, startTime: "18000s", endTime: "18010s", speakerId: `${count}` };
    const segments = [{ ...moved, words: [{ ...times, word: "breytt " }] }];
    const response = await fetch(`${service.address}${modified}:modifySegments`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}`, "if-match": version },
      body: JSON.stringify({ changes: [{ startIndex: 1_800, endIndex: 1_801, segments }] }),
    });
    if (!response.ok) throw new Error(`modifySegments: ${await response.text()}`);
    version = versionIn(await response.json());
  };
  const headers = { authorization: `Bearer ${service.key}` };
  const list = await fetch(`${service.address}/v1alpha1/transcripts?pageSize=1`, { headers });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service's own answer
  const { transcripts } = (await list.json()) as { transcripts: unknown[] };
  version = versionIn(transcripts[0]);
  const calls = { rounds: 6, calls: 10 };
  const [whole, one] = await leastCpuMs(
    [
      [service.pid, patch],
      [service.pid, modify],
    ],
    calls,
  );
  const latency = await timesOf(20, async () => {
    await modify();
    return 200;
  });
  const note = `${one?.toFixed(1)} ms of CPU, PATCH ${whole?.toFixed(1)} ms; ${shown(latency)}`;
  return [figure("a word of 72,000 changed", one, whole, 0.5, note)];
}

const times = { startTime: "18000s", endTime: "18001s" };

function versionIn(transcript: unknown): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service's own answer
  return (transcript as { version: { name: string } }).version.name;
}

const liveSeconds = 30;
const patchesASecond = 10;

/**
 * Measures the latency of live streams while clients try ten times per second to replace the
 * segments of an eight-hour transcript. A final result may take 500 ms longer than an interim
 * result, because it waits for the silence that ends the utterance.
 */
async function measureLive(service: ServiceProcess): Promise<Figure[]> {
  const target = { url: service.address, token: service.key };
  const options = { streams: 10, duration: liveSeconds };
  await load(target, { streams: 10, duration: 5 });
  const alone = await load(target, options);
  const path = `/v1alpha1/${await makeTranscript(service, 72_000)}`;
  const bodies = [segmentsBody(72_000), segmentsBody(71_999)];
  const answers = new Map<number, number>();
  const times = new Distribution();
  const calls: Promise<void>[] = [];
  let sent = 0;
  const patch = async (): Promise<void> => {
    const began = performance.now();
    const body = bodies[sent % 2];
    sent += 1;
    const status = await call(service, "PATCH", path, { ...(body && { body }) });
    if (status === 200) times.add(performance.now() - began);
    answers.set(status, (answers.get(status) ?? 0) + 1);
  };
  const timer = setInterval(() => calls.push(patch()), 1000 / patchesASecond);
  const under = await load(target, options);
  clearInterval(timer);
  await Promise.all(calls);
  const p99 = under.interimLagMs?.p99 ?? NaN;
  const went = [...answers].map(([status, count]) => `${count} x ${status}`).join(", ");
  const note = `alone ${alone.interimLagMs?.p99.toFixed(0)} ms; ${sent} PATCHes in ${liveSeconds} s: ${went}; ${shown(times.summary())}`;
  return [
    { name: "p99 of live answers, ms", ratio: p99, ratioMax: 250, note },
    {
      name: "p99 of finals, ms",
      ratio: under.finalLagMs?.p99 ?? NaN,
      ratioMax: 250 + 500,
      note: "",
    },
    { name: "streams that failed", ratio: under.streams.failed, ratioMax: 0, note: "" },
  ];
}

async function makeTranscript(service: ServiceProcess, words: number): Promise<string> {
  const response = await fetch(`${service.address}/v1alpha1/transcripts`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.key}` },
    body: bodyOf(words),
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service's own answer
  return ((await response.json()) as { name: string }).name;
}

function bodyOf(words: number): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ metadata, segments: longSegments(words) }));
}

function segmentsBody(words: number): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify({ segments: longSegments(words) }));
}

/** Sends a request, reads and discards the response, and returns its status. */
async function call(
  { address, key }: Pick<ServiceProcess, "address" | "key">,
  method: string,
  path: string,
  { body, headers = {} }: { body?: Buffer; headers?: Record<string, string> } = {},
): Promise<number> {
  const sent = request(`${address}${path}`, {
    method,
    agent,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  sent.end(body);
  const [response] = await once(sent, "response");
  for await (const _ of response);
  return response.statusCode;
}

async function leastCpuMs(
  runs: readonly (readonly [pid: number, run: () => Promise<void>])[],
  { rounds = 8, calls = 30 } = {},
): Promise<number[]> {
  const least = runs.map(() => Infinity);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, [pid, run]] of runs.entries()) {
      const before = await cpuOf(pid);
      for (let count = 0; count < calls; count += 1) await run();
      const ms = ((await cpuOf(pid)) - before) / calls;
      // The first round only compiles the code.
      if (round >= 0) least[index] = Math.min(least[index] ?? Infinity, ms);
    }
  }
  return least;
}

async function cpuOf(pid: number): Promise<number> {
  const tree = await processTree(pid);
  return tree.find((each) => each.pid === pid)?.cpuMs ?? NaN;
}

async function timesOf(
  count: number,
  run: (round: number) => Promise<number>,
): Promise<Summary | undefined> {
  const times = new Distribution();
  for (let round = -2; round < count; round += 1) {
    const began = performance.now();
    const status = await run(round + 2);
    if (status !== 200) throw new Error(`status ${status}`);
    if (round >= 0) times.add(performance.now() - began);
  }
  return times.summary();
}

function figure(name: string, own = NaN, other = NaN, ratioMax: number, note: string): Figure {
  return { name, ratio: own / other, ratioMax, note };
}

function figureOf(name: string, times: Summary | undefined): Figure {
  return { name, ratio: times?.p50 ?? NaN, ratioMax: Infinity, note: shown(times) };
}

function shown(times: Summary | undefined): string {
  return `p50 ${times?.p50.toFixed(0)} ms, p99 ${times?.p99.toFixed(0)} ms`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { only: { type: "string" } } });
  const figures = await runWire(values.only);
  console.log(
    `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`,
  );
  report(figures);
}
