import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { findOpenUpload, finishUpload } from "./finish-upload.ts";
import type { MediaStore, PutOptions } from "./media-store.ts";
import { signedUrlMs, type SignedUrls } from "./signed-url.ts";
import type { UploadCollector } from "./upload-collector.ts";

/** Path of an upload under the public address; PUT works with a signature. */
export function uploadPath(uploadId: string): string {
  return `/media/uploads/${uploadId}`;
}

/** Places for one PUT of media each (§4.7). */
export interface Uploads extends Pick<UploadCollector, "collectForTranscript" | "collectUpload"> {
  /**
   * Makes a place; the transcript, if there is one, gets the media. The URL works for an hour. undefined when the account has no such
   * transcript.
   */
  begin(
    accountId: string,
    transcriptId: string | null,
  ): Promise<{ id: string; url: string } | undefined>;
  /** Throws not_found when the upload is gone, with its transcript or its media, and already_exists when it was used. */
  check(uploadId: string): Promise<void>;
  /**
   * Takes the bytes; resolves when bytes and rows are durable. The media replaces that of the transcript. When it fails nothing is
   * kept, and the upload can be tried again. Throws like check() and MediaStore.put(); the signal counts until the rows are written.
   */
  receive(uploadId: string, bytes: AsyncIterable<Uint8Array>, options: PutOptions): Promise<void>;
}

export function createUploads(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly urls: SignedUrls;
  readonly uploadBytesMax: number;
  readonly log: Log;
  readonly now?: () => number;
  /** Where callers put media straight into the store. */
  readonly collector?: UploadCollector | undefined;
}): Uploads {
  const { db, store, urls, uploadBytesMax, collector, now = Date.now } = parts;
  return {
    async begin(accountId, transcriptId) {
      const upload = {
        id: newId(now()),
        account_id: accountId,
        transcript_id: transcriptId,
        expires_at: new Date(now() + signedUrlMs),
        created_at: new Date(now()),
        media_id: null,
      };
      const { id } = upload;
      const isBegun = await db.transaction().execute(async (trx) => {
        if (transcriptId !== null && !(await holdTranscript(trx, accountId, transcriptId))) {
          return false;
        }
        await trx.insertInto("upload").values(upload).execute();
        return true;
      });
      if (!isBegun) return undefined;
      if (collector) return { id, url: await collector.uploadUrl(id) };
      const path = uploadPath(id);
      return { id, url: urls.sign({ method: "PUT", path, bytesMax: uploadBytesMax }) };
    },
    async check(uploadId) {
      await findOpenUpload(db, uploadId);
    },
    async receive(uploadId, bytes, options) {
      const id = newId(now());
      const media = { id, ...(await store.put(id, bytes, options)) };
      await finishUpload(parts, uploadId, media, options.signal);
    },
    async collectForTranscript(accountId, transcriptId) {
      await collector?.collectForTranscript(accountId, transcriptId);
    },
    async collectUpload(accountId, uploadId) {
      await collector?.collectUpload(accountId, uploadId);
    },
  };
}

/** Whether the account has this transcript, which then stays until the transaction ends. */
async function holdTranscript(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .select("id")
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}
