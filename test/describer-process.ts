import { join } from "node:path";
import { openDatabase } from "../src/database/database.ts";
import { createLog } from "../src/std/log.ts";
import { openJobs } from "./jobs-fixture.ts";

/** A describer of media in a process of its own that dies with a piece: `node describer-process.ts <folder> <piece>`. */
const [folder = "", deadly = ""] = process.argv.slice(2);
const log = createLog("silent");
await using database = await openDatabase({
  url: undefined,
  folder: join(folder, "postgres"),
  log,
  durable: false,
});
await using jobs = await openJobs(database, join(folder, "jobs"), log);
await using _describer = await jobs.openDescriber({
  onPiece(_mediaId, number) {
    if (`${number}` === deadly) process.kill(process.pid, "SIGKILL");
  },
});
const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
process.once("SIGTERM", resolve);
const alive = setInterval(() => {}, 60_000);
await stopped;
clearInterval(alive);
