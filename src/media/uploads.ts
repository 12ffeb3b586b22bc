import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { deleteBytes, findMedia, insertMedia, releaseMedia, type Media } from "./media-records.ts";
import type { MediaStore, PutOptions } from "./media-store.ts";
import { signedUrlMs, type SignedUrls } from "./signed-url.ts";

/** Path of an upload under the public address; PUT works with a signature. */
export function uploadPath(uploadId: string): string {
  return `/media/uploads/${uploadId}`;
}

/** Places for one PUT of media each (§4.7). */
export interface Uploads {
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
}): Uploads {
  const { db, store, urls, uploadBytesMax, log, now = Date.now } = parts;
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
      const path = uploadPath(id);
      return { id, url: urls.sign({ method: "PUT", path, bytesMax: uploadBytesMax }) };
    },
    async check(uploadId) {
      await findOpenUpload(db, uploadId);
    },
    async receive(uploadId, bytes, options) {
      const id = newId(now());
      const media = { id, ...(await store.put(id, bytes, options)) };
      try {
        options.signal?.throwIfAborted();
        const replaced = await db
          .transaction()
          .execute(async (trx) => await finishUpload(trx, uploadId, media));
        log.info({ uploadId, mediaId: id, sizeBytes: media.sizeBytes }, "upload.received");
        if (replaced !== undefined) await deleteBytes(parts, replaced);
      } catch (error) {
        // A commit may have gone through although its answer got lost: only what is certainly not recorded is deleted.
        const isRecorded = (await findMedia(db, id).catch(() => "unknown")) !== undefined;
        if (!isRecorded) await deleteBytes(parts, id);
        throw error;
      }
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

async function findOpenUpload(db: Kysely<Tables>, uploadId: string) {
  return openUpload(
    await db
      .selectFrom("upload")
      .where("id", "=", uploadId)
      .select(["account_id", "transcript_id", "media_id"])
      .executeTakeFirst(),
  );
}

function openUpload<Row extends { readonly media_id: string | null }>(
  upload: Row | undefined,
): Row {
  if (!upload) throw uploadGone();
  if (upload.media_id === null) return upload;
  throw new ServiceError(
    "already_exists",
    "this upload URL was used: call initupload for another",
    {
      reason: "UPLOAD_USED",
    },
  );
}

function uploadGone(): ServiceError {
  return new ServiceError("not_found", "the upload is gone");
}

/** Gives the media to the upload and its transcript. The id of media that nothing holds any more, if there is one. */
async function finishUpload(
  trx: Transaction<Tables>,
  uploadId: string,
  media: Media,
): Promise<string | undefined> {
  const { account_id: accountId, transcript_id: transcriptId } = await findOpenUpload(
    trx,
    uploadId,
  );
  // The transcript first: that is the order in which its deletion takes the locks.
  const transcript =
    transcriptId === null
      ? undefined
      : await trx
          .selectFrom("transcript")
          .where("id", "=", transcriptId)
          .select(["id", "media_id"])
          .forUpdate()
          .executeTakeFirst();
  const locked = trx.selectFrom("upload").where("id", "=", uploadId).select("media_id").forUpdate();
  openUpload(await locked.executeTakeFirst());
  await insertMedia(trx, { ...media, accountId });
  await trx.updateTable("upload").set({ media_id: media.id }).where("id", "=", uploadId).execute();
  if (!transcript) return undefined;
  await trx
    .updateTable("transcript")
    .set({ media_id: media.id })
    .where("id", "=", transcript.id)
    .execute();
  const old = transcript.media_id;
  return old !== null && (await releaseMedia(trx, old)) ? old : undefined;
}
