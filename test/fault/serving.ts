import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { bundledProgram } from "../fixtures/bundled-program.ts";
import { seedPostgres } from "../fixtures/seed-postgres.ts";

let program: Promise<string> | undefined;
const bundled = (): Promise<string> =>
  (program ??= bundledProgram(resolve(import.meta.dirname, "serving-process.ts")));
/** Later processes use the code cache of the first one. */
const compileCache = resolve(import.meta.dirname, "../../node_modules/.cache/node");

/** A serving process (serving-process.ts) that is ready. */
export interface Serving {
  readonly address: string;
  /** Kills the process (kill -9); resolves when it has ended. */
  kill(): Promise<void>;
  /** Lets the process end by itself. */
  stop(): Promise<void>;
}

/**
 * Starts a serving process on a data folder; rejects if it ends before it is ready, for example
 * because its database is killed.
 */
export async function startServing(dataFolder: string): Promise<Serving> {
  await seedPostgres(join(dataFolder, "postgres"));
  const child = spawn(process.execPath, [await bundled(), dataFolder], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  const address = await readyAddress(child);
  return {
    address,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}

async function readyAddress(child: ChildProcess): Promise<string> {
  return await new Promise((ready, reject) => {
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const line = /^hlust: ready at (\S+)$/m.exec(text);
      if (line?.[1]) ready(line[1]);
    });
    child.once("exit", (code, signal) => {
      reject(new Error(`a serving process ended with ${code ?? signal} before it was ready`));
    });
  });
}

/** Returns the first API key of a data folder. */
export function keyOf(dataFolder: string): string {
  return readFileSync(join(dataFolder, "api-key"), "utf8").trim();
}
