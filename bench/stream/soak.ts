// Measures a day of speech in one stream, sent as fast as the service reads it.
import { load } from "./load.ts";
import type { Figure } from "../report.ts";
import type { MeasuredServer } from "./servers.ts";

const hours = 24;
const growthMebibytesMax = 10;

/**
 * Measures the growth of the memory (PSS) of the service's process tree during a stream of 24 h,
 * from the second quarter of the time to the last: at most 10 MiB. The minimum of each quarter is
 * compared, because garbage that has not been collected yet does not count as growth.
 */
export async function measureSoak(service: MeasuredServer): Promise<Figure[]> {
  const report = await load(service, { streams: 1, rate: 0, duration: hours * 3600, timeout: 300 });
  const samples = report.server?.memorySamples ?? [];
  const quarter = Math.floor(samples.length / 4);
  const least = (from: number, to: number) =>
    Math.min(...samples.slice(from, to).map(({ bytes }) => bytes)) / (1 << 20);
  const [early, late] = [least(quarter, 2 * quarter), least(-quarter, samples.length)];
  const minutes = report.wallMs / 60_000;
  const note = `${early.toFixed(1)} to ${late.toFixed(1)} MiB, ${samples.length} samples; ${report.chunks} chunks in ${minutes.toFixed(1)} min, ${report.finals} finals, ${report.streams.failed} failed`;
  return [
    {
      name: "growth over 24 h of audio, MiB",
      ratio: late - early,
      ratioMax: growthMebibytesMax,
      note,
    },
    { name: "losses, 24 h", ratio: report.streams.failed, ratioMax: 0, note: "" },
  ];
}
