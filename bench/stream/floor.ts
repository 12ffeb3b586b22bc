// The floor of live streams: the CPU time of a chunk, and the lag of answers, of the process that
// holds the sockets, against a bare server that holds as many. All servers run for the whole
// measurement, and take turns with slices of chunks in real time. The slices of a block are in one
// order and then in the reverse order, so that a steady drift of the machine cancels out. A block
// gives one ratio, and the result is the mean of their logarithms (see metrics-paired.ts).
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { listenerOf, processTree } from "../../src/cli/bench/process-tree.ts";
import type { Figure } from "../report.ts";
import { trimmedMean, type TrimmedMean } from "../trimmed-mean.ts";
import { chunkMs, PacedSockets } from "./paced-sockets.ts";
import type { MeasuredServer } from "./servers.ts";

export interface FloorOptions {
  readonly streams: number;
  readonly blocks: number;
  readonly sliceMs: number;
  /** How much faster than in real time chunks are sent. */
  readonly speed: number;
}

const warmBlocks = 4;
const cpuRatioMax = 2;
const lagRatioMax = 1.5;

/**
 * Measures the first server, and any server between, against the last one, the bare server: at most
 * 2 times its CPU time of a chunk, and at most 1.5 times its p99 of the lag.
 */
export async function measureFloor(
  servers: readonly MeasuredServer[],
  options: FloorOptions,
): Promise<Figure[]> {
  using opened = new DisposableStack();
  const measured: Measured[] = [];
  for (const server of servers) {
    measured.push(opened.use(await Measured.open(server, options.streams)));
  }
  let [startMs, othersAtStart] = [0, 0];
  for (let block = -warmBlocks; block < options.blocks; block += 1) {
    if (block === 0) [startMs, othersAtStart] = [performance.now(), othersMs(measured)];
    // Each server is first in as many blocks.
    const from = (block + warmBlocks) % measured.length;
    const order = [...measured.slice(from), ...measured.slice(0, from)];
    for (const each of order) await each.slice(options);
    for (const each of order.toReversed()) await each.slice(options);
    for (const each of measured) each.endBlock(block >= 0);
  }
  const busy = (othersMs(measured) - othersAtStart) / (performance.now() - startMs);
  console.log(`other programs took ${busy.toFixed(2)} of ${availableParallelism()} cores`);
  const [first, bare, ...between] = [measured[0], measured.at(-1), ...measured.slice(1, -1)];
  if (!first || !bare) return [];
  return [
    ...[first, ...between].flatMap((each) => figuresOf(each, bare, options)),
    ...between.map((each) => changeOf(first, each)),
  ];
}

/** Returns what the CPU time of a chunk is to that of another version of the service. */
function changeOf(own: Measured, other: Measured): Figure {
  const { mean, error } = ratioOf(own.blocks, other.blocks, "mainUs");
  return {
    name: `CPU of a chunk, to ${other.name}`,
    ratio: Math.exp(mean),
    ratioMax: 1,
    note: `process of the sockets, standard error ${(100 * error).toFixed(1)} %`,
  };
}

function figuresOf(own: Measured, bare: Measured, { streams, blocks }: FloorOptions): Figure[] {
  const cpu = ratioOf(own.blocks, bare.blocks, "mainUs");
  const tree = ratioOf(own.blocks, bare.blocks, "treeUs");
  const means = (name: keyof Block) =>
    `${meanOf(own.blocks, name).toFixed(1)} to ${meanOf(bare.blocks, name).toFixed(1)}`;
  const lags = (part: number) => `${own.lagMs(part).toFixed(1)} to ${bare.lagMs(part).toFixed(1)}`;
  const from = `${own.name}, ${streams} streams`;
  const error = (ratio: TrimmedMean) => `standard error ${(100 * ratio.error).toFixed(1)} %`;
  return [
    {
      name: `${from}: CPU of a chunk, process of the sockets`,
      ratio: Math.exp(cpu.mean),
      ratioMax: cpuRatioMax,
      note: `${means("mainUs")} us, ${error(cpu)}, ${blocks} blocks`,
    },
    {
      name: `${from}: CPU of a chunk, with the engines`,
      ratio: Math.exp(tree.mean),
      ratioMax: cpuRatioMax,
      note: `${means("treeUs")} us, ${error(tree)}`,
    },
    {
      name: `${from}: p99 of the lag`,
      ratio: own.lagMs(0.99) / bare.lagMs(0.99),
      ratioMax: lagRatioMax,
      note: `${lags(0.99)} ms; p50 ${lags(0.5)} ms`,
    },
  ];
}

