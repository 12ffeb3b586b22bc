// `npm run bench:dialects [-- --folder recordings]` measures the protocols of other services
// (docs/dialects.md) in real services, as ratios of CPU time in one run. `-- --only
// calls|hour|live|paced|memory` selects one measurement; each takes one to four minutes. `-- --only
// hour --minutes 60` measures a real hour, for about half an hour of CPU.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCalls } from "./dialects/calls.ts";
import { measurePaced } from "./dialects/live-paced.ts";
import { measureLive } from "./dialects/live.ts";
import { measureLong } from "./dialects/long.ts";
import { measureUploads } from "./dialects/uploads.ts";
import { report, reportMachine } from "./report.ts";

const { values } = parseArgs({
  options: {
    folder: { type: "string", default: join(import.meta.dirname, "../../shared/audio") },
    minutes: { type: "string", default: "12" },
    seconds: { type: "string", default: "10" },
    rounds: { type: "string", default: "10" },
    only: { type: "string" },
  },
});
const { only, folder } = values;
const wants = (name: string) => only === undefined || only === name;
reportMachine();

if (wants("calls")) report(await measureCalls({ rounds: Number(values.rounds) }));
if (wants("hour")) report(await measureLong(folder, { minutes: Number(values.minutes) }));
if (wants("live")) report(await measureLive({ rounds: Number(values.rounds) }));
if (wants("paced")) report(await measurePaced({ rounds: 3, seconds: Number(values.seconds) }));
if (wants("memory")) report(await measureUploads());
