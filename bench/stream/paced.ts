// Measures streams in real time with the service and with the bare server: the CPU time per chunk,
// and the latency of responses.
import { load, type Report } from "./load.ts";
import type { Figure } from "../report.ts";
import type { MeasuredServer } from "./servers.ts";

/** The load that lets both servers compile their hot functions before anything is measured. */
const warmUp = { streams: 20, rate: 0, duration: 400 };

export async function warm(servers: readonly MeasuredServer[]): Promise<void> {
  for (const server of servers) await load(server, warmUp);
}

/**
 * Measures the CPU time per chunk of the whole process tree with 200 paced streams: at most 1.5
 * times that of the bare server. The minimum of interleaved runs counts.
 */
export async function measureCpu(
  service: MeasuredServer,
  bare: MeasuredServer,
  { rounds = 4, seconds = 20 } = {},
): Promise<Figure[]> {
  const [own, other] = await interleaved([service, bare], rounds, {
    streams: 200,
    duration: seconds,
  });
  const [best = NaN, bestBare = NaN] = [own, other].map((reports) =>
    Math.min(...reports.map(cpuOfChunk)),
  );
  const note = `${us(best)} per chunk, ${us(bestBare)} bare; parts of the last: ${partsOf(own.at(-1))}`;
  return [
    { name: "CPU per chunk, 200 streams", ratio: best / bestBare, ratioMax: 1.5, note },
    lossFigure("200 streams", own),
  ];
}

/**
 * Measures the latency of responses with 1000 paced streams: a p99 of at most 1.5 times that of the
 * bare server, without losses. The median of the rounds counts.
 */
export async function measureLag(
  service: MeasuredServer,
  bare: MeasuredServer,
  { rounds = 3, seconds = 20 } = {},
): Promise<Figure[]> {
  const options = { streams: 1000, duration: seconds };
  const [own, other] = await interleaved([service, bare], rounds, options);
  const [p99 = NaN, p99Bare = NaN] = [own, other].map((reports) => median(reports.map(p99Of)));
  const late = [own, other].map((reports) => Math.max(...reports.map(lateOf)).toFixed(1));
  const note = `${p99.toFixed(1)} ms, ${p99Bare.toFixed(1)} bare; p50 ${p50Of(own.at(-1))}, ${p50Of(other.at(-1))} bare; the tool sent late by ${late.join(" and ")} ms at p99`;
  return [
    { name: "p99 of the answer, 1000 streams", ratio: p99 / p99Bare, ratioMax: 1.5, note },
    lossFigure("1000 streams", own),
  ];
}

/**
 * Returns the number of failed streams, and of lost or different finals, in all rounds. It must be
 * 0.
 */
function lossFigure(name: string, reports: readonly Report[]): Figure {
  const sum = (count: (report: Report) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  const failed = sum(({ streams }) => streams.failed);
  const lost = sum((report) => report.lost + report.differingStreams);
  const failures = reports.flatMap(({ failures }) => failures.map(({ kind }) => kind));
  const note = `${sum(({ finals }) => finals)} finals; ${failed} streams failed ${failures.join(", ")}`;
  return { name: `losses, ${name}`, ratio: failed + lost, ratioMax: 0, note };
}

/**
 * Runs the load on the servers alternately (A B A B ...), so that other work of the machine affects
 * both.
 */
async function interleaved(
  servers: readonly [MeasuredServer, MeasuredServer],
  rounds: number,
  options: Readonly<Record<string, number>>,
): Promise<[Report[], Report[]]> {
  const reports: [Report[], Report[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      reports[index]?.push(await load(server, options));
    }
  }
  return reports;
}

function cpuOfChunk({ server, chunks }: Report): number {
  return ((server?.cpuMs ?? NaN) * 1000) / chunks;
}

function p99Of({ interimLagMs }: Report): number {
  return interimLagMs?.p99 ?? NaN;
}

function p50Of(report: Report | undefined): string {
  return (report?.interimLagMs?.p50 ?? NaN).toFixed(1);
}

function lateOf({ tool }: Report): number {
  return tool.sendsLateMs?.p99 ?? NaN;
}

function partsOf(report: Report | undefined): string {
  const chunks = report?.chunks ?? NaN;
  const parts = report?.server?.parts ?? [];
  return parts.map(({ name, cpuMs }) => `${name} ${us((cpuMs * 1000) / chunks)}`).join(", ");
}

function us(microseconds: number | undefined): string {
  return `${(microseconds ?? NaN).toFixed(1)} us`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
