import { readCatalogue } from "../../models/catalogue.ts";
import { readModels } from "../../models/models-folder.ts";
import { pullModel } from "../../models/pull-model.ts";
import { ServiceError } from "../../std/service-error.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";
import { nearestNames } from "./nearest-names.ts";
import { oneName, takeSwitch } from "./one-name.ts";
import { PullDisplay } from "./pull-display.ts";

/** Runs `hlust models pull NAME`: installs a model from the catalogue. */
export async function pull(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { verify }: ModelTools,
): Promise<void> {
  const { rest, isOn: isUnverified } = takeSwitch(args, "--no-verify");
  const name = oneName(rest, "the name of a model");
  const { folders, catalogueFile } = modelSettings(environment);
  const entries = await readCatalogue(catalogueFile);
  const entry = entries.find(({ card }) => card.name === name);
  if (!entry) {
    const names = entries.map(({ card }) => card.name);
    throw new ServiceError(
      "not_found",
      `the catalogue has no model ${JSON.stringify(name)}${nearestNames(name, names)}`,
    );
  }
  const { version, licence, source } = entry.card;
  const here = (await readModels(folders)).models.find(({ card }) => card.name === name);
  if (here && !here.isBuiltin && here.card.version === version) {
    process.stdout.write(`${name} ${version} is already installed, in ${here.folder}\n`);
    return;
  }
  process.stdout.write(`${name} ${version}, licence ${licence}, from ${source}\n`);
  const display = new PullDisplay(process.stderr);
  try {
    await pullModel(entry, {
      modelsFolder: folders.installed,
      onProgress: (progress) => display.show(progress),
      ...(verify && !isUnverified && { verify }),
    });
  } finally {
    display.end();
  }
  process.stdout.write(`${name} is installed in ${folders.installed}\n`);
}
