import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { MediaStore } from "../media/media-store.ts";
import { statFile } from "../media/synced-files.ts";
import { hashFile } from "./hash-file.ts";

/** Where the bytes of a backup's media are. Paths are those of mediaPath(). */
export interface BackupMedia {
  /** Returns the size; undefined if there is no such media. */
  sizeBytes(path: string): Promise<number | undefined>;
  /** Reads the bytes, and returns their number and their SHA-256 in hexadecimal. */
  hash(
    path: string,
    onBytes: (bytes: number) => void,
  ): Promise<{ readonly bytes: number; readonly sha256: string }>;
  /** Puts the bytes into a store: by a hard link, or by a copy within a bucket's service. */
  restore(store: MediaStore, id: string, path: string): Promise<void>;
}

/** Returns the media in the folder of a backup. */
export function mediaInFolder(folder: string): BackupMedia {
  return {
    async sizeBytes(path) {
      return (await statFile(join(folder, path)))?.size;
    },
    async hash(path, onBytes) {
      return await hashFile(join(folder, path), onBytes);
    },
    async restore(store, id, path) {
      const file = join(folder, path);
      if (await store.adopt?.(id, file)) return;
      const bytes: AsyncIterable<Uint8Array> = createReadStream(file);
      await store.put(id, bytes, { bytesMax: Number.MAX_SAFE_INTEGER });
    },
  };
}
