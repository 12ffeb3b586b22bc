import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { HeldBytesLimits } from "../std/held-bytes.ts";
import { ConfigError, ifSet, whole, type Setting } from "../std/setting.ts";

const mb = 1 << 20;

/**
 * The memory limit of each part of the service's main process, in bytes; docs/memory.md describes
 * the parts.
 */
export interface MemoryShares {
  /** Memory for code, the heap of an idle service, pools and caches. */
  readonly base: number;
  readonly connections: number;
  readonly threads: number;
  readonly live: number;
  /**
   * The memory for request bodies. Each call counts the memory that it uses from this share and
   * from the next two.
   */
  readonly bodies: HeldBytesLimits;
  readonly answers: HeldBytesLimits;
  readonly watches: HeldBytesLimits;
}

const baseBytes = 256 * mb;
/** The memory for an open connection and its buffers. */
const connectionBytes = 32 << 10;
/**
 * The heap of a worker thread that writes, reads or compares long transcripts. It is twice as large
 * as the longest transcripts need.
 */
const workerThreadHeapMb = 512;
/** The heap of each of the two threads that read long request messages. */
const segmentsThreadHeapMb = 768;
/** The minimum memory for all calls together. */
const callBytesMin = 384 * mb;
/**
 * The maximum memory by default, in MB. More memory is of no use, since the CPU could not serve the
 * calls.
 */
const memoryMbMost = 8_192;

export const memorySettings = {
  memoryMb: {
    name: "HLUST_MEMORY_MB",
    meaning:
      "Memory of each process that serves the port, in MB; calls that would use more are answered 429. Engines, decoders and the service's own PostgreSQL need more memory (docs/memory.md)",
    fallback:
      "half of the memory of the machine or container, at most 8192; with front processes, a share of that for each",
    parse: ifSet((text, name) => whole(text, name, 1, 1_048_576)),
  },
} satisfies Record<string, Setting<number | undefined>>;

/** The memory of a process of the service, in bytes. */
export interface NodeMemory {
  /** The memory of the machine or container. */
  readonly machineBytes: number;
  /** The heap limit of the main thread: --max-old-space-size, or V8's default. */
  readonly heapBytes: number;
}

/**
 * Divides the memory of the main process into shares that together do not exceed it. By default,
 * the memory is half of the memory of the machine or container, or the required minimum if that is
 * larger. Throws ConfigError for a number that is too small.
 */
export function memoryShares(
  memoryMb: number | undefined,
  parts: { readonly connectionsMax: number; readonly workerThreads: number },
  { machineBytes, heapBytes }: NodeMemory = memoryOfNode(),
): MemoryShares {
  const connections = parts.connectionsMax * connectionBytes;
  const threads = (parts.workerThreads * workerThreadHeapMb + 2 * segmentsThreadHeapMb) * mb;
  const neededMb = Math.ceil((baseBytes + connections + threads + callBytesMin) / mb);
  if (memoryMb !== undefined && memoryMb < neededMb) {
    throw new ConfigError(
      `HLUST_MEMORY_MB must be at least ${neededMb} for ${parts.connectionsMax} connections (HLUST_CONNECTIONS_MAX) on this machine, not ${memoryMb}`,
    );
  }
  const halfMb = Math.min(memoryMbMost, Math.floor(machineBytes / 2 / mb));
  const bytes = (memoryMb ?? Math.max(neededMb, halfMb)) * mb;
  // Calls mostly use the JavaScript heap, which has its own limit.
  const calls = Math.min(bytes - baseBytes - connections - threads, heapBytes - 2 * baseBytes);
  return {
    base: baseBytes,
    connections,
    threads,
    live: Math.floor(calls * 0.15),
    bodies: heldOf(calls * 0.35, { reason: "BODIES_FULL", what: "request bodies" }),
    answers: heldOf(calls * 0.35, { reason: "ANSWERS_FULL", what: "answers" }),
    watches: heldOf(calls * 0.15, { reason: "WATCHES_FULL", what: "watched jobs and transcripts" }),
  };
}

/**
 * One account may use half of a small share, or a quarter of a large one. The longest call needs 80
 * MB.
 */
function heldOf(bytes: number, names: Pick<HeldBytesLimits, "reason" | "what">): HeldBytesLimits {
  const nodeBytesMax = Math.floor(bytes);
  const accountBytesMax = Math.floor(Math.min(nodeBytesMax, Math.max(80 * mb, nodeBytesMax / 4)));
  return { nodeBytesMax, accountBytesMax, ...names };
}

/** Returns the memory of a process, if as many as `processes` share that of the machine. */
export function memoryOfNode(processes = 1): NodeMemory {
  const machineBytes = memoryOfMachine() / processes;
  return { machineBytes, heapBytes: getHeapStatistics().heap_size_limit };
}

/**
 * Returns the memory limit of the control group (v2) if there is one, or else the memory of the
 * machine.
 */
function memoryOfMachine(): number {
  try {
    const limit = Number(readFileSync("/sys/fs/cgroup/memory.max", "utf8"));
    return Number.isFinite(limit) ? Math.min(limit, totalmem()) : totalmem();
  } catch {
    return totalmem();
  }
}
