import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StoreNotes } from "./media-store.ts";
import { codeOf, ignoreMissing, syncFolder } from "./synced-files.ts";

/**
 * Stores notes in the media folder itself, so that they move with it. `unfinished` is on the same
 * file system; `mark` identifies this process.
 */
export function openDiskNotes(folder: string, unfinished: string, mark: string): StoreNotes {
  /** Writes the text to a temporary file, which `place` moves to its final name. */
  const write = async (text: string, place: (part: string) => Promise<void>): Promise<void> => {
    const part = join(unfinished, `${randomUUID()}.${mark}`);
    try {
      await using handle = await open(part, "wx", 0o600);
      await handle.writeFile(text);
      await handle.sync();
      await place(part);
    } finally {
      await rm(part, { force: true });
    }
    await syncFolder(folder);
  };
  return {
    async read(name) {
      return await readFile(join(folder, name), "utf8").catch(ignoreMissing);
    },
    async create(name, text) {
      try {
        // Unlike a rename, a link fails if the name exists.
        await write(text, async (part) => await link(part, join(folder, name)));
        return true;
      } catch (error) {
        if (codeOf(error) === "EEXIST") return false;
        if (!withoutLinks.has(String(codeOf(error)))) throw error;
        return await createInPlace(join(folder, name), text);
      }
    },
    async replace(name, text) {
      await write(text, async (part) => await rename(part, join(folder, name)));
    },
  };
}

/** The errors of file systems without hard links. */
const withoutLinks: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Creates a note without a link. A concurrent reader may see only part of the text. */
async function createInPlace(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600, flush: true });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}
