// npm run bench:console: the pages of the console in Chromium, against a real service.
// -- --only reading|lists, --seconds 60: how long a transcript plays
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runLists } from "./console/lists.ts";
import { type PageFigure, runReading } from "./console/reading.ts";

const { values } = parseArgs({
  options: { only: { type: "string" }, seconds: { type: "string", default: "60" } },
});
const wants = (name: string) => values.only === undefined || values.only === name;
execFileSync(process.execPath, [join(import.meta.dirname, "../script/build-console.ts")]);
const figures: PageFigure[] = [];
if (wants("reading")) figures.push(...(await runReading({ seconds: Number(values.seconds) })));
if (wants("lists")) figures.push(...(await runLists()));
const load = loadavg()[0]?.toFixed(0);
console.log(`machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, load ${load}`);
for (const { name, ms, msMax, note } of figures) {
  const mark = ms <= msMax ? " " : "!";
  console.log(`${mark} ${name.padEnd(52)} ${ms.toFixed(2)} ms (limit ${msMax})  ${note}`);
}
// NaN, where something could not be measured, is no success either.
if (figures.some(({ ms, msMax }) => !(ms <= msMax))) process.exitCode = 1;
