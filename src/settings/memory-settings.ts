import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import type { HeldBytesLimits } from "../std/held-bytes.ts";
import { ConfigError, whole, type Setting } from "../std/setting.ts";

const mb = 1 << 20;

/** What the parts of the service's main process may hold in memory, in bytes. docs/memory.md has what each is for. */
export interface MemoryShares {
  /** Code, the heap of an idle service, pools and caches. */
  readonly base: number;
  /** Open connections, each connectionBytes. */
  readonly connections: number;
  /** Audio and results of live streams. */
  readonly live: number;
  /** Threads that read, write and compare long transcripts. */
  readonly threads: number;
  readonly bodies: HeldBytesLimits;
  readonly answers: HeldBytesLimits;
  readonly watches: HeldBytesLimits;
}

const baseBytes = 256 * mb;
/** Of an open connection with its buffers. */
export const connectionBytes = 32 << 10;
/** Below it a body of the longest transcript has no room. */
export const memoryMbMin = 768;
/** More is of no use: calls are slower than that before. */
const memoryMbMost = 8_192;

/** undefined: defaultMemoryMb(). */
export const memorySettings = {
  memoryMb: {
    name: "HLUST_MEMORY_MB",
    meaning: `Memory of the service's main process, in MB, at least ${memoryMbMin}: calls that would take more are answered 429. Engines and the own PostgreSQL have theirs beside it`,
    fallback: "half of the memory of the machine or container, 768 to 8192",
    parse: (text, name) => (text === undefined ? undefined : whole(text, name, 1, 1_048_576)),
  },
} satisfies Record<string, Setting<number | undefined>>;

/** Half of what the machine has, or the control group of the process where that is less. */
export function defaultMemoryMb(bytes = memoryBytes()): number {
  return Math.max(memoryMbMin, Math.min(memoryMbMost, Math.floor(bytes / 2 / mb)));
}

/** cgroup v2; elsewhere, and without a limit, the machine's. */
function memoryBytes(): number {
  try {
    const limit = Number(readFileSync("/sys/fs/cgroup/memory.max", "utf8"));
    return Number.isFinite(limit) ? Math.min(limit, totalmem()) : totalmem();
  } catch {
    return totalmem();
  }
}

/** Shares out the memory of the main process. Their sum is no more than it. Throws ConfigError where it is too small. */
export function memoryShares(memoryMb: number, connectionsMax: number): MemoryShares {
  const connections = connectionsMax * connectionBytes;
  const rest = memoryMb * mb - baseBytes - connections;
  if (memoryMb < memoryMbMin || rest < (memoryMbMin * mb - baseBytes) / 2) {
    const needed = Math.ceil(
      Math.max(memoryMbMin, (baseBytes + connections) / mb + (memoryMbMin - baseBytes / mb) / 2),
    );
    throw new ConfigError(
      `HLUST_MEMORY_MB is ${memoryMb}: at least ${needed} is needed for ${connectionsMax} connections; set it higher, or HLUST_CONNECTIONS_MAX lower`,
    );
  }
  const part = (share: number): number => Math.floor(rest * share);
  // Of what calls hold, one account has a quarter, and enough for the longest call.
  const held = (share: number, leastBytes: number, reason: string, what: string) => {
    const nodeBytesMax = part(share);
    const accountBytesMax = Math.min(nodeBytesMax, Math.max(leastBytes, nodeBytesMax / 4));
    return { nodeBytesMax, accountBytesMax: Math.floor(accountBytesMax), reason, what };
  };
  return {
    base: baseBytes,
    connections,
    live: part(0.1),
    threads: part(0.25),
    bodies: held(0.3, 72 * mb, "BODIES_FULL", "request bodies"),
    answers: held(0.25, 64 * mb, "ANSWERS_FULL", "answers"),
    watches: held(0.1, 8 * mb, "WATCHES_FULL", "watched jobs"),
  };
}
