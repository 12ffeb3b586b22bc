import { processTree, pssBytes, type ProcessInfo } from "./process-tree.ts";

/** The server's processes with the same name. */
export interface ServerPart {
  readonly name: string;
  readonly processes: number;
  readonly cpuMs: number;
  /** The memory (PSS) at the end. */
  readonly memoryBytes: number;
}

/** The CPU and memory that the server's processes used while they were watched. */
export interface ServerUse {
  readonly pids: readonly number[];
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly parts: readonly ServerPart[];
  /** The total PSS of all processes: at the start, at its maximum, and at the end. */
  readonly memoryBytes: { readonly start: number; readonly max: number; readonly end: number };
  readonly memorySamples: readonly { readonly atMs: number; readonly bytes: number }[];
}

/** How often memory is measured. Each measurement stops a process for a moment. */
const memoryEveryMs = 5_000;

/** Measures the CPU time and memory of the given processes and their descendants. */
export class ServerWatch implements Disposable {
  readonly #roots: readonly number[];
  readonly #startedAt = performance.now();
  readonly #atStart: ReadonlyMap<number, ProcessInfo>;
  readonly #memory: { atMs: number; bytes: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  private constructor(roots: readonly number[], processes: readonly ProcessInfo[]) {
    this.#roots = roots;
    this.#atStart = new Map(processes.map((each) => [each.pid, each]));
    this.#timer = setInterval(() => void this.#sample(), memoryEveryMs);
  }

  static async start(roots: readonly number[]): Promise<ServerWatch> {
    const watch = new ServerWatch(roots, await processTree(...roots));
    await watch.#sample();
    return watch;
  }

  /** Returns the use since the start. */
  async stop(): Promise<ServerUse> {
    clearInterval(this.#timer);
    const processes = await processTree(...this.#roots);
    const wallMs = performance.now() - this.#startedAt;
    const cpuBefore = this.#cpuBefore(processes);
    const memory = await this.#sample();
    const parts = [...Map.groupBy(processes, ({ name }) => name)].map(([name, group]) => ({
      name,
      processes: group.length,
      cpuMs: sum(group.map(({ pid, cpuMs }) => cpuMs - (cpuBefore.get(pid) ?? 0))),
      memoryBytes: sum(group.map(({ pid }) => memory.get(pid) ?? 0)),
    }));
    const bytes = this.#memory.map(({ bytes }) => bytes);
    return {
      pids: this.#roots,
      wallMs,
      cpuMs: sum(parts.map(({ cpuMs }) => cpuMs)),
      parts,
      memoryBytes: { start: bytes[0] ?? 0, max: Math.max(...bytes), end: bytes.at(-1) ?? 0 },
      memorySamples: this.#memory,
    };
  }

  /**
   * Returns the CPU time from before the start that is included in the final times of the processes
   * and their ended children.
   */
  #cpuBefore(processes: readonly ProcessInfo[]): ReadonlyMap<number, number> {
    const there = new Set(processes.map(({ pid }) => pid));
    const before = new Map<number, number>();
    for (const started of this.#atStart.values()) {
      let heir: ProcessInfo | undefined = started;
      while (heir && !there.has(heir.pid)) heir = this.#atStart.get(heir.parent);
      if (heir) before.set(heir.pid, (before.get(heir.pid) ?? 0) + started.cpuMs);
    }
    return before;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #sample(): Promise<ReadonlyMap<number, number>> {
    const atMs = performance.now() - this.#startedAt;
    const processes = await processTree(...this.#roots);
    const each = processes.map(async ({ pid }) => [pid, (await pssBytes(pid)) ?? 0] as const);
    const memory = new Map(await Promise.all(each));
    this.#memory.push({ atMs, bytes: sum([...memory.values()]) });
    return memory;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
