import { availableParallelism } from "node:os";
import { whole, type Setting } from "../std/setting.ts";

/** Cores for each front process by default: the engines of its streams need most of them. */
const coresPerFront = 4;
const byCoresMax = 4;

export const frontSettings = {
  frontProcesses: {
    name: "HLUST_FRONT_PROCESSES",
    meaning:
      "Processes that share the port, 1 to 64; each serves about 1,300 live streams. With 1, the main process serves the port itself",
    fallback: "one for every 4 cores, 1 to 4",
    parse: (text, name) =>
      text === undefined ? frontsByCores(availableParallelism()) : whole(text, name, 1, 64),
  },
} satisfies Record<string, Setting<number>>;

export function frontsByCores(cores: number): number {
  return Math.min(byCoresMax, Math.max(1, Math.floor(cores / coresPerFront)));
}
