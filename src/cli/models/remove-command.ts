import { removeModel } from "../../models/install-model.ts";
import { readModels } from "../../models/models-folder.ts";
import { ServiceError } from "../../std/service-error.ts";
import { modelSettings } from "./model-settings.ts";
import { nearestNames } from "../nearest-names.ts";
import { oneName } from "./one-name.ts";

/** Runs `hlust models remove NAME`: removes an installed model. */
export async function remove(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const name = oneName(args, "the name of a model");
  const { folders } = modelSettings(environment);
  try {
    await removeModel(folders, name);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    const names = (await readModels(folders)).models.map(({ card }) => card.name);
    throw new ServiceError("not_found", `${error.message}${nearestNames(name, names)}`);
  }
  process.stdout.write(`${name} is removed\n`);
}
