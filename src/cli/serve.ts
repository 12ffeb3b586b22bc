import { refuseArguments, type Command } from "./command.ts";

export const serve: Command = {
  summary: "run the service; settings come from the environment",
  async run(args, environment) {
    refuseArguments(args);
    await (await import("../main.ts")).serve(environment);
    return undefined;
  },
};
