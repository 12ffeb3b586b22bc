// npm run bench:jobs [-- --folder recordings]: transcription jobs through real services, as ratios
// of one run. -- --only hour|workers|memory|short|queue: each takes about 3 minutes on a machine
// that does nothing else. Longer: --minutes 60 (hour), --job-seconds 240 (workers), --rounds 10
// (workers, short), --engine pocketsphinx (memory; workers have it anyway).
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createLog } from "../src/std/log.ts";
import { measureHour } from "./jobs/hour.ts";
import { measureMemory } from "./jobs/memory.ts";
import { measureQueue } from "./jobs/queue.ts";
import { measureShort } from "./jobs/short.ts";
import { measureWorkers } from "./jobs/workers.ts";
import type { Figure } from "./transcoding/measure.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: join(import.meta.dirname, "../../shared/audio") },
    minutes: { type: "string", default: "15" },
    "job-seconds": { type: "string", default: "60" },
    engine: { type: "string" },
    hours: { type: "string", default: "8" },
    rounds: { type: "string", default: "4" },
    only: { type: "string" },
  },
});
const { folder, engine, only } = values;
const wants = (name: string) => only === undefined || only === name;
const log = createLog("error");
console.log(
  `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`,
);

const figures: Figure[] = [];
const tell = (measured: readonly Figure[]): void => {
  for (const { name, ratio, ratioMax, note } of measured) {
    const mark = ratio <= ratioMax ? " " : "!";
    console.log(`${mark} ${name.padEnd(44)} ${ratio.toFixed(2)} (limit ${ratioMax})  ${note}`);
  }
  figures.push(...measured);
};
if (wants("hour")) tell(await measureHour(folder, { minutes: Number(values.minutes), log }));
if (wants("workers")) {
  const seconds = Number(values["job-seconds"]);
  const rounds = Number(values.rounds);
  tell(await measureWorkers(folder, { seconds, engine: engine ?? "pocketsphinx", rounds }));
}
if (wants("memory")) {
  const hours = Number(values.hours);
  tell(await measureMemory(folder, { hours, engine: engine ?? "scripted" }));
}
if (wants("short")) tell(await measureShort(folder, { rounds: Number(values.rounds) }));
if (wants("queue")) tell(await measureQueue());
// NaN, where something could not be measured, is no success either.
if (figures.some(({ ratio, ratioMax }) => !(ratio <= ratioMax))) process.exitCode = 1;
