import { createReadStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ServiceError } from "../std/service-error.ts";
import { checkRoom, freeBytesOf, type FreeBytes } from "./disk-room.ts";
import { codeOf, writeNewFile, type FileFacts } from "./durable-files.ts";
import { stageModel } from "./install-model.ts";
import type { ModelCard } from "./model-card.ts";
import { parseNamedCard, readCardText } from "./models-folder.ts";
import { writeCard } from "./write-card.ts";

/**
 * Installs a model from a folder that contains model.json and its files. The files are copied, and
 * links are followed. Throws ModelCardError and ServiceError. Returns the model's card.
 */
export async function addModel(
  folder: string,
  options: {
    /** HLUST_MODELS. */
    readonly modelsFolder: string;
    /** Loads the model and decodes some audio. Throws if either fails. */
    readonly verify?: (folder: string) => Promise<unknown>;
    readonly freeBytes?: FreeBytes;
  },
): Promise<ModelCard> {
  const { modelsFolder, verify, freeBytes = freeBytesOf } = options;
  const card = parseNamedCard(await readCardText(resolve(folder)));
  const paths = [...new Set(Object.values(card.files).map(({ path }) => path))];
  let bytes = 0;
  for (const path of paths) bytes += await fileBytes(folder, path);
  await mkdir(modelsFolder, { recursive: true });
  await using staged = await stageModel(modelsFolder, card.name);
  await checkRoom(modelsFolder, bytes, freeBytes);
  const facts = new Map<string, FileFacts>();
  for (const path of paths) {
    const source = createReadStream(join(folder, path), { highWaterMark: 1 << 20 });
    facts.set(path, await writeNewFile(join(staged.folder, path), source));
  }
  await writeCard(staged.folder, card, facts);
  await verify?.(staged.folder);
  await staged.install();
  return card;
}

async function fileBytes(folder: string, path: string): Promise<number> {
  const found = await stat(join(folder, path)).catch((error: unknown) => {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw error;
  });
  if (found?.isFile() === true) return found.size;
  throw new ServiceError("failed_precondition", `${join(folder, path)} is not a file`);
}
