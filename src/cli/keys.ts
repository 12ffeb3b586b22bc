import { commandGroup } from "./command-group.ts";
import type { Command } from "./command.ts";
import { describeOptions, type OptionTable } from "./options.ts";

export const keys: Command = commandGroup({
  name: "keys",
  summary: "make, show and revoke the keys that callers show",
  subcommands: {
    list: {
      call: "list [--account ID]",
      summary: "API keys and client keys, the newest first",
      run: async (...call) => await (await import("./keys/list-keys.ts")).list(...call),
    },
    create: {
      call: "create [options]",
      summary:
        "make an API key: it goes to standard output, this once, and words to standard error",
      run: async (...call) => await (await import("./keys/create-key.ts")).create(...call),
    },
    revoke: {
      call: "revoke ID",
      summary: "every node refuses it within a second, and ends its streams within five",
      run: async (...call) => await (await import("./keys/revoke-key.ts")).revoke(...call),
    },
  },
  notes: async () => {
    const { createOptions } = await import("./keys/create-key.ts");
    const table: OptionTable = createOptions;
    return `Options of create:\n${describeOptions(table)}\nAll take --json. HLUST_DATA or DATABASE_URL says where the service keeps what it has; it may run.\n`;
  },
});
