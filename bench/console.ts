// `npm run bench:console` measures the pages of the console in Chromium with a real service. Two
// options can follow `--`: `--only reading|editing|subtitles|lists`, and `--seconds 60`, which sets
// how long a transcript plays.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runEditing } from "./console/editing.ts";
import { runLists } from "./console/lists.ts";
import { runSubtitles } from "./console/subtitles.ts";
import { report, reportMachine } from "./report.ts";
import { type PageFigure, runReading } from "./console/reading.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, seconds: { type: "string", default: "60" } },
});
const wants = (name: string) => values.only === undefined || values.only === name;
execFileSync(process.execPath, [join(import.meta.dirname, "../script/build-console.ts")]);
const figures: PageFigure[] = [];
if (wants("reading")) figures.push(...(await runReading({ seconds: Number(values.seconds) })));
if (wants("subtitles")) figures.push(...(await runSubtitles()));
if (wants("editing")) figures.push(...(await runEditing()));
if (wants("lists")) figures.push(...(await runLists()));
reportMachine();
report(
  figures.map(({ name, ms, msMax, note }) => ({
    name,
    ratio: ms,
    ratioMax: msMax,
    unit: "ms",
    note,
  })),
);
