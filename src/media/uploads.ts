import { sql, type Insertable, type Kysely, type Transaction } from "kysely";
import type { UploadTable } from "../database/media-tables.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { findOpenUpload, finishUpload, type ContentJobs } from "./finish-upload.ts";
import type { MediaStore, PutOptions } from "./media-store.ts";
import { signedUrlMs, type SignedUrls } from "./signed-url.ts";
import { putWithin, roomOf, storageLimit, type StoredRoom } from "./stored-bytes.ts";
import type { UploadCollector } from "./upload-collector.ts";

/** Returns the path of an upload under the public address. PUT requires a signature. */
export function uploadPath(uploadId: string): string {
  return `/media/uploads/${uploadId}`;
}

/** Uploads of media. Each upload accepts one PUT (§4.7). */
export interface Uploads extends Pick<UploadCollector, "collectForTranscript" | "collectUpload"> {
  /**
   * Creates an upload. If there is a transcript, it will get the media. If it is the later
   * transcript of a job that waits for content, the upload is the one of that job. The URL works
   * for an hour. Returns undefined if the account has neither. Throws STORAGE_LIMIT if the account
   * has no bytes left.
   */
  begin(
    accountId: string,
    transcriptId: string | null,
    fileName?: string,
  ): Promise<{ id: string; url: string } | undefined>;
  /**
   * Returns the number of bytes that the account can still store, if limited. Throws not_found if
   * the upload, its transcript or its media was deleted, already_exists if the upload was used, and
   * STORAGE_LIMIT if the announced size does not fit.
   */
  check(uploadId: string, announcedBytes?: number): Promise<StoredRoom | undefined>;
  /**
   * Stores the bytes. Resolves when the bytes and records are durable. The media replaces the
   * transcript's previous media. After a failure, nothing is stored and the upload can be repeated.
   * Throws as check() and MediaStore.put() do. The signal can abort the call until the records are
   * written. Media larger than `room` is aborted immediately; the account's limit is checked again
   * at the end.
   */
  receive(
    uploadId: string,
    bytes: AsyncIterable<Uint8Array>,
    options: PutOptions & { readonly room?: StoredRoom | undefined },
  ): Promise<void>;
}

export function createUploads(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly urls: SignedUrls;
  readonly uploadBytesMax: number;
  /**
   * The storage limit in bytes for accounts that have none of their own. Default: 0, which means
   * unlimited.
   */
  readonly storedBytesMax?: number;
  readonly log: Log;
  readonly now?: () => number;
  /** The collector for direct uploads from clients to the store. */
  readonly collector?: UploadCollector | undefined;
  readonly contentJobs?: ContentJobs | undefined;
}): Uploads {
  const { db, store, urls, uploadBytesMax, storedBytesMax = 0, collector, now = Date.now } = parts;
  return {
    async begin(accountId, transcriptId, fileName = "") {
      const upload = {
        id: newId(now()),
        account_id: accountId,
        transcript_id: transcriptId,
        file_name: fileName,
        expires_at: new Date(now() + signedUrlMs),
        created_at: new Date(now()),
        media_id: null,
      };
      const { id } = upload;
      await roomOf(db, { accountId, transcriptId }, { storedBytesMax });
      const isBegun = await insertUpload(db, upload);
      const used = isBegun ? id : await uploadOfJob(db, { accountId, transcriptId, fileName });
      if (used === undefined) return undefined;
      if (collector) return { id: used, url: await collector.uploadUrl(used) };
      const path = uploadPath(used);
      return { id: used, url: urls.sign({ method: "PUT", path, bytesMax: uploadBytesMax }) };
    },
    async check(uploadId, announcedBytes = 0) {
      const upload = await findOpenUpload(db, uploadId, { storedBytesMax });
      const room = upload.storedBytesMax > 0 ? await roomOf(db, upload, upload) : undefined;
      if (room && announcedBytes > room.bytes) throw storageLimit(room.max);
      return room;
    },
    async receive(uploadId, bytes, { room, ...options }) {
      const id = newId(now());
      const stored = await putWithin(room, options.bytesMax, async (bytesMax) =>
        store.put(id, bytes, { ...options, bytesMax }),
      );
      await finishUpload({ ...parts, storedBytesMax }, uploadId, { id, ...stored }, options);
    },
    async collectForTranscript(accountId, transcriptId) {
      await collector?.collectForTranscript(accountId, transcriptId);
    },
    async collectUpload(accountId, uploadId) {
      await collector?.collectUpload(accountId, uploadId);
    },
  };
}

/**
 * Returns the upload of the job that waits for the content of this later transcript, and stores the
 * name of the file. Returns undefined if the account has no such job.
 */
async function uploadOfJob(
  db: Kysely<Tables>,
  to: {
    readonly accountId: string;
    readonly transcriptId: string | null;
    readonly fileName: string;
  },
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    update upload set file_name = ${to.fileName} from transcript_job job
    where job.content_transcript_id = ${to.transcriptId} and job.account_id = ${to.accountId}
      and job.state = 'WAITING_FOR_CONTENT' and upload.id = job.upload_id and upload.media_id is null
    returning upload.id
  `.execute(db);
  return rows[0]?.id;
}

/** Creates an upload. Returns false if its account has no such transcript. */
export async function insertUpload(
  db: Kysely<Tables>,
  upload: Insertable<UploadTable>,
): Promise<boolean> {
  const { account_id: accountId, transcript_id: transcriptId = null } = upload;
  return await db.transaction().execute(async (trx) => {
    if (transcriptId !== null && !(await holdTranscript(trx, accountId, transcriptId))) {
      return false;
    }
    await trx.insertInto("upload").values(upload).execute();
    return true;
  });
}

/** Returns whether the account has this transcript, and locks it until the transaction ends. */
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
