// Measures what tracing costs: the CPU time of the service for a call, without tracing, with all
// traces sent, and with one in a hundred. All run in this process, in turns, on databases of one
// server; the caller and the OTLP endpoint are other processes. Without tracing, the service is
// also compared with an earlier version that has none, if the history of git has one.
//
// Usage: npm run bench:tracing [calls of a round]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import type { openApp as openAppOf } from "../src/app.ts";
import type { readConfig as readConfigOf } from "../src/config.ts";
import { createLog } from "../src/std/log.ts";
import { openTracing } from "../src/tracing/open-tracing.ts";
import { readTracing } from "../src/settings/tracing-settings.ts";
import { openFaultPostgres } from "../test/fault/open-fault-postgres.ts";
import { cpuMs } from "../test/fixtures/cpu-time.ts";
import { unpackVersionBefore } from "../test/fixtures/version-before.ts";
import { report, reportMachine } from "./report.ts";
import { openCaller, requestText } from "./transcoding/calls.ts";

const rounds = 9;
const callsARound = Number(process.argv[2] ?? 300);
const log = createLog("silent");
const root = join(import.meta.dirname, "..");

await using parts = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), "hlust-bench-tracing-"));
parts.defer(() => rmSync(folder, { recursive: true, force: true }));
const postgres = parts.use(await openFaultPostgres(join(folder, "pg"), {}));
const endpoint = await openEndpoint();
const before = await unpackVersionBefore(join(folder, "before"));

const always = { OTEL_TRACES_SAMPLER: "always_on" };
const seldom = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" };
const services = [
  ...(before.missing === undefined ? [await open("before", join(folder, "before"))] : []),
  await open("off", root),
  await open("all", root, always),
  await open("seldom", root, seldom),
];
for (let round = 0; round <= rounds; round += 1) {
  for (const service of services) {
    const us = await service.measure();
    // The first round loads and compiles.
    if (round > 0) service.costs.push(us);
  }
}

reportMachine();
const costOf = (name: string): number => {
  const costs = services.find((service) => service.name === name)?.costs ?? [];
  return costs.toSorted((a, b) => a - b)[costs.length >> 1] ?? NaN;
};
const off = costOf("off");
const note = (name: string) => `${costOf(name).toFixed(0)} us a call, ${off.toFixed(0)} us without`;
report([
  { name: "all traces sent", ratio: costOf("all") / off, ratioMax: 2, note: note("all") },
  {
    name: "1 of 100 traces sent",
    ratio: costOf("seldom") / off,
    ratioMax: 1.15,
    note: note("seldom"),
  },
  ...(before.missing === undefined
    ? [
        {
          name: "no traces, to a version without",
          ratio: off / costOf("before"),
          ratioMax: 1.05,
          note: `${off.toFixed(0)} us a call, ${costOf("before").toFixed(0)} us before`,
        },
      ]
    : []),
]);

/** Opens a service from a source tree; `sampling` has the settings of its traces, if any. */
async function open(name: string, tree: string, sampling?: Readonly<Record<string, string>>) {
  const load = async (file: string) => await import(pathToFileURL(join(tree, "src", file)).href);
  const { openApp }: { openApp: typeof openAppOf } = await load("app.ts");
  const { readConfig }: { readConfig: typeof readConfigOf } = await load("config.ts");
  const dataFolder = join(folder, `data-${name}`);
  await postgres.query(`create database tracing_${name}`);
  const config = readConfig({
    DATABASE_URL: postgres.url.replace("/postgres?", `/tracing_${name}?`),
    HLUST_DATA: dataFolder,
    HLUST_PORT: "0",
    HLUST_ENGINE: "scripted",
    HLUST_ENGINE_PROCESSES: "1",
  });
  const openTraces = async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...sampling };
    const read = <T>({ name: key, parse }: { name: string; parse: Parse<T> }) =>
      parse(Object.entries(settings).find(([known]) => known === key)?.[1], key);
    const options = sampling && readTracing(read);
    return options && (await openTracing(options, log));
  };
  // The service prepares its parts for traces when it is opened.
  const first = await openTraces();
  const app = parts.use(await openApp(config, { log }));
  await first?.[Symbol.asyncDispose]();
  const caller = parts.use(openCaller(new URL(app.address).port));
  const token = readFileSync(join(dataFolder, "api-key"), "utf8").trim();
  const request = requestText("GET", "/v1alpha1/transcripts?pageSize=1", { token });
  return {
    name,
    costs: [] as number[],
    /** Makes the calls of a round; returns the CPU time of a call in us. */
    async measure(): Promise<number> {
      const traces = await openTraces();
      const began = cpuMs();
      await caller.call(request, callsARound);
      await traces?.flush();
      const us = ((cpuMs() - began) * 1_000) / callsARound;
      await traces?.[Symbol.asyncDispose]();
      return us;
    },
  };
}

type Parse<T> = (text: string | undefined, name: string) => T;

/** Starts an OTLP endpoint as a process of its own; returns its address. */
async function openEndpoint(): Promise<string> {
  const program = `
    const server = require("node:http").createServer((request, response) => {
      request.resume().on("end", () => response.end("{}"));
    }).listen(0, "127.0.0.1", () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "pipe", "inherit"] });
  parts.defer(() => void child.kill());
  const [port] = await once(child.stdout.setEncoding("utf8"), "data");
  return `http://127.0.0.1:${String(port).trim()}`;
}
