import type { Command } from "./command.ts";

export const evaluate: Command = {
  summary: "measure error rates on recordings of your own",
  run: async (...call) =>
    (await import("./evaluate/evaluate-command.ts")).evaluateManifest(...call),
};
