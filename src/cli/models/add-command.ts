import { addModel } from "../../models/add-model.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";
import { oneName, takeSwitch } from "./one-name.ts";

/** Runs `hlust models add FOLDER`: installs a copy of a model's folder. */
export async function add(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { verify }: ModelTools,
): Promise<void> {
  const { rest, isOn: isUnverified } = takeSwitch(args, "--no-verify");
  const folder = oneName(rest, "the folder of a model");
  const { installed } = modelSettings(environment).folders;
  const { name, version } = await addModel(folder, {
    modelsFolder: installed,
    ...(verify && !isUnverified && { verify }),
  });
  process.stdout.write(`${name} ${version} is installed in ${installed}\n`);
}
