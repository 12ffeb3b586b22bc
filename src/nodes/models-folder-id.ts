import { open, mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../models/durable-files.ts";
import { isId, newId } from "../std/ids.ts";

/** Names that begin with a dot are not models. */
const file = ".folder-id";

/**
 * Returns the id of a models folder, which is in the folder itself, so that nodes on the same
 * folder report the same id. Creates it if it is missing. Returns undefined if the node cannot
 * write to the folder.
 */
export async function modelsFolderId(modelsFolder: string): Promise<string | undefined> {
  try {
    await mkdir(modelsFolder, { recursive: true });
    const probe = join(modelsFolder, `${file}.${newId()}`);
    const id = newId();
    {
      await using handle = await open(probe, "wx", 0o644);
      await handle.writeFile(`${id}\n`);
      await handle.sync();
    }
    const known = await readId(modelsFolder);
    if (known === undefined) await rename(probe, join(modelsFolder, file));
    else await rm(probe);
    // If two nodes create it concurrently, the later one decides.
    return known ?? (await readId(modelsFolder));
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
}

async function readId(modelsFolder: string): Promise<string | undefined> {
  try {
    const id = (await readFile(join(modelsFolder, file), "utf8")).trim();
    return isId(id) ? id : undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
