import { processTree, pssBytes } from "../src/cli/bench/process-tree.ts";

/** Returns the CPU time so far and the memory of the engine processes of this process. */
export async function engineUse(): Promise<{ readonly cpuMs: number; readonly bytes: number }> {
  const tree = await processTree(process.pid);
  const engines = tree.filter(({ name }) => name === "engine-process.ts");
  const bytes = await Promise.all(engines.map(({ pid }) => pssBytes(pid)));
  return {
    cpuMs: engines.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    bytes: bytes.reduce<number>((sum, each) => sum + (each ?? NaN), 0),
  };
}
