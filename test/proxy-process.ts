import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "./until.ts";

/** Runs a server until it is disposed of; resolves when `isReady` holds, rejects with its words when it ends before. */
export async function startProxy(
  command: readonly string[],
  isReady: () => Promise<boolean>,
): Promise<AsyncDisposable> {
  // With this process it goes, however this process ends.
  const child = spawn("/usr/bin/setpriv", ["--pdeathsig", "KILL", ...command], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => {
      words += text;
    });
  }
  const exited = once(child, "exit");
  const ended = exited.then(() => {
    throw new Error(`${command[0]} has ended: ${words}`);
  });
  // It also ends when it is disposed of.
  ended.catch(() => {});
  await Promise.race([until(isReady), ended]);
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
