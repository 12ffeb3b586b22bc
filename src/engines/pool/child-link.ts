import { spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { errorFields, type Log } from "../../std/log.ts";
import type { Frame } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import type { DiarizerSource, EngineSource } from "../protocol/engine-source.ts";
import type { EngineLink, LinkEnd } from "./engine-link.ts";

/**
 * The environment of engine processes. It contains no settings of the service, because engine
 * processes parse untrusted audio and need no secrets. They read models and searches at
 * scattered addresses, which causes TLB misses with small pages. With this setting, glibc requests
 * huge pages, if the kernel lets programs decide.
 */
const environment = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

/** V8 does not collect the whole heap for bytes that are read from the pipe: see bin/hlust. */
const heapFlag = "--external-memory-accounted-in-global-limit";

/** Starts an engine process as a child of this one, linked by pipes. */
export function openChildLink({
  source,
  key,
  reportMs,
  log,
}: {
  readonly source: EngineSource | DiarizerSource;
  /** The key for the server of a hosted model. */
  readonly key?: string | undefined;
  /** The interval at which the process reports its load. */
  readonly reportMs: number;
  readonly log: Log;
}): EngineLink {
  const isDiarizer = source.engine === "diarizer";
  const name = isDiarizer ? "../process/diarizer-process.ts" : "../process/engine-process.ts";
  const program = fileURLToPath(new URL(name, import.meta.url));
  const parameters = [JSON.stringify(source), String(reportMs)];
  // Where this process keeps compiled code, in a folder for each version of Node. A process that
  // has to compile takes more than twice the CPU time to start.
  const compiled = getCompileCacheDir();
  const child = spawn(process.execPath, [heapFlag, program, ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      ...environment,
      ...(compiled !== undefined && { NODE_COMPILE_CACHE: dirname(compiled) }),
      ...(key !== undefined && { MODEL_KEY: key }),
    },
  });
  const ended = new Promise<LinkEnd>((resolve) => {
    const end = (how: string) => resolve({ how, isOfProcess: true });
    child.once("error", (error) => end(error.message));
    child.once("close", (code, signal) => end(signal ?? `code ${code}`));
  });
  let isGarbled = false;
  const link = {
    pid: child.pid ?? 0,
    sink: child.stdin,
    onFrames: (_frames: Iterable<Frame>) => {},
    ended,
    get isGarbled() {
      return isGarbled;
    },
    end: () => void child.stdin.end(),
    kill: () => void child.kill("SIGKILL"),
  };
  const reader = new FrameReader();
  child.stdout.on("data", (chunk: Buffer) => {
    try {
      link.onFrames(reader.push(chunk));
    } catch (error) {
      // The process's memory is corrupt, or a library wrote to standard output. Nothing that it
      // sends can be trusted any more.
      log.error({ pid: child.pid, ...errorFields(error) }, "engine.garbled");
      isGarbled = true;
      child.stdout.removeAllListeners("data").resume();
      child.kill("SIGKILL");
    }
  });
  // A process that has ended no longer reads; `ended` reports that.
  child.stdin.on("error", () => {});
  return link;
}
