import { totalmem } from "node:os";

/**
 * The maximum share of the machine's memory for all processes of a model together. A loaded model
 * takes about memoryPerByte bytes per byte of its files.
 */
const memoryShareMax = 0.25;
const memoryPerByte = 2;

/** Returns about how many bytes of memory a process takes for a model with files of this size. */
export function memoryOf(modelBytes: number): number {
  return modelBytes * memoryPerByte;
}

/** Returns the number of a model's processes that fit into the memory: at least one. */
export function processesWithin(
  modelBytes: number,
  processes: number,
  memoryBytes = totalmem(),
): number {
  const fitting = Math.floor((memoryBytes * memoryShareMax) / memoryOf(modelBytes));
  return Math.max(1, Math.min(processes, fitting));
}
