import { readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../std/log.ts";
import { runProgram } from "./run-program.ts";

/**
 * The maximum wait for the server to stop. A server that still has much to write finishes by itself
 * afterwards.
 */
const stopMsMax = 15_000;

/**
 * Stops the server of the folder in mode "fast", in which commits are kept, and waits until all its
 * processes have ended.
 */
export async function stopServer(folder: string, cluster: string, log: Log): Promise<void> {
  const postmaster = await postmasterOf(cluster);
  if (postmaster === undefined) {
    log.warn({}, "database.left_running"); // it runs in another container
    return;
  }
  process.kill(postmaster, "SIGINT");
  // The server's processes hold the folder's lock, which is free when the last process has ended.
  const wait = ["flock", "--wait", String(stopMsMax / 1000), folder, "true"];
  const { status } = await runProgram(wait, stopMsMax * 2);
  log.info({}, status === 0 ? "database.stopped" : "database.still_stopping");
}

/**
 * The process of the pid file if it works in that data folder, because process numbers are reused.
 */
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
