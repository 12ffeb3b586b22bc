// `npm run bench:stream` compares live streams with the scripted engine with a bare server in the
// same run. `-- --soak` instead measures a stream of 24 h of audio in a few minutes. `-- --only
// cpu|lag|idle|compressed|floor` selects one measurement. The floor takes `--streams`, `--blocks`,
// `--slice` (ms) and `--speed` (1: real time), and compares with another checkout of the service as
// well: `--with FOLDER`.
import { parseArgs } from "node:util";
import { measureCompressed } from "./stream/compressed.ts";
import { measureFloor } from "./stream/floor.ts";
import { measureIdle } from "./stream/idle.ts";
import { measureCpu, measureLag, warm } from "./stream/paced.ts";
import { openBareServer, openService } from "./stream/servers.ts";
import { measureSoak } from "./stream/soak.ts";
import { type Figure, report, reportMachine } from "./report.ts";

const { values } = parseArgs({
  options: {
    soak: { type: "boolean" },
    only: { type: "string" },
    streams: { type: "string", default: "200" },
    blocks: { type: "string", default: "30" },
    slice: { type: "string", default: "1000" },
    speed: { type: "string", default: "1" },
    with: { type: "string" },
  },
});

const figures: Figure[] = [];
if (values.soak) {
  await using service = await openService({ HLUST_STREAM_SECONDS_MAX: `${25 * 3600}` });
  figures.push(...(await measureSoak(service)));
} else {
  const wants = (name: string) => values.only === undefined || values.only === name;
  if (wants("cpu") || wants("lag")) {
    await using service = await openService();
    await using bare = await openBareServer();
    await warm([service, bare]);
    if (wants("cpu")) figures.push(...(await measureCpu(service, bare)));
    if (wants("lag")) figures.push(...(await measureLag(service, bare)));
  }
  if (wants("floor")) {
    await using opened = new AsyncDisposableStack();
    const servers = [opened.use(await openService())];
    if (values.with !== undefined) servers.push(opened.use(await openService({}, values.with)));
    servers.push(opened.use(await openBareServer()));
    const options = {
      streams: Number(values.streams),
      blocks: Number(values.blocks),
      sliceMs: Number(values.slice),
      speed: Number(values.speed),
    };
    figures.push(...(await measureFloor(servers, options)));
  }
  if (wants("compressed")) figures.push(...(await measureCompressed()));
  if (wants("idle")) {
    // A new process is started, so that only the sockets are measured.
    await using service = await openService();
    figures.push(...(await measureIdle(service)));
  }
}
reportMachine();
report(figures);
