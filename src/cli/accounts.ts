import { commandGroup, type Subcommand } from "./command-group.ts";
import type { Command } from "./command.ts";
import { describeOptions, type OptionTable } from "./options.ts";

const subcommands: Readonly<Record<string, Subcommand>> = {
  list: {
    call: "list",
    summary: "list all accounts, the oldest first",
    run: async (...call) => await (await import("./accounts/list-accounts.ts")).list(...call),
  },
  add: {
    call: "add NAME [--key]",
    summary:
      "create an account; --key adds an API key with every scope of an account, printed once to standard output",
    run: async (...call) => await (await import("./accounts/add-account.ts")).add(...call),
  },
  rename: {
    call: "rename ID NAME",
    summary: "change the display name",
    run: async (...call) => await (await import("./accounts/change-account.ts")).rename(...call),
  },
  disable: {
    call: "disable ID",
    summary: "refuse all keys and members of an account; its data is kept",
    run: async (...call) =>
      await (await import("./accounts/change-account.ts")).disableOrEnable(true, ...call),
  },
  enable: {
    call: "enable ID",
    summary: "accept the keys and members of an account again",
    run: async (...call) =>
      await (await import("./accounts/change-account.ts")).disableOrEnable(false, ...call),
  },
  delete: {
    call: "delete ID [--yes]",
    summary:
      "show what an account has; with --yes delete all of it permanently, except its audit log",
    run: async (...call) => await (await import("./accounts/delete-account.ts")).remove(...call),
  },
  members: {
    call: "members ID",
    summary: "list the members of an account",
    run: async (...call) => await (await import("./accounts/members.ts")).list(...call),
  },
  "add-member": {
    call: "add-member ID --email E [--name N] --role R",
    summary: "invite a person: OWNER, MEMBER or VIEWER",
    run: async (...call) => await (await import("./accounts/members.ts")).add(...call),
  },
  "remove-member": {
    call: "remove-member ID MEMBER",
    summary: "remove a member, by e-mail address or members/<id>",
    run: async (...call) => await (await import("./accounts/members.ts")).remove(...call),
  },
  "set-role": {
    call: "set-role ID MEMBER ROLE",
    summary: "change a role, with effect within a second",
    run: async (...call) => await (await import("./accounts/members.ts")).setRole(...call),
  },
  "set-operator": {
    call: "set-operator ID MEMBER YES|NO",
    summary: "let a member manage the whole service, or no longer",
    run: async (...call) => await (await import("./accounts/members.ts")).setOperator(...call),
  },
  limits: {
    call: "limits ID [options]",
    summary: "set the given limits, then show all",
    run: async (...call) => await (await import("./accounts/set-limits.ts")).limits(...call),
  },
};

export const accounts: Command = commandGroup({
  name: "accounts",
  summary: "manage accounts, their limits and their members",
  subcommands,
  notes: async () => {
    const { limitsOptions } = await import("./accounts/set-limits.ts");
    const table: OptionTable = limitsOptions;
    return `Options of limits (0: no limit; "default": the limit in the service's settings):\n${describeOptions(table)}\nAll accept --json. HLUST_DATA or DATABASE_URL names the service's database; the service may be running.\n`;
  },
});
