import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import type { MediaStore } from "../media/media-store.ts";
import { syncFolder } from "../media/synced-files.ts";
import { BackupError, mediaPath, type Manifest } from "./backup-format.ts";
import { readMedia } from "./read-rows.ts";

/** How many media are stored concurrently. */
const storedAtOnce = 4;

/**
 * Puts the media of a backup into a store: by hard links where possible. The backup has been
 * verified. Media that is in the store already stays.
 */
export async function restoreMedia(
  store: MediaStore,
  folder: string,
  manifest: Manifest,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const missing = new Set(manifest.media?.missing);
  const folders = new Set<string>();
  const media = readMedia(folder, manifest.tables);
  const work = async (): Promise<void> => {
    for await (const { id, sizeBytes } of media) {
      if (missing.has(id)) continue;
      const path = join(folder, mediaPath(id));
      if ((await store.sizeBytes(id)) === undefined) await place(store, id, path);
      const file = store.file?.(id);
      if (file !== undefined) folders.add(dirname(file));
      onBytes(sizeBytes);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: storedAtOnce }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  for (const each of folders) await syncFolder(each);
}

async function place(store: MediaStore, id: string, path: string): Promise<void> {
  if (await store.adopt?.(id, path)) return;
  const bytes: AsyncIterable<Uint8Array> = createReadStream(path);
  await store.put(id, bytes, { bytesMax: Number.MAX_SAFE_INTEGER }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BackupError(`media/${id} could not be stored: ${why}`);
  });
}
