import { readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../std/log.ts";
import { runProgram } from "./run-program.ts";

/** A server with much to write finishes by itself after this. */
const stopMsMax = 15_000;

/**
 * Stops the server of the folder ("fast": commits are kept) and waits until all its processes have
 * ended.
 */
export async function stopServer(folder: string, cluster: string, log: Log): Promise<void> {
  const postmaster = await postmasterOf(cluster);
  if (postmaster === undefined) {
    log.warn({}, "database.left_running"); // it runs in another container
    return;
  }
  process.kill(postmaster, "SIGINT");
  // The server's processes hold the folder's lock: it is free when the last one has ended.
  const wait = ["flock", "--wait", String(stopMsMax / 1000), folder, "true"];
  const { status } = await runProgram(wait, stopMsMax * 2);
  log.info({}, status === 0 ? "database.stopped" : "database.still_stopping");
}

/** The process of the pid file, if it works in that data folder: process numbers are reused. */
async function postmasterOf(cluster: string): Promise<number | undefined> {
  const text = await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  if (!(pid > 1)) return undefined;
  const [folder, worksIn] = await Promise.all([
    realpath(cluster),
    readlink(`/proc/${pid}/cwd`).catch(() => undefined),
  ]);
  return worksIn === folder ? pid : undefined;
}
