import { availableParallelism, totalmem } from "node:os";
import { readCatalogue } from "../../models/catalogue.ts";
import { readModels } from "../../models/models-folder.ts";
import { pullModel } from "../../models/pull-model.ts";
import { planPull } from "../../models/pull-plan.ts";
import { ServiceError } from "../../std/service-error.ts";
import { confirm } from "./confirm.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";
import { nearestNames } from "../nearest-names.ts";
import { oneName, takeSwitch } from "./one-name.ts";
import { PullDisplay } from "./pull-display.ts";
import { costLine, pullSummary } from "./pull-summary.ts";

/**
 * Runs `hlust models pull NAME`: shows what a model takes, asks on a terminal, and installs it from
 * the catalogue. Returns 1 if the user declines.
 */
export async function pull(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { verify }: ModelTools,
): Promise<number | undefined> {
  const { rest: others, isOn: isAgreed } = takeSwitch(args, "--yes");
  const { rest, isOn: isUnverified } = takeSwitch(others, "--no-verify");
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
    return undefined;
  }
  process.stdout.write(`${name} ${version}, licence ${licence}, from ${source}\n`);
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  const plan = await planPull(entry, folders.installed);
  process.stdout.write(
    pullSummary(entry.card, plan, machine)
      .map((line) => `${line}\n`)
      .join(""),
  );
  const isAsked = process.stdin.isTTY && process.stdout.isTTY && !isAgreed;
  if (isAsked && !(await confirm("Continue?", { input: process.stdin, output: process.stdout }))) {
    process.stdout.write("Nothing was downloaded.\n");
    return 1;
  }
  let cpuPerSpeech: number | undefined;
  const display = new PullDisplay(process.stderr);
  try {
    await pullModel(entry, {
      modelsFolder: folders.installed,
      onProgress: (progress) => display.show(progress),
      ...(verify &&
        !isUnverified && {
          verify: async (folder: string) => {
            cpuPerSpeech = await verify(folder);
          },
        }),
    });
  } finally {
    display.end();
  }
  process.stdout.write(`${name} is installed in ${folders.installed}\n`);
  if (cpuPerSpeech !== undefined) {
    process.stdout.write(`${costLine(cpuPerSpeech, machine.cores)}\n`);
  }
  return undefined;
}
