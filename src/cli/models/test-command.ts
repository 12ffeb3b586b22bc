import { readModels } from "../../models/models-folder.ts";
import { ServiceError } from "../../std/service-error.ts";
import { failureReport, type ReportedModel } from "./failure-report.ts";
import { modelSettings } from "./model-settings.ts";
import type { ModelTools } from "./model-tools.ts";
import { nearestNames } from "../nearest-names.ts";
import { noPositionals, oneName, takeSwitch } from "./one-name.ts";

/**
 * Runs `hlust models test NAME [FILE]`: shows what a model recognizes and how long it takes. If it
 * fails, or with --report, prints what a report of the failure needs.
 */
export async function testModel(
  all: readonly string[],
  environment: NodeJS.ProcessEnv,
  { recognize }: ModelTools,
): Promise<void> {
  const { rest: args, isOn: isReported } = takeSwitch(all, "--report");
  const name = oneName(args.slice(0, 1), "the name of a model");
  const [file, ...more] = args.slice(1);
  noPositionals(more);
  const { models, refused } = await readModels(modelSettings(environment).folders);
  const model = models.find(({ card }) => card.name === name);
  if (!model) {
    const broken = refused.find(({ folder }) => folder.endsWith(`/${name}`));
    if (broken) {
      const error = new ServiceError("failed_precondition", `${broken.folder}: ${broken.reason}`);
      await printReport(undefined, error);
      throw error;
    }
    const names = models.map(({ card }) => card.name);
    throw new ServiceError(
      "not_found",
      `no model ${JSON.stringify(name)} is installed${nearestNames(name, names)}`,
    );
  }
  if (!recognize) throw new ServiceError("unimplemented", "this version cannot test models");
  try {
    const { text, audioSeconds, tookMs } = await recognize(model, file);
    const factor = tookMs / 1000 / audioSeconds;
    process.stdout.write(
      `${text}\n\n${audioSeconds.toFixed(1)} s of audio in ${(tookMs / 1000).toFixed(1)} s: ${factor.toFixed(3)} of real time\n`,
    );
  } catch (error) {
    await printReport(model, error);
    throw error;
  }
  if (isReported) await printReport(model);
}

async function printReport(model: ReportedModel | undefined, error?: unknown): Promise<void> {
  const head = "For a report of this (it has no names of users, no recording and no text):";
  process.stdout.write(`\n${head}\n\n${await failureReport(model, error)}\n`);
}
