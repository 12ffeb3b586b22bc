import { refuseArguments, type Command } from "./command.ts";

export const config: Command = {
  summary: "show every setting with its meaning, value and default",
  async run(args, environment) {
    refuseArguments(args);
    const { describeConfig } = await import("../config.ts");
    process.stdout.write(describeConfig(environment));
    return undefined;
  },
};
