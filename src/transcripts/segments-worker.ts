// A thread of segments-reader.ts: takes ThreadTask, answers TakenSegments, one after the other.
import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { takeSegments, type TakenSegments } from "./read-segments.ts";
import type { ThreadTask } from "./reading-thread.ts";

/** Behind everything that live audio waits for. */
const niceness = 10;

try {
  // The thread's own id, which Linux takes for that of a process.
  setPriority(Number(basename(readlinkSync("/proc/thread-self"))), niceness);
} catch {
  // Elsewhere it runs like any other thread.
}

parentPort?.on("message", ({ message, isPatient }: ThreadTask) => {
  const taken = takeSegments(message, isPatient);
  parentPort?.postMessage(taken, buffersOf(taken));
});

function buffersOf(taken: TakenSegments): ArrayBuffer[] {
  if ("refused" in taken) return [];
  if ("whole" in taken) return ownBuffers(taken.whole);
  if ("slow" in taken) return ownBuffers(taken.slow);
  const { rest, segments } = taken;
  if ("violations" in segments) return ownBuffers(rest);
  return ownBuffers(rest, segments.json, segments.jsonZstd);
}

function ownBuffers(...arrays: Uint8Array[]): ArrayBuffer[] {
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer);
}
