import { join } from "node:path";
import { openDatabase } from "../src/database/database.ts";
import { createLog } from "../src/std/log.ts";
import { openDeliveryWorker } from "../src/webhooks/delivery-worker.ts";
import { loopbackAllowed } from "./webhooks-fixture.ts";

/** A worker that sends webhooks in a process of its own, for a test that kills it: `node delivery-process.ts <folder> <timeout ms>`. */
const [folder = "", timeoutMs = ""] = process.argv.slice(2);
const log = createLog("silent");
await using database = await openDatabase({
  url: undefined,
  folder: join(folder, "postgres"),
  log,
  durable: false,
});
await using _worker = openDeliveryWorker({
  database,
  allow: loopbackAllowed,
  log,
  timeoutMs: Number(timeoutMs),
});
const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
process.once("SIGTERM", resolve);
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
