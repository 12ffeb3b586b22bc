import { dirname } from "node:path";
import type { MediaStore } from "../media/media-store.ts";
import { syncFolder } from "../media/synced-files.ts";
import { mediaInFolder, type BackupMedia } from "./backup-media.ts";
import { BackupError, mediaPath, type Manifest } from "./backup-format.ts";
import { readMedia } from "./read-rows.ts";

/** How many media are stored concurrently. */
const storedAtOnce = 4;

interface RestoreMediaOptions {
  readonly onBytes: (bytes: number) => void;
  /** Where the media is. Default: the folder. */
  readonly from?: BackupMedia | undefined;
}

/**
 * Puts the media of a backup into a store: by hard links or copies of a bucket where possible. The
 * backup has been verified. Media that is in the store already stays.
 */
export async function restoreMedia(
  store: MediaStore,
  folder: string,
  manifest: Manifest,
  { onBytes, from = mediaInFolder(folder) }: RestoreMediaOptions,
): Promise<void> {
  const missing = new Set(manifest.media?.missing);
  const folders = new Set<string>();
  const media = readMedia(folder, manifest.tables);
  const work = async (): Promise<void> => {
    for await (const { id, sizeBytes } of media) {
      if (missing.has(id)) continue;
      if ((await store.sizeBytes(id)) === undefined) await place(store, id, from);
      const file = store.file?.(id);
      if (file !== undefined) folders.add(dirname(file));
      onBytes(sizeBytes);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: storedAtOnce }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  for (const each of folders) await syncFolder(each);
}

async function place(store: MediaStore, id: string, from: BackupMedia): Promise<void> {
  await from.restore(store, id, mediaPath(id)).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new BackupError(`media/${id} could not be stored: ${why}`);
  });
}
