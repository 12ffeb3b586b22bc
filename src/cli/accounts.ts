import { commandGroup, type Subcommand } from "./command-group.ts";
import type { Command } from "./command.ts";
import { describeOptions, type OptionTable } from "./options.ts";

const subcommands: Readonly<Record<string, Subcommand>> = {
  list: {
    call: "list",
    summary: "all accounts, the oldest first",
    run: async (...call) => await (await import("./accounts/list-accounts.ts")).list(...call),
  },
  add: {
    call: "add NAME [--key]",
    summary: "make one, with an API key of every scope: the key goes to standard output, this once",
    run: async (...call) => await (await import("./accounts/add-account.ts")).add(...call),
  },
  rename: {
    call: "rename ID NAME",
    summary: "call it something else",
    run: async (...call) => await (await import("./accounts/change-account.ts")).rename(...call),
  },
  disable: {
    call: "disable ID",
    summary: "let nobody of it in; what it has stays",
    run: async (...call) =>
      await (await import("./accounts/change-account.ts")).disableOrEnable(true, ...call),
  },
  enable: {
    call: "enable ID",
    summary: "let them in again",
    run: async (...call) =>
      await (await import("./accounts/change-account.ts")).disableOrEnable(false, ...call),
  },
  delete: {
    call: "delete ID [--yes]",
    summary: "say what it has; with --yes delete all of it for good, but for its audit log",
    run: async (...call) => await (await import("./accounts/delete-account.ts")).remove(...call),
  },
  members: {
    call: "members ID",
    summary: "the people of an account",
    run: async (...call) => await (await import("./accounts/members.ts")).list(...call),
  },
  "add-member": {
    call: "add-member ID --email E [--name N] --role R",
    summary: "invite a person: OWNER, MEMBER or VIEWER",
    run: async (...call) => await (await import("./accounts/members.ts")).add(...call),
  },
  "remove-member": {
    call: "remove-member ID MEMBER",
    summary: "by e-mail address or members/<id>",
    run: async (...call) => await (await import("./accounts/members.ts")).remove(...call),
  },
  "set-role": {
    call: "set-role ID MEMBER ROLE",
    summary: "a new role holds within a second",
    run: async (...call) => await (await import("./accounts/members.ts")).setRole(...call),
  },
  limits: {
    call: "limits ID [options]",
    summary: "show what is limited, after setting what is given",
    run: async (...call) => await (await import("./accounts/set-limits.ts")).limits(...call),
  },
};

export const accounts: Command = commandGroup({
  name: "accounts",
  summary: "make, show, limit and delete accounts, and their members",
  subcommands,
  notes: async () => {
    const { limitsOptions } = await import("./accounts/set-limits.ts");
    const table: OptionTable = limitsOptions;
    return `Options of limits (0: no limit; default: as the settings have it):\n${describeOptions(table)}\nAll take --json. HLUST_DATA or DATABASE_URL says where the service keeps what it has; it may run.\n`;
  },
});
