import { spawn } from "node:child_process";

/** The result of a program: its exit status (127 if it could not be started) and its output. */
export interface Ended {
  readonly status: number;
  readonly output: string;
}

/** The folders of the system's programs, independent of the PATH of the service. */
export const programPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Runs a system program to completion, without the service's environment; never rejects. */
export function runProgram(command: readonly string[], msMax = 60_000): Promise<Ended> {
  const [program = "", ...parameters] = command;
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      env: { PATH: programPath },
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
