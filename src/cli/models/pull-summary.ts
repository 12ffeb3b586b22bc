import type { ModelUse } from "../../models/model-choice.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { megabytes } from "../../models/disk-room.ts";
import { memoryOf, processesWithin } from "../../models/model-memory.ts";
import type { PullPlan } from "../../models/pull-plan.ts";

/** The machine on which a model is to run. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * Returns what a pull takes, and what the machine can do with the model, in lines of text: the
 * download, the disk, the memory and the uses.
 */
export function pullSummary(card: ModelCard, plan: PullPlan, machine: Machine): readonly string[] {
  const { downloadBytes, downloadedBytes, installedBytes, freeBytes } = plan;
  const here = downloadedBytes > 0 ? `, of which ${megabytes(downloadedBytes)} are here` : "";
  const disk = installedBytes === undefined ? "unknown" : `about ${megabytes(installedBytes)}`;
  return [
    `download: ${downloadBytes === undefined ? "of unknown size" : megabytes(downloadBytes)}${here}`,
    `disk:     ${disk} when installed; ${megabytes(freeBytes)} are free`,
    `memory:   ${memoryLine(installedBytes ?? downloadBytes, machine)}`,
    `runs:     ${usesLine(card)}`,
  ];
}

function memoryLine(modelBytes: number | undefined, { cores, memoryBytes }: Machine): string {
  const has = `this machine has ${megabytes(memoryBytes)} and ${cores} cores`;
  if (modelBytes === undefined) return `unknown; ${has}`;
  const needed = memoryOf(modelBytes);
  const process = `about ${megabytes(needed)} for each process; ${has}`;
  if (needed > memoryBytes) return `${process}: it is TOO LARGE for this machine`;
  const count = processesWithin(modelBytes, cores, memoryBytes);
  return `${process}: ${count === 1 ? "1 process" : `${count} processes`}`;
}

const meanings: Readonly<Record<ModelUse, string>> = {
  live: "live streams",
  short: "short recordings",
  job: "jobs",
};

function usesLine({ kind, uses }: ModelCard): string {
  if (kind === "diarization") return "speakers of jobs";
  const all = uses.map((use) => meanings[use]).join(", ");
  const isWhole = !kind.startsWith("streaming-");
  if (!uses.includes("live")) return `${all}; not live streams, unless it is chosen for them`;
  return isWhole ? `${all}; interim results come late, since it recognizes whole utterances` : all;
}

/** Returns what a live stream costs, as measured when the model was tested. */
export function costLine(cpuPerSpeech: number, cores: number): string {
  const cost = `recognition took ${cpuPerSpeech.toFixed(2)} s of CPU time for each second of speech`;
  const streams = cpuPerSpeech > 0 ? Math.floor(cores / cpuPerSpeech) : 0;
  if (cpuPerSpeech === 0) return cost;
  if (streams === 0)
    return `${cost}: this machine, with ${cores} cores, is too slow for live streams`;
  return `${cost}: at most ${streams} live streams at a time on ${cores} cores`;
}
