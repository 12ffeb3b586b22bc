import { createHash } from "node:crypto";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { setSha256 } from "../media/media-facts.ts";
import { findMedia } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import { ServiceError } from "../std/service-error.ts";
import { lackingMedia } from "../media/lacking-media.ts";
import { openScratchFile, type ScratchFile } from "./scratch-file.ts";

export interface MediaCopyParts {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "open">;
  readonly scratchFolder: string;
  /** The time after which a store that sends nothing counts as unavailable. Default 60 s. */
  readonly stallMsMax?: number;
}

/**
 * Copies media for the decoder. Media that has not been read before is hashed during the copy.
 * Throws not_found if the media was deleted, lackingMedia(), unavailable, or the signal's reason,
 * even if the store hangs at that moment.
 */
export async function openMediaCopy(
  parts: MediaCopyParts,
  mediaId: string,
  signal: AbortSignal,
): Promise<ScratchFile> {
  const { db, store, scratchFolder, stallMsMax = 60_000 } = parts;
  const media = await findMedia(db, mediaId);
  const bytes = await store.open(mediaId).catch(async (error: unknown) => {
    const isMissing = error instanceof ServiceError && error.code === "not_found";
    // If there is no record either, the media was deleted.
    if (isMissing && (await findMedia(db, mediaId))) throw lackingMedia(error);
    throw error;
  });
  const hash = media?.sha256 === null ? createHash("sha256") : undefined;
  let sizeBytes = 0;
  const stall = setTimeout(() => bytes.destroy(storeStalled()), stallMsMax);
  const onChunk = (chunk: Uint8Array): void => {
    stall.refresh();
    sizeBytes += chunk.length;
    hash?.update(chunk);
  };
  try {
    await using opened = new AsyncDisposableStack();
    const copy = opened.use(await openScratchFile(scratchFolder, bytes, { signal, onChunk }));
    // The hash is not recorded if the media has lost some of its bytes.
    if (hash && sizeBytes === media?.sizeBytes) {
      await setSha256(db, mediaId, hash.digest());
    }
    opened.move();
    return copy;
  } finally {
    clearTimeout(stall);
  }
}

function storeStalled(): ServiceError {
  return new ServiceError("unavailable", "the media store stalled", {
    reason: "STORAGE_UNAVAILABLE",
  });
}
