import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { within } from "../std/within.ts";
import { findOpenUpload, finishUpload, type ContentJobs } from "./finish-upload.ts";
import type { DirectTransfers, MediaStore, ReceivedMedia } from "./media-store.ts";
import { signedUrlMs } from "./signed-url.ts";
import { isStorageLimit, putWithin, roomOf } from "./stored-bytes.ts";

/**
 * Collects media that clients have put directly into the store, by polling: the store sends no
 * notifications.
 */
export interface UploadCollector extends AsyncDisposable {
  /** Returns a URL that accepts one PUT for an hour. */
  uploadUrl(uploadId: string): Promise<string>;
  /**
   * Collects received media for a transcript, within the time that a reader waits. If this fails,
   * the transcript is still read.
   */
  collectForTranscript(accountId: string, transcriptId: string): Promise<void>;
  /**
   * Collects received media for an upload. Throws if the upload is refused, or throws unavailable
   * while collection is not finished.
   */
  collectUpload(accountId: string, uploadId: string): Promise<void>;
  /**
   * Collects all received media in order of arrival, deletes uploads that were used, and sets aside
   * bytes without an upload.
   */
  collectAll(signal?: AbortSignal): Promise<void>;
}

export interface CollectorParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly direct: DirectTransfers;
  readonly uploadBytesMax: number;
  /**
   * The storage limit in bytes for accounts that have none of their own. Default: 0, which means
   * unlimited.
   */
  readonly storedBytesMax?: number;
  readonly log: Log;
  readonly now?: () => number;
  readonly contentJobs?: ContentJobs | undefined;
}

const collectEveryMs = 30_000;
const stopMsMax = 2_000;
const readerMsMax = 2_000;
const submitterMsMax = 20_000;
/**
 * How long readers collect uploads for a transcript. A PUT that began in time can take longer; the
 * regular sweep collects its media whenever it ends.
 */
const collectedForMs = 2 * signedUrlMs;
/** The number of uploads of a transcript that are checked concurrently. */
const uploadsMax = 5;

export function openUploadCollector(parts: CollectorParts): UploadCollector {
  const { db, direct, log, now = Date.now } = parts;
  const running = new Map<string, Promise<void>>();
  /** Concurrent callers share one attempt. */
  const collect = async (uploadId: string): Promise<void> => {
    const task =
      running.get(uploadId) ?? collectOne(parts, uploadId).finally(() => running.delete(uploadId));
    running.set(uploadId, task);
    await task;
  };
  const collectIn = async (found: readonly ReceivedMedia[], signal?: AbortSignal) => {
    const inOrder = found.toSorted((a, b) => a.putAt.getTime() - b.putAt.getTime());
    for (const { uploadId } of inOrder) {
      signal?.throwIfAborted();
      await collect(uploadId).catch((error: unknown) => {
        log.warn({ uploadId, ...errorFields(error) }, "upload.collect_failed");
      });
    }
  };
  const collectAll = async (signal?: AbortSignal): Promise<void> => {
    await collectIn(await Array.fromAsync(direct.listReceived()), signal);
  };
  const event = "media.sweep_failed";
  const sweeping = openRepeat({ everyMs: collectEveryMs, log, event, stopMsMax }, collectAll);
  return {
    uploadUrl: async (uploadId) => await direct.uploadUrl(uploadId),
    collectAll,
    async collectForTranscript(accountId, transcriptId) {
      const since = new Date(now() - collectedForMs);
      const ids = await openUploadsOf(db, { accountId, transcriptId, since });
      if (ids.length === 0) return;
      const collectReceived = async () => {
        const found = await Promise.all(ids.map(async (id) => await direct.received(id)));
        await collectIn(found.filter((each) => each !== undefined));
      };
      const collecting = collectReceived().catch((error: unknown) => {
        log.warn({ transcriptId, ...errorFields(error) }, "upload.collect_failed");
      });
      await within(readerMsMax, collecting);
    },
    async collectUpload(accountId, uploadId) {
      if (!(await isOpen(db, accountId, uploadId))) return;
      if (!(await within(submitterMsMax, collect(uploadId)))) throw notThrough();
    },
    [Symbol.asyncDispose]: async () => await sweeping[Symbol.asyncDispose](),
  };
}

/** Collects the media of one upload if it has arrived: records a copy and deletes the original. */
async function collectOne(parts: CollectorParts, uploadId: string): Promise<void> {
  const { db, direct, uploadBytesMax, storedBytesMax = 0, log, now = Date.now } = parts;
  if (!(await direct.received(uploadId))) return;
  try {
    const upload = await findOpenUpload(db, uploadId, { storedBytesMax });
    const room = upload.storedBytesMax > 0 ? await roomOf(db, upload, upload) : undefined;
    const id = newId(now());
    const adopted = await putWithin(room, uploadBytesMax, async (bytesMax) =>
      direct.adopt(uploadId, id, { bytesMax }),
    );
    await finishUpload({ ...parts, storedBytesMax }, uploadId, { id, ...adopted });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isTooLarge = error.httpStatus === 413 || isStorageLimit(error);
    if (isTooLarge) log.info({ uploadId, reason: error.reason }, "upload.too_large");
    // The upload was deleted, or the database was restored to a time before the upload, so no
    // record exists.
    else if (error.code === "not_found") {
      if (!(await direct.received(uploadId))) return;
      await direct.setAside(uploadId);
      log.info({ uploadId, count: 1 }, "upload.set_aside");
      return;
    }
    // Otherwise, another node has collected the upload.
    else if (error.code !== "already_exists") throw error;
    await discard(parts, uploadId, isTooLarge ? "too_large" : "taken_in");
    if (isTooLarge) throw error;
    return;
  }
  await discard(parts, uploadId, "taken_in");
}

/** Deletes bytes that are no longer needed. */
async function discard(
  { direct, log }: CollectorParts,
  uploadId: string,
  why: "taken_in" | "too_large",
): Promise<void> {
  await direct.discard(uploadId);
  log.info({ uploadId, why, count: 1 }, "upload.bytes_deleted");
}

/** Returns the ids of a transcript's open uploads, newest first. */
async function openUploadsOf(
  db: Kysely<Tables>,
  of: { readonly accountId: string; readonly transcriptId: string; readonly since: Date },
): Promise<string[]> {
  const rows = await db
    .selectFrom("upload")
    .where("transcript_id", "=", of.transcriptId)
    .where("account_id", "=", of.accountId)
    .where("media_id", "is", null)
    .where("created_at", ">", of.since)
    .orderBy("created_at", "desc")
    .limit(uploadsMax)
    .select("id")
    .execute();
  return rows.map(({ id }) => id);
}

async function isOpen(db: Kysely<Tables>, accountId: string, uploadId: string): Promise<boolean> {
  const row = await db
    .selectFrom("upload")
    .where("id", "=", uploadId)
    .where("account_id", "=", accountId)
    .where("media_id", "is", null)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

function notThrough(): ServiceError {
  return new ServiceError(
    "unavailable",
    "the upload has arrived, but has not been processed yet: try again later",
    {
      reason: "UPLOAD_NOT_THROUGH",
      retryAfterMs: 5_000,
    },
  );
}
