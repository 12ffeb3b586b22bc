import { commandGroup, type Subcommand } from "./command-group.ts";
import type { Command } from "./command.ts";
import type { ModelTools } from "./models/model-tools.ts";

/** What loads models and lets them hear, for `test` and for what is installed. */
async function toolsOf(environment: NodeJS.ProcessEnv): Promise<ModelTools> {
  const { engineTools } = await import("./models/engine-tools.ts");
  return engineTools(environment);
}

const subcommands: Readonly<Record<string, Subcommand>> = {
  list: {
    call: "list",
    summary: "models that are here, and what is wrong with those that cannot be used",
    run: async (...call) => (await import("./models/list-command.ts")).listModels(...call),
  },
  available: {
    call: "available",
    summary: "models that can be installed",
    run: async (...call) => (await import("./models/available-command.ts")).listAvailable(...call),
  },
  pull: {
    call: "pull NAME",
    summary: "download and install one; what broke off is gone on with",
    run: async (args, environment) => {
      const { pull } = await import("./models/pull-command.ts");
      await pull(args, environment, await toolsOf(environment));
    },
  },
  add: {
    call: "add FOLDER",
    summary: "install a copy of a folder that has a model.json and its files",
    run: async (args, environment) => {
      const { add } = await import("./models/add-command.ts");
      await add(args, environment, await toolsOf(environment));
    },
  },
  remove: {
    call: "remove NAME",
    summary: "remove an installed one; what a running service has loaded of it goes on working",
    run: async (...call) => (await import("./models/remove-command.ts")).remove(...call),
  },
  test: {
    call: "test NAME [FILE]",
    summary: "show what a model hears, in a WAV file or in its own sample",
    run: async (args, environment) => {
      const { testModel } = await import("./models/test-command.ts");
      await testModel(args, environment, await toolsOf(environment));
    },
  },
};

export const models: Command = commandGroup({
  name: "models",
  summary: "install, show and remove models that recognize speech",
  subcommands,
  notes: async () =>
    "`list` and `available` take --json; `pull` and `add` take --no-verify: the model is not loaded and tried before it is installed.\n" +
    "HLUST_MODELS is the folder, HLUST_CATALOGUE another catalogue.\n",
});
