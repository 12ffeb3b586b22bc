import { readModels } from "../../models/models-folder.ts";
import { ServiceError } from "../../std/service-error.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";
import { nearestNames } from "./nearest-names.ts";
import { noPositionals, oneName } from "./one-name.ts";

/** Runs `hlust models test NAME [FILE]`: shows what a model recognizes and how long it takes. */
export async function testModel(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { recognize }: ModelTools,
): Promise<void> {
  const name = oneName(args.slice(0, 1), "the name of a model");
  const [file, ...more] = args.slice(1);
  noPositionals(more);
  const { models, refused } = await readModels(modelSettings(environment).folders);
  const model = models.find(({ card }) => card.name === name);
  if (!model) {
    const broken = refused.find(({ folder }) => folder.endsWith(`/${name}`));
    if (broken) throw new ServiceError("failed_precondition", `${broken.folder}: ${broken.reason}`);
    const names = models.map(({ card }) => card.name);
    throw new ServiceError(
      "not_found",
      `no model ${JSON.stringify(name)} is installed${nearestNames(name, names)}`,
    );
  }
  if (!recognize) throw new ServiceError("unimplemented", "this version cannot test models");
  const { text, audioSeconds, tookMs } = await recognize(model, file);
  const factor = tookMs / 1000 / audioSeconds;
  process.stdout.write(
    `${text}\n\n${audioSeconds.toFixed(1)} s of audio in ${(tookMs / 1000).toFixed(1)} s: ${factor.toFixed(3)} of real time\n`,
  );
}
