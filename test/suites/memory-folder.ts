import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmdirSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** The memory that must be available: 6 GB of files, and what the tests themselves need. */
const memoryBytesMin = 12 * 1024 ** 3;
/** Mounts the folder $0 in memory for everybody, as /tmp, and runs the rest of the arguments. */
const mountAndRun =
  'mount -t tmpfs -o mode=1777 hlust-tests "$0" && TMPDIR=$0 IN_MEMORY=1 exec "$@"';

/** Whether this process was started by runInMemory(). */
export function isInMemory(): boolean {
  return process.env["IN_MEMORY"] === "1";
}

/**
 * Runs a command with a folder for temporary files that is in memory, where files take less CPU
 * time than on a disk and nothing waits for PostgreSQL's syncs. Only the command and its children
 * see the folder, which ends with them. Passes the signals on. Returns the exit status; undefined,
 * without running the command, if this user cannot mount, or if less memory than `bytesMin` is
 * available.
 */
export async function runInMemory(
  command: readonly string[],
  bytesMin = memoryBytesMin,
): Promise<number | undefined> {
  // The limit of a container counts as well as what the machine has.
  if (Math.min(freemem(), process.availableMemory()) < bytesMin) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "hlust-"));
  try {
    const inFolder = (args: readonly string[]) =>
      ["--mount", "--propagation=private", "sh", "-c", mountAndRun, folder, ...args] as const;
    if (spawnSync("unshare", inFolder(["true"])).status !== 0) return undefined;
    const child = spawn("unshare", inFolder(command), { stdio: "inherit" });
    const pass = (signal: NodeJS.Signals) => void child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, pass);
    const [status] = await once(child, "exit");
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, pass);
    return typeof status === "number" ? status : 1;
  } finally {
    rmdirSync(folder);
  }
}
