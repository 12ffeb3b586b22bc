import { load, type Report } from "../stream/load.ts";
import type { Figure, Transfers } from "./transfers.ts";

/**
 * The maximum delay that a fast transfer may cause for live streams, at the p99 of their interim
 * results.
 */
const delayMsMax = 50;
const paced = { streams: 4, duration: 10 };

/**
 * Measures the lag of live streams without transfers, then during uploads, then during downloads.
 * Each transfer begins when the previous transfer has ended.
 */
export async function measureStreams(transfers: Transfers): Promise<Figure[]> {
  const { service } = transfers;
  const target = { url: service.address, token: service.key };
  const alone = await load(target, paced);
  const figures: Figure[] = [];
  for (const way of ["upload", "download"] as const) {
    const over = new AbortController();
    const moving = moveUntil(over.signal, transfers[way]);
    const report = await load(target, paced);
    over.abort();
    const moved = await moving;
    const [before, during] = [alone, report].map(p99Of);
    const value = (during ?? NaN) - (before ?? NaN);
    const note = `ms at p99: ${during?.toFixed(1)}, ${before?.toFixed(1)} alone; ${moved} files moved; ${lost(report)} lost`;
    const holds = value <= delayMsMax && lost(report) === 0;
    const limit = `at most ${delayMsMax}`;
    figures.push({ name: `delay of live streams, ${way}`, value, holds, limit, note });
  }
  return figures;
}

async function moveUntil(over: AbortSignal, move: () => Promise<unknown>): Promise<number> {
  let moved = 0;
  for (; !over.aborted; moved += 1) await move();
  return moved;
}

function p99Of({ interimLagMs }: Report): number {
  return interimLagMs?.p99 ?? NaN;
}

function lost(report: Report): number {
  return report.lost + report.differingStreams + report.streams.failed;
}
