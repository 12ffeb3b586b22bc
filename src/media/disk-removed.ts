import { readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isId } from "../std/ids.ts";
import type { RemovedMedia } from "./media-store.ts";
import { ignoreMissing, statFile, syncFolder } from "./synced-files.ts";

/**
 * Stores removed media in a folder on the same file system, so that files are moved, not copied. A
 * move changes the ctime of the inode, which serves as the time of removal.
 */
export function openDiskRemoved(
  folder: string,
  places: {
    fileOf(id: string): string;
    /** Creates the folder that contains a recording. */
    prepare(id: string): Promise<void>;
  },
): RemovedMedia {
  const asideOf = (id: string): string => {
    if (!isId(id)) throw new Error("a media id is a UUID");
    return join(folder, id);
  };
  return {
    async add(id) {
      await move(places.fileOf(id), asideOf(id));
    },
    async putBack(id) {
      const aside = asideOf(id);
      const [removed, media] = [await statFile(aside), await statFile(places.fileOf(id))];
      if (!removed) return false;
      if (media) {
        if (media.size === removed.size) await rm(aside, { force: true });
        return false;
      }
      await places.prepare(id);
      return await move(aside, places.fileOf(id));
    },
    async *list() {
      for (const id of await readdir(folder)) {
        const found = isId(id) ? await statFile(join(folder, id)) : undefined;
        if (found) yield { id, removedAt: found.ctime };
      }
    },
    async delete(id) {
      await rm(asideOf(id), { force: true });
    },
  };
}

/**
 * Moves a file. Returns false if the file does not exist, for example because another node moved it
 * first.
 */
async function move(from: string, to: string): Promise<boolean> {
  const isMoved = await rename(from, to).then(() => true, ignoreMissing);
  if (!isMoved) return false;
  for (const each of [from, to]) await syncFolder(dirname(each));
  return true;
}
