import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

const hlust = resolve(import.meta.dirname, "../bin/hlust");

/** How a command ended. */
export interface EndedCommand {
  /** null: it was killed. */
  readonly code: number | null;
  readonly out: string;
  readonly errors: string;
}

/** Runs `bin/hlust` with these arguments and nothing else in its environment; `started` gets the process. */
export async function runHlust(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  started: (child: ChildProcess) => void = () => {},
): Promise<EndedCommand> {
  const child = spawn(hlust, args, {
    cwd: "/",
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  started(child);
  const exited = once(child, "exit");
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exited;
  return { code: typeof code === "number" ? code : null, out, errors };
}
