// The thread of segments-reader.ts: takes UnreadSegments, answers SegmentsRead, one after the other.
import { readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { readSegments, type UnreadSegments } from "./read-segments.ts";

/** Behind everything that live audio waits for. */
const niceness = 10;

try {
  // The thread's own id, which Linux takes for that of a process.
  setPriority(Number(basename(readlinkSync("/proc/thread-self"))), niceness);
} catch {
  // Elsewhere it runs like any other thread.
}

parentPort?.on("message", (unread: UnreadSegments) => {
  const read = readSegments(unread);
  const buffers = "json" in read ? [read.json.buffer, read.jsonZstd.buffer] : [];
  parentPort?.postMessage(read, buffers);
});
