import { availableParallelism } from "node:os";
import { whole, type Setting } from "../std/setting.ts";

/** A front process is worth its memory if it has this many cores, most of which engines take. */
const coresOfFront = 4;
const frontsMaxByCores = 4;

/** Returns the number of front processes for a number of cores: 1 for fewer than 8. */
export function frontsForCores(cores: number): number {
  return Math.min(frontsMaxByCores, Math.max(1, Math.floor(cores / coresOfFront)));
}

export const frontSettings = {
  frontProcesses: {
    name: "HLUST_FRONT_PROCESSES",
    meaning:
      "Processes that share the port, 1 to 64. With 1, the main process serves the port itself",
    fallback: "one for each 4 cores, 1 to 4",
    parse: (text, name) =>
      text === undefined ? frontsForCores(availableParallelism()) : whole(text, name, 1, 64),
  },
} satisfies Record<string, Setting<number>>;