function ratioOf(own: readonly Block[], bare: readonly Block[], name: keyof Block): TrimmedMean {
  return trimmedMean(own.map((each, at) => Math.log(each[name] / (bare[at]?.[name] ?? NaN))));
}

function meanOf(blocks: readonly Block[], name: keyof Block): number {
  return trimmedMean(blocks.map((each) => each[name])).mean;
}

/** The CPU time of a chunk in one block. */
interface Block {
  readonly mainUs: number;
  readonly treeUs: number;
}

/** A server with its open streams. */
class Measured implements Disposable {
  readonly name: string;
  readonly blocks: Block[] = [];
  readonly #pid: number;
  /** The process and its engine processes. */
  readonly #pids: readonly number[];
  readonly #sockets: PacedSockets;
  #mainNs = 0;
  #treeNs = 0;
  #chunks = 0;

  private constructor(name: string, pids: readonly number[], sockets: PacedSockets) {
    this.name = name;
    this.#pid = pids[0] ?? 0;
    this.#pids = pids;
    this.#sockets = sockets;
  }

  static async open(server: MeasuredServer, streams: number): Promise<Measured> {
    const pid = await listenerOf(Number(new URL(server.url).port));
    if (pid === undefined) throw new Error(`nothing listens at ${server.url}`);
    const tree = await processTree(pid);
    const engines = tree.filter(({ name }) => name === "engine-process.ts");
    const pids = [pid, ...engines.map((each) => each.pid)];
    return new Measured(server.name, pids, await PacedSockets.open(server, streams));
  }

  async slice({ streams, sliceMs, speed }: FloorOptions): Promise<void> {
    const chunks = Math.round((speed * sliceMs) / chunkMs);
    const [main, tree] = [cpuNsOf(this.#pid), this.cpuNs];
    await this.#sockets.send(chunks, speed);
    this.#mainNs += cpuNsOf(this.#pid) - main;
    this.#treeNs += this.cpuNs - tree;
    this.#chunks += chunks * streams;
  }

  /** Ends a block, which counts unless the server was only warmed up. */
  endBlock(counts: boolean): void {
    const us = (ns: number) => ns / 1_000 / this.#chunks;
    if (counts) this.blocks.push({ mainUs: us(this.#mainNs), treeUs: us(this.#treeNs) });
    else this.#sockets.lagsMs.length = 0;
    [this.#mainNs, this.#treeNs, this.#chunks] = [0, 0, 0];
  }

  /** Returns the lag of this part of all answers, from the shortest. */
  lagMs(part: number): number {
    const lags = this.#sockets.lagsMs.toSorted((a, b) => a - b);
    return lags[Math.floor(lags.length * part)] ?? NaN;
  }

  /** The CPU time of the process and its engine processes so far. */
  get cpuNs(): number {
    return this.#pids.reduce((sum, pid) => sum + cpuNsOf(pid), 0);
  }

  [Symbol.dispose](): void {
    this.#sockets[Symbol.dispose]();
  }
}

/** The CPU time of all other programs, in milliseconds since the machine started. */
function othersMs(measured: readonly Measured[]): number {
  const [, ...ticks] = (/^cpu .*$/m.exec(readFileSync("/proc/stat", "utf8"))?.[0] ?? "")
    .split(/\s+/)
    .map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = ticks;
  const own = process.cpuUsage();
  const ownMs = (own.user + own.system) / 1_000;
  const busyMs = 10 * (user + nice + system + irq + softIrq);
  return busyMs - ownMs - measured.reduce((sum, { cpuNs }) => sum + cpuNs / 1e6, 0);
}

function cpuNsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nsOf = (thread: string) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return threads.reduce((sum, thread) => sum + nsOf(thread), 0);
}
