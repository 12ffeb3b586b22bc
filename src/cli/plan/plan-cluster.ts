import { liveShareMax } from "../../engines/pool/admission.ts";
import { processesWithin } from "../../models/model-memory.ts";
import { ServiceError } from "../../std/service-error.ts";
import { publishedCosts } from "./published-costs.ts";

/** The work for which machines are planned. */
export interface PlannedWork {
  /** Live streams at a time. */
  readonly streams: number;
  /** Hours of recordings a day. */
  readonly hoursPerDay: number;
  /** The hours of a day within which the recordings have to be done. */
  readonly busyHours: number;
  /** The share of a live stream that is speech: 0 to 1. */
  readonly speechShare: number;
}

/** What a model costs on a machine, as measured there. */
export interface ModelFigures {
  readonly name: string;
  /** CPU seconds for a second of a live stream; undefined if the model has no live use. */
  readonly live?: { readonly speech: number; readonly silence: number } | undefined;
  /** CPU seconds for a second of a recording; undefined if the model has no jobs. */
  readonly job?: number | undefined;
  /** The memory of an engine process. */
  readonly processBytes: number;
  /** The size of the model's files. */
  readonly modelBytes: number;
}

/** The machines of a plan, which are alike. */
export interface PlannedMachine {
  readonly cores: number;
  readonly memoryBytes: number;
  /** The share of each core that is left free: 0 to 1. */
  readonly headroom: number;
}

const partNames = ["front ends", "workers", "engines", "PostgreSQL"] as const;
export type PartName = (typeof partNames)[number];

