import { createHash } from "node:crypto";
import { join } from "node:path";

/** Returns the folder with the downloads of a model that is not installed yet. */
export function downloadsFolderOf(modelsFolder: string, name: string): string {
  return join(modelsFolder, ".downloads", name);
}

/**
 * Returns the path of the partial file of a download. It depends only on the model and the URL, so
 * that later pulls find it.
 */
export function partOf(modelsFolder: string, name: string, url: string): string {
  const id = createHash("sha256").update(url).digest("hex").slice(0, 16);
  return join(downloadsFolderOf(modelsFolder, name), `${id}.part`);
}
