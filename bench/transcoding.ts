// npm run bench:transcoding: what the transcoder takes of the CPU, as ratios of one run.
import { availableParallelism, cpus } from "node:os";
import { measureLiveMessage, measureRecognizeBody } from "./transcoding/audio.ts";
import { measureCalls } from "./transcoding/calls.ts";
import { measureRoutes } from "./transcoding/routes.ts";

const figures = [
  ...measureRoutes(),
  ...(await measureCalls()),
  measureRecognizeBody(),
  await measureLiveMessage(16_000),
  await measureLiveMessage(48_000),
];
console.log(
  `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}`,
);
for (const { name, ratio, ratioMax, note } of figures) {
  const mark = ratio <= ratioMax ? " " : "!";
  console.log(`${mark} ${name.padEnd(31)} ${ratio.toFixed(2)} (limit ${ratioMax})  ${note}`);
}
if (figures.some(({ ratio, ratioMax }) => ratio > ratioMax)) process.exitCode = 1;
