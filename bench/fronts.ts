// Paced live streams over one process that serves the port, and over front processes: CPU time of a
// chunk, by process, and the lag of results. The three services take turns.
import { load, type Report } from "./stream/load.ts";
import { openService } from "./stream/servers.ts";
import { report, reportMachine } from "./report.ts";

const streams = Number(process.env["STREAMS"] ?? 1_000);
const seconds = Number(process.env["SECONDS"] ?? 15);
const rounds = Number(process.env["ROUNDS"] ?? 3);
const counts = [1, 2, 4] as const;
/** Each chunk passes through the main process as well, on its way to the engines. */
const ratioMax = 2;

await using opened = new AsyncDisposableStack();
const services = [];
for (const count of counts) {
  const service = opened.use(await openService({ HLUST_FRONT_PROCESSES: `${count}` }));
  services.push({ count, service, reports: new Array<Report>() });
}
// In the first round, functions are compiled.
for (let round = 0; round <= rounds; round += 1) {
  for (const { count, service, reports } of services) {
    const result = await load(service, { streams, duration: seconds });
    if (round > 0) reports.push(result);
    const cpu = `${cpuOfChunk(result).toFixed(1)} us a chunk; ${partsOf(result)}`;
    console.log(`round ${round}, ${count} front processes: ${cpu}`);
  }
}
reportMachine();
const [alone = NaN] = services.map(({ reports }) => median(reports.map(cpuOfChunk)));
report(
  services.map(({ count, reports }) => {
    const last = reports.at(-1);
    const lag = last?.interimLagMs;
    const cpu = median(reports.map(cpuOfChunk));
    const failed = reports.reduce((sum, each) => sum + each.streams.failed + each.lost, 0);
    return {
      name: `CPU of a chunk, ${count} front processes / 1`,
      ratio: cpu / alone,
      ratioMax,
      note: `${cpu.toFixed(1)} us; lag p50 ${lag?.p50.toFixed(1)} ms, p99 ${lag?.p99.toFixed(1)} ms; ${failed} failed or lost; ${partsOf(last)}`,
    };
  }),
);

function cpuOfChunk({ server, chunks }: Report): number {
  return ((server?.cpuMs ?? NaN) * 1000) / chunks;
}

function partsOf(last: Report | undefined): string {
  const parts = last?.server?.parts ?? [];
  return parts
    .map(({ name, cpuMs }) => `${name} ${((cpuMs * 1000) / (last?.chunks ?? NaN)).toFixed(1)} us`)
    .join(", ");
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
