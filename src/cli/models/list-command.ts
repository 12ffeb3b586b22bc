import { megabytes } from "../../models/disk-room.ts";
import { readModels } from "../../models/models-folder.ts";
import { hasEnglishModel } from "../../engines/pocketsphinx/sphinx-library.ts";
import { Arguments } from "../options.ts";
import { columns } from "./columns.ts";
import { modelSettings } from "./model-settings.ts";
import { noPositionals } from "./one-name.ts";

/** The row of PocketSphinx, which is a Debian package without a model.json. */
const pocketsphinxRow = [
  "pocketsphinx-en-US",
  "en-US",
  "live,short,job",
  "pocketsphinx",
  "40 MB",
  "BSD-2-Clause",
  "comes with Debian",
] as const;

const options = { json: { meaning: "print JSON" } } as const;

/** Runs `hlust models list`: lists the installed models. */
export async function listModels(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(options, args);
  noPositionals(read.positionals);
  const { models, refused } = await readModels(modelSettings(environment).folders);
  if (read.has("json")) {
    const all = models.map(({ card, ...model }) => ({ ...card, ...model }));
    process.stdout.write(`${JSON.stringify({ models: all, refused }, undefined, 2)}\n`);
    return;
  }
  const rows = models.map(({ card, bytes, isBuiltin }) => [
    card.name,
    card.languageCodes.join(","),
    card.uses.join(","),
    `${card.engine}/${card.kind}`,
    card.server ? "-" : megabytes(bytes),
    card.licence,
    card.server ? `at ${card.server.address}` : isBuiltin ? "comes with Hlust" : "installed",
  ]);
  if (hasEnglishModel()) rows.push([...pocketsphinxRow]);
  const head = ["NAME", "LANGUAGES", "USES", "ENGINE", "SIZE", "LICENCE", ""];
  process.stdout.write(rows.length === 0 ? "No models are installed.\n" : columns([head, ...rows]));
  for (const { folder, reason } of refused) {
    process.stdout.write(`\nCannot be used: ${folder}: ${reason}\n`);
  }
}
