import { readFile } from "node:fs/promises";
import { ownPostgresOf, processTree, pssBytes } from "../../src/cli/bench/process-tree.ts";

/** The resources that the processes of services have used so far. */
export interface TreeUse {
  readonly atMs: number;
  /** The CPU time of all processes, including PostgreSQL and decoders. */
  readonly cpuMs: number;
  readonly engines: readonly EngineUse[];
  /** The CPU time of PostgreSQL. */
  readonly databaseCpuMs: number;
}

/**
 * How long the main thread of an engine process ran and waited, according to the scheduler's
 * counters.
 */
export interface EngineUse {
  readonly pid: number;
  readonly ranMs: number;
  /** The time in which the thread could run but had no core. */
  readonly waitedMs: number;
}

/** Returns the processes of services, and those of the PostgreSQL that they share. */
async function rootsOf(pids: readonly number[]): Promise<readonly number[]> {
  const postgres = await Promise.all(pids.map(ownPostgresOf));
  return [...new Set([...pids, ...postgres.filter((root) => root !== undefined)])];
}

/**
 * The interval between samples. It is long, because each sample reads all processes of the machine,
 * which takes CPU time itself.
 */
const lookMs = 1000;

/**
 * Samples the processes of services, regularly and on request. A decoder must be sampled while it
 * runs, because its sandbox ends before the CPU time of the decoder is counted for its parent.
 */
export class TreeWatch implements Disposable {
  readonly #roots: Promise<readonly number[]>;
  readonly #timer: NodeJS.Timeout;
  /** The CPU time of each decoder process in the last sample that contains it. */
  readonly #decoders = new Map<number, number>();
  #isLooking = false;

  constructor(pids: readonly number[]) {
    this.#roots = rootsOf(pids);
    this.#timer = setInterval(() => void this.#lookAgain(), lookMs);
  }

  async #lookAgain(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    await this.look().catch(() => {});
    this.#isLooking = false;
  }

  async look(): Promise<TreeUse> {
    const atMs = performance.now();
    const tree = await processTree(...(await this.#roots));
    const decoders = tree.filter(({ name }) => name === "ffmpeg" || name === "ffprobe");
    for (const { pid, cpuMs } of decoders) this.#decoders.set(pid, cpuMs);
    const others = tree.filter((each) => !decoders.includes(each));
    const engines = others.filter(({ name }) => name === "engine-process.ts");
    return {
      atMs,
      cpuMs: sumOf(others, ({ cpuMs }) => cpuMs) + sumOf([...this.#decoders.values()], (ms) => ms),
      engines: await Promise.all(engines.map(({ pid }) => engineUse(pid))),
      databaseCpuMs: sumOf(others, ({ name, cpuMs }) => (name === "postgres" ? cpuMs : 0)),
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

export async function engineUse(pid: number): Promise<EngineUse> {
  const text = await readFile(`/proc/${pid}/schedstat`, "utf8");
  const [ran = NaN, waited = NaN] = text.split(" ").map(Number);
  return { pid, ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}

/** The resources used between two samples. */
export interface Spent {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly engineCpuMs: number;
  readonly databaseCpuMs: number;
  /**
   * The share of the time in which engine processes were idle, averaged over all engine processes.
   */
  readonly idleShare: number;
}

export function spentBetween(before: TreeUse, after: TreeUse): Spent {
  const wallMs = after.atMs - before.atMs;
  const engines = after.engines.map((engine) => {
    const was = before.engines.find(({ pid }) => pid === engine.pid);
    return {
      ranMs: engine.ranMs - (was?.ranMs ?? NaN),
      waitedMs: engine.waitedMs - (was?.waitedMs ?? NaN),
    };
  });
  const busyMs = sumOf(engines, ({ ranMs, waitedMs }) => ranMs + waitedMs);
  return {
    wallMs,
    cpuMs: after.cpuMs - before.cpuMs,
    engineCpuMs: sumOf(engines, ({ ranMs }) => ranMs),
    databaseCpuMs: after.databaseCpuMs - before.databaseCpuMs,
    idleShare: 1 - busyMs / (wallMs * engines.length),
  };
}

/**
 * Returns the total memory (PSS) of all processes in mebibytes. A process that ends before it is
 * measured counts as 0.
 */
export async function treeMebibytes(pids: readonly number[]): Promise<number> {
  const tree = await processTree(...(await rootsOf(pids)));
  const each = await Promise.all(tree.map(({ pid }) => pssBytes(pid)));
  return sumOf(each, (bytes) => bytes ?? 0) / (1 << 20);
}

function sumOf<T>(all: readonly T[], of: (each: T) => number): number {
  return all.reduce((sum, each) => sum + of(each), 0);
}