/** What a part of a cluster needs. */
export interface PlannedPart {
  readonly name: PartName;
  /** Front ends and workers: main processes of nodes. Engines: engine processes. */
  readonly processes: number;
  /** The cores, headroom included. */
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface ClusterPlan {
  readonly parts: readonly PlannedPart[];
  readonly cores: number;
  readonly memoryBytes: number;
  readonly machines: number;
  /** The machines that are engine nodes; 0 if one machine of role `all` does everything. */
  readonly engineNodes: number;
  /** The live streams that an engine process and a front end can have at most. */
  readonly streamsMax: { readonly engineProcess: number; readonly frontEnd: number };
  /** What is used up first when the work grows, and the share of it that is in use. */
  readonly limit: { readonly what: string; readonly share: number };
}

/**
 * Returns the machines that the work needs with a model. Throws ServiceError if the model cannot do
 * the work, or does not fit into a machine.
 */
export function planCluster(
  work: PlannedWork,
  model: ModelFigures,
  machine: PlannedMachine,
): ClusterPlan {
  const { streams } = work;
  const usable = 1 - machine.headroom;
  const frontEndStreams = Math.floor((1000 * usable) / perSecond("frontEnd"));
  const processStreams = streamsOfProcess(work, model, Math.min(usable, liveShareMax));
  // Recordings of M hours a day are on average M / busyHours recordings at a time.
  const recordings = work.hoursPerDay / work.busyHours;
  const jobCores = recordings * jobCost(work, model);
  const engineCores = (streams > 0 ? streams / processStreams : 0) + jobCores / usable;
  const frontEnds = Math.max(1, wholeUp(streams / frontEndStreams));
  const { recordingCpuMs } = publishedCosts;
  const workerCores = (recordings * recordingCpuMs.worker) / 1000 / usable;
  const workers = wholeUp(workerCores);
  const processes = wholeUp(engineCores);
  const databaseMs = streams * perSecond("database") + recordings * recordingCpuMs.database;
  const { frontEndBytes, streamBytes, workerBytes, databaseBytes } = publishedCosts;
  const frontEndMemory = frontEnds * frontEndBytes + streams * streamBytes;
  const parts: readonly PlannedPart[] = [
    part(
      "front ends",
      frontEnds,
      (streams * perSecond("frontEnd")) / 1000 / usable,
      frontEndMemory,
    ),
    part("workers", workers, workerCores, workers * workerBytes),
    part("engines", processes, engineCores, processes * model.processBytes),
    part("PostgreSQL", 1, databaseMs / 1000 / usable, databaseBytes),
  ];
  const placed = place(parts, model, machine);
  return {
    parts,
    ...placed,
    streamsMax: { engineProcess: processStreams, frontEnd: frontEndStreams },
    limit: limitOf(parts, placed, machine),
  };
}

function part(name: PartName, processes: number, cores: number, memoryBytes: number): PlannedPart {
  return { name, processes, cores, memoryBytes };
}

/** Returns the CPU milliseconds that a live stream takes a second, apart from recognition. */
function perSecond(of: keyof typeof publishedCosts.chunkCpuMs): number {
  return publishedCosts.chunksPerSecond * publishedCosts.chunkCpuMs[of];
}

/** A session stays in one process, so a process has a whole number of streams. */
function streamsOfProcess(work: PlannedWork, model: ModelFigures, usable: number): number {
  const { streams, speechShare } = work;
  const { name, live } = model;
  if (!live) {
    if (streams === 0) return 0;
    throw impossible(
      `--streams must be 0, not ${streams}: ${name} does not recognize live streams`,
    );
  }
  const recognition = speechShare * live.speech + (1 - speechShare) * live.silence;
  const cost = recognition + perSecond("engine") / 1000;
  const most = Math.floor(usable / cost);
  if (most > 0 || streams === 0) return most;
  throw impossible(
    `--streams must be 0, not ${streams}: ${name} takes ${cost.toFixed(2)} s of CPU time for each second of a live stream on this machine, and ${usable.toFixed(2)} s is the limit of a core; choose a faster model or less --headroom`,
  );
}

function jobCost({ hoursPerDay }: PlannedWork, { name, job }: ModelFigures): number {
  if (job !== undefined) return job;
  if (hoursPerDay === 0) return 0;
  throw impossible(`--hours-per-day must be 0, not ${hoursPerDay}: ${name} is not used for jobs`);
}

/** Places the parts on machines: on one if it has room for all, else engines apart. */
function place(
  parts: readonly PlannedPart[],
  { name, processBytes, modelBytes }: ModelFigures,
  { cores, memoryBytes }: PlannedMachine,
) {
  const fitting = Math.floor(memoryBytes / processBytes);
  if (fitting < 1) {
    throw impossible(
      `--memory must be at least ${gibibytes(processBytes)} GiB, not ${gibibytes(memoryBytes)}: an engine process of ${name} takes that much`,
    );
  }
  const processesMax = Math.min(processesWithin(modelBytes, cores, memoryBytes), fitting);
  const sum = (of: readonly PlannedPart[]) => ({
    cores: of.reduce((all, each) => all + each.cores, 0),
    memoryBytes: of.reduce((all, each) => all + each.memoryBytes, 0),
  });
  const machinesFor = (of: readonly PlannedPart[]) => {
    const needed = sum(of);
    return Math.max(wholeUp(needed.cores / cores), wholeUp(needed.memoryBytes / memoryBytes));
  };
  const engines = parts.filter((each) => each.name === "engines");
  const processes = engines.reduce((all, each) => all + each.processes, 0);
  // A node of role `all` answers calls and works on recordings in one main thread.
  const main = sum(parts.filter((each) => isMain(each.name)));
  const isOne = machinesFor(parts) <= 1 && processes <= processesMax && main.cores <= 1;
  const engineNodes = isOne ? 0 : Math.max(1, wholeUp(processes / processesMax));
  const others = machinesFor(parts.filter((each) => each.name !== "engines"));
  return { ...sum(parts), engineNodes, machines: isOne ? 1 : engineNodes + others, processesMax };
}

/** Whether the processes of this part are the main processes of nodes. */
function isMain(name: PartName): boolean {
  return name === "front ends" || name === "workers";
}

/** Returns what is used up first when all of the work grows alike. */
function limitOf(
  parts: readonly PlannedPart[],
  placed: ReturnType<typeof place>,
  machine: PlannedMachine,
): ClusterPlan["limit"] {
  const { machines, engineNodes, processesMax } = placed;
  const largest = parts.reduce((most, each) => (each.cores > most.cores ? each : most));
  const main = parts.filter(({ name, processes }) => isMain(name) && processes > 0);
  const ofEngines = parts.find(({ name }) => name === "engines")?.cores ?? 0;
  const threads =
    engineNodes === 0
      ? [{ what: "the main thread", share: main.reduce((all, { cores }) => all + cores, 0) }]
      : main.map(({ name, processes, cores }) => ({
          what: `the main threads of ${name}`,
          share: cores / processes,
        }));
  const [first] = [
    { what: `cores, mostly of ${largest.name}`, share: placed.cores / machines / machine.cores },
    { what: "memory", share: placed.memoryBytes / machines / machine.memoryBytes },
    {
      what: `engine processes, ${processesMax < machine.cores ? "by memory" : "one a core"}`,
      share: ofEngines / (Math.max(1, engineNodes) * processesMax),
    },
    ...threads,
  ].toSorted((a, b) => b.share - a.share);
  return first ?? { what: "cores", share: 0 };
}

/** Rounds up; what is only an error of binary fractions counts as whole. */
function wholeUp(value: number): number {
  return Math.max(0, Math.ceil(value - 1e-9));
}

/** Returns a number of bytes in GiB, rounded up to tenths. */
export function gibibytes(bytes: number): string {
  return (Math.ceil((10 * bytes) / (1 << 30)) / 10).toFixed(1);
}

function impossible(message: string): ServiceError {
  return new ServiceError("failed_precondition", message);
}
