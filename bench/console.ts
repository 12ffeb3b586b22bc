// npm run bench:console: the pages of the console in Chromium, against a real service. Options
// after --: --only reading|lists; --seconds 60, how long a transcript plays
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runLists } from "./console/lists.ts";
import { report, reportMachine } from "./report.ts";
import { type PageFigure, runReading } from "./console/reading.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, seconds: { type: "string", default: "60" } },
});
const wants = (name: string) => values.only === undefined || values.only === name;
execFileSync(process.execPath, [join(import.meta.dirname, "../script/build-console.ts")]);
const figures: PageFigure[] = [];
if (wants("reading")) figures.push(...(await runReading({ seconds: Number(values.seconds) })));
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
