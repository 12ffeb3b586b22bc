import type { Command } from "./command.ts";

export const console: Command = {
  summary: "print a link that opens the console, signed in; --help says as whom",
  async run(args, environment) {
    const { openConsole } = await import("./console/open-console.ts");
    await openConsole(args, environment);
    return undefined;
  },
};
