import { readdir, readFile } from "node:fs/promises";

/** Returns the CPU time of all threads of a process so far, by the counters of the scheduler. */
export async function cpuMsOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const each = await Promise.all(
    threads.map((thread) =>
      readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => ""),
    ),
  );
  return each.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
}
