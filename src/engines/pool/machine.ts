import { availableParallelism } from "node:os";
import type { LoadedProcess } from "./admission.ts";

/** A machine on which engine processes run. They share its cores. */
export interface Machine {
  readonly cores: number;
  /** Returns the processes of all models on the machine. */
  readonly processes: () => readonly LoadedProcess[];
}

/** Returns this machine, with its processes. */
export function thisMachine(processes: Machine["processes"]): Machine {
  return { cores: availableParallelism(), processes };
}
