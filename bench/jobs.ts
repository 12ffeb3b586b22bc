// `npm run bench:jobs [-- --folder recordings]` measures transcription jobs in real services, as
// ratios measured in one run. `-- --only hour|workers|memory|short|queue|lists|watches` selects
// one measurement. Each measurement takes about 3 minutes on an otherwise idle machine.
//
// Options for longer runs are `--minutes 60` (hour), `--job-seconds 240` (workers), `--rounds 10`
// (workers, short) and `--engine pocketsphinx` (memory; the default for workers).
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createLog } from "../src/std/log.ts";
import { measureHour } from "./jobs/hour.ts";
import { measureJobLists } from "./jobs/lists.ts";
import { measureMemory } from "./jobs/memory.ts";
import { measureQueue } from "./jobs/queue.ts";
import { measureShort } from "./jobs/short.ts";
import { measureWatches } from "./jobs/watches.ts";
import { measureWorkers } from "./jobs/workers.ts";
import { report, reportMachine } from "./report.ts";

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
reportMachine();

if (wants("hour")) report(await measureHour(folder, { minutes: Number(values.minutes), log }));
if (wants("workers")) {
  const seconds = Number(values["job-seconds"]);
  const rounds = Number(values.rounds);
  report(await measureWorkers(folder, { seconds, engine: engine ?? "pocketsphinx", rounds }));
}
if (wants("memory")) {
  const hours = Number(values.hours);
  report(await measureMemory(folder, { hours, engine: engine ?? "scripted" }));
}
if (wants("short")) report(await measureShort(folder, { rounds: Number(values.rounds) }));
if (wants("queue")) report(await measureQueue());
if (wants("lists")) report(await measureJobLists());
if (wants("watches")) report(await measureWatches());
