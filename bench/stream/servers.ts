import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { startService } from "../../test/fault/process.ts";

/** A server under load, in its own processes. */
export interface MeasuredServer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly token: string;
}

/**
 * Starts the service with the scripted engine, its own PostgreSQL and the default number of engine
 * processes. `folder` is the checkout of another version of it.
 */
export async function openService(
  environment: Readonly<Record<string, string>> = {},
  folder?: string,
): Promise<MeasuredServer> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  const settings = {
    HLUST_ENGINE: "scripted",
    HLUST_ENGINE_PROCESSES: "",
    HLUST_FRONT_PROCESSES: "1",
    HLUST_LOG: "error",
    ...environment,
  };
  const other = folder === undefined ? {} : { program: join(folder, "bin/hlust") };
  const service = await startService(data, settings, other);
  return {
    name: folder ?? "service",
    url: service.address,
    token: service.key,
    async [Symbol.asyncDispose]() {
      await service.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Starts bare-server.ts. */
export async function openBareServer(): Promise<MeasuredServer> {
  const server = spawn(process.execPath, [join(import.meta.dirname, "bare-server.ts")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const { value } = await lines.next();
  return {
    name: "bare",
    url: `http://127.0.0.1:${value}`,
    token: "none",
    async [Symbol.asyncDispose]() {
      const exited = once(server, "exit");
      server.kill();
      await exited;
    },
  };
}
