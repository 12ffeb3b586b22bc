import type { Command } from "./command.ts";

export const console: Command = {
  summary: "print a link that signs in to the console",
  async run(args, environment) {
    const { openConsole } = await import("./console/open-console.ts");
    await openConsole(args, environment);
    return undefined;
  },
};
