import { join } from "node:path";
import { ServiceError } from "../std/service-error.ts";
import { writeNewFile, type FileFacts } from "./durable-files.ts";
import type { ModelCard, ModelFile } from "./model-card.ts";
import { cardFile } from "./models-folder.ts";

/**
 * Writes model.json: the card, with the measured size and checksum of every file. Throws if a file
 * is missing.
 */
export async function writeCard(
  folder: string,
  card: ModelCard,
  facts: ReadonlyMap<string, FileFacts>,
): Promise<void> {
  const files: Record<string, ModelFile> = {};
  for (const [role, { path, bytes, sha256 }] of Object.entries(card.files)) {
    const found = facts.get(path);
    if (!found) {
      throw new ServiceError("data_loss", `the model's ${role}, ${path}, is not in the downloads`);
    }
    const isExpected =
      (bytes ?? found.bytes) === found.bytes && (sha256 ?? found.sha256) === found.sha256;
    if (!isExpected) {
      const measured = `${found.bytes} bytes with the checksum ${found.sha256}`;
      throw new ServiceError("data_loss", `${path} does not match its card: it has ${measured}`);
    }
    files[role] = { path, ...found };
  }
  const text = `${JSON.stringify({ ...card, files }, undefined, 2)}\n`;
  await writeNewFile(join(folder, cardFile), [Buffer.from(text)]);
}
