import type { Command } from "./command.ts";

export const plan: Command = {
  summary: "compute the machines for a number of live streams and hours of recordings a day",
  run: async (...call) => (await import("./plan/plan-command.ts")).planMachines(...call),
};
