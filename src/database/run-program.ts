import { spawn } from "node:child_process";

/** How a program ended: its exit status (127: it could not be started) and what it said. */
export interface Ended {
  readonly status: number;
  readonly output: string;
}

/** Runs a program to its end with nothing of our environment but the PATH; never rejects. */
export function runProgram(command: readonly string[], msMax = 60_000): Promise<Ended> {
  const [program = "", ...parameters] = command;
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: msMax,
      killSignal: "SIGKILL",
    });
    const parts: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => parts.push(text));
    }
    child.on("error", (error) => resolve({ status: 127, output: error.message }));
    child.on("close", (status) => resolve({ status: status ?? 1, output: parts.join("").trim() }));
  });
}
