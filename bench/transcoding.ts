// `npm run bench:transcoding` measures the CPU time of the transcoder, as ratios measured in one
// run.
import { measureLiveMessage, measureRecognizeBody } from "./transcoding/audio.ts";
import { measureCalls } from "./transcoding/calls.ts";
import { measureRoutes } from "./transcoding/routes.ts";
import { report, reportMachine } from "./report.ts";

const figures = [
  ...measureRoutes(),
  ...(await measureCalls()),
  measureRecognizeBody(),
  await measureLiveMessage(16_000),
  await measureLiveMessage(48_000),
];
reportMachine();
report(figures);
