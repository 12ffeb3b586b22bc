// A worker thread of segments-reader.ts. It receives ThreadTasks and sends TakenSegments for each,
// one after another.
import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { takeSegments, type TakenSegments } from "./read-segments.ts";
import type { ThreadTask } from "./reading-thread.ts";

/** A lower priority than that of anything live audio waits for. */
const niceness = 10;

try {
  // The thread's own id, which Linux accepts as a process id.
  setPriority(Number(basename(readlinkSync("/proc/thread-self"))), niceness);
} catch {
  // On other systems the thread has normal priority.
}

parentPort?.on("message", ({ message, anyForm }: ThreadTask) => {
  const taken = takeSegments(message, anyForm);
  parentPort?.postMessage(taken, buffersOf(taken));
});

function buffersOf(taken: TakenSegments): ArrayBuffer[] {
  if ("refused" in taken) return [];
  if ("whole" in taken) return ownBuffers(taken.whole);
  if ("otherForm" in taken) return ownBuffers(taken.otherForm);
  const { rest, list } = taken;
  return "json" in list ? ownBuffers(rest, list.json, list.jsonZstd) : ownBuffers(rest);
}

function ownBuffers(...arrays: Uint8Array[]): ArrayBuffer[] {
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}
