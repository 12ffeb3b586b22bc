import { join } from "node:path";
import { openDatabase } from "../src/database/database.ts";
import { createLog } from "../src/std/log.ts";
import { openJobs, toneRecognizer } from "./jobs-fixture.ts";

/** A worker in a process of its own, for tests that kill it: `node worker-process.ts <folder> <piece ms> <deadly word>`. */
const [folder = "", pieceMs = "0", deadly = ""] = process.argv.slice(2);
const log = createLog("silent");
await using database = await openDatabase({
  url: undefined,
  folder: join(folder, "postgres"),
  log,
  durable: false,
});
await using jobs = await openJobs(database, join(folder, "jobs"), log);
const recognizer = toneRecognizer({
  pieceMs: Number(pieceMs),
  onPiece(words) {
    process.stdout.write(`${words.join(" ")}\n`);
    if (words.includes(deadly)) process.kill(process.pid, "SIGKILL");
  },
});
await using _worker = await jobs.openWorker(recognizer);
const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
process.once("SIGTERM", resolve);
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
