import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { ModelCard, ModelFile } from "../../models/model-card.ts";

/** Changed when the features, the silence before utterances or the compaction change. */
const format = 1;

/**
 * Returns the name and version of a model with a hash of what its outputs depend on: its network,
 * its tokens and its options. It is the same on every node. A file whose card has no checksum is
 * read.
 */
export async function modelIdentity(card: ModelCard, folder: string): Promise<string> {
  const { name, version, kind, options } = card;
  const { model, tokens } = card.files;
  const sums = [await checksumOf(model, folder), await checksumOf(tokens, folder)];
  const all = JSON.stringify([format, kind, options, sums]);
  const hash = createHash("sha256").update(all).digest("hex").slice(0, 16);
  return `${name} ${version} ${hash}`;
}

async function checksumOf(file: ModelFile | undefined, folder: string): Promise<string> {
  if (!file) return "";
  if (file.sha256 !== undefined) return file.sha256;
  const hash = createHash("sha256");
  await pipeline(createReadStream(join(folder, file.path)), hash);
  return hash.digest("hex");
}
