import { readCatalogue, type CatalogueEntry } from "../../models/catalogue.ts";
import { megabytes } from "../../models/disk-room.ts";
import { readModels } from "../../models/models-folder.ts";
import { Arguments } from "../options.ts";
import { columns } from "./columns.ts";
import { modelSettings } from "./model-settings.ts";
import { noPositionals } from "./one-name.ts";

const options = { json: { meaning: "print JSON" } } as const;

/** Runs `hlust models available`: lists the models that can be installed. */
export async function listAvailable(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const read = new Arguments(options, args);
  noPositionals(read.positionals);
  const { folders, catalogueFile } = modelSettings(environment);
  const entries = await readCatalogue(catalogueFile);
  const installed = new Set((await readModels(folders)).models.map(({ card }) => card.name));
  if (read.has("json")) {
    const models = entries.map(({ card, ...entry }) => {
      const isInstalled = installed.has(card.name);
      return { ...card, ...entry, downloadBytes: downloadBytes(entry), isInstalled };
    });
    process.stdout.write(`${JSON.stringify({ models }, undefined, 2)}\n`);
    return;
  }
  const rows = entries.map((entry) => {
    const { name, languageCodes, uses, licence } = entry.card;
    const bytes = downloadBytes(entry);
    return [
      name,
      languageCodes.join(","),
      uses.join(","),
      bytes === undefined ? "?" : megabytes(bytes),
      entry.diskBytes === undefined ? "?" : megabytes(entry.diskBytes),
      licence,
      installed.has(name) ? "installed" : "",
    ];
  });
  const head = ["NAME", "LANGUAGES", "USES", "DOWNLOAD", "DISK", "LICENCE", ""];
  process.stdout.write(columns([head, ...rows]));
}

/** Returns the total size of the downloads, or undefined if any of them has no published size. */
function downloadBytes({ downloads }: Pick<CatalogueEntry, "downloads">): number | undefined {
  return downloads.reduce<number | undefined>(
    (sum, { bytes }) => (sum === undefined || bytes === undefined ? undefined : sum + bytes),
    0,
  );
}
