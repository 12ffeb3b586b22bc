// npm run bench:transcoding: what the transcoder takes of the CPU, as ratios of one run.
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
