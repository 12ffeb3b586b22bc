import { commandGroup, type Subcommand } from "./command-group.ts";
import type { Command } from "./command.ts";
import type { ModelTools } from "./models/model-tools.ts";

/** Returns the tools that load and test models. */
async function toolsOf(environment: NodeJS.ProcessEnv): Promise<ModelTools> {
  const { engineTools } = await import("./models/engine-tools.ts");
  return engineTools(environment);
}

const subcommands: Readonly<Record<string, Subcommand>> = {
  list: {
    call: "list",
    summary: "list installed models, and why some cannot be used",
    run: async (...call) => (await import("./models/list-command.ts")).listModels(...call),
  },
  available: {
    call: "available",
    summary: "list models that can be installed",
    run: async (...call) => (await import("./models/available-command.ts")).listAvailable(...call),
  },
  pull: {
    call: "pull NAME",
    summary: "download and install a model; an interrupted download resumes",
    run: async (args, environment) => {
      const { pull } = await import("./models/pull-command.ts");
      return await pull(args, environment, await toolsOf(environment));
    },
  },
  add: {
    call: "add FOLDER",
    summary: "install a copy of a folder with a model.json and its files",
    run: async (args, environment) => {
      const { add } = await import("./models/add-command.ts");
      await add(args, environment, await toolsOf(environment));
    },
  },
  remove: {
    call: "remove NAME",
    summary: "remove an installed model; a running service keeps using what it has loaded",
    run: async (...call) => (await import("./models/remove-command.ts")).remove(...call),
  },
  test: {
    call: "test NAME [FILE]",
    summary: "show what a model recognizes in a WAV file; default: a sample",
    run: async (args, environment) => {
      const { testModel } = await import("./models/test-command.ts");
      await testModel(args, environment, await toolsOf(environment));
    },
  },
};

export const models: Command = commandGroup({
  name: "models",
  summary: "install, list and remove speech recognition models",
  subcommands,
  notes: async () =>
    "`list` and `available` accept --json. `pull` and `add` accept --no-verify: install a model without testing it.\n" +
    "`pull` asks before it downloads, if it runs in a terminal; --yes goes ahead. `test` accepts --report: print what a report of a failure needs.\n" +
    "HLUST_MODELS is the folder of installed models, HLUST_CATALOGUE another catalogue.\n",
});
