import { commandGroup } from "./command-group.ts";
import type { Command } from "./command.ts";
import { describeOptions, type OptionTable } from "./options.ts";

export const keys: Command = commandGroup({
  name: "keys",
  summary: "create, list and revoke keys of the API",
  subcommands: {
    list: {
      call: "list [--account ID]",
      summary: "list API keys and client keys, the newest first",
      run: async (...call) => await (await import("./keys/list-keys.ts")).list(...call),
    },
    create: {
      call: "create [options]",
      summary: "create an API key, which is printed once to standard output",
      run: async (...call) => await (await import("./keys/create-key.ts")).create(...call),
    },
    revoke: {
      call: "revoke ID",
      summary: "revoke a key: it is refused within a second, and its streams end within five",
      run: async (...call) => await (await import("./keys/revoke-key.ts")).revoke(...call),
    },
  },
  notes: async () => {
    const { createOptions } = await import("./keys/create-key.ts");
    const table: OptionTable = createOptions;
    return `Options of create:\n${describeOptions(table)}\nAll accept --json. HLUST_DATA or DATABASE_URL names the service's database; the service may be running.\n`;
  },
});
