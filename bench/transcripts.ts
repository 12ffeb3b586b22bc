// npm run bench:transcripts: transcripts at the size of an archive, on the service's own
// PostgreSQL, as ratios of one run. -- --only lists|wire
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Figure } from "./transcoding/measure.ts";
import { runLists } from "./transcripts/lists.ts";
import { runWire } from "./transcripts/wire.ts";

const { values } = parseArgs({ options: { only: { type: "string" } } });
const wants = (name: string) => values.only === undefined || values.only === name;

const figures: Figure[] = [];
if (wants("lists")) figures.push(...(await runLists()));
if (wants("wire")) figures.push(...(await runWire()));
console.log(
  `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`,
);
for (const { name, ratio, ratioMax, note } of figures) {
  const mark = ratio <= ratioMax ? " " : "!";
  console.log(`${mark} ${name.padEnd(36)} ${ratio.toFixed(2)} (limit ${ratioMax})  ${note}`);
}
// NaN, where something could not be measured, is no success either.
if (figures.some(({ ratio, ratioMax }) => !(ratio <= ratioMax))) process.exitCode = 1;
