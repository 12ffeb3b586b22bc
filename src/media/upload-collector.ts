import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { errorFields, type Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { within } from "../std/within.ts";
import { findOpenUpload, finishUpload } from "./finish-upload.ts";
import type { DirectTransfers, MediaStore, ReceivedMedia } from "./media-store.ts";
import { signedUrlMs } from "./signed-url.ts";
import { isStorageLimit, putWithin, roomOf } from "./stored-bytes.ts";

/**
 * Takes in what callers have put straight into the store: the store tells nobody, so the collector
 * looks.
 */
export interface UploadCollector extends AsyncDisposable {
  /** Takes one PUT for an hour. */
  uploadUrl(uploadId: string): Promise<string>;
  /**
   * Takes in what has come for a transcript, waiting for it no longer than a reader would; whatever
   * fails, the transcript is read.
   */
  collectForTranscript(accountId: string, transcriptId: string): Promise<void>;
  /**
   * Takes in what has come for an upload. Throws what is wrong with it, or unavailable while it is
   * not through.
   */
  collectUpload(accountId: string, uploadId: string): Promise<void>;
  /**
   * Takes in all that has come, in the order in which it came, deletes what was used, and sets
   * aside what no upload is of.
   */
  collectAll(signal?: AbortSignal): Promise<void>;
}

export interface CollectorParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly direct: DirectTransfers;
  readonly uploadBytesMax: number;
  /** Bytes that an account may keep, where the operator has set nothing else. Default 0: any. */
  readonly storedBytesMax?: number;
  readonly log: Log;
  readonly now?: () => number;
}

const collectEveryMs = 30_000;
const stopMsMax = 2_000;
const readerMsMax = 2_000;
const submitterMsMax = 20_000;
/** A PUT that began in time may last; the sweep takes it in whenever it ends. */
const lookedForMs = 2 * signedUrlMs;
/** Of a transcript, looked for at a time. */
const uploadsMax = 5;

export function openUploadCollector(parts: CollectorParts): UploadCollector {
  const { db, direct, log, now = Date.now } = parts;
  const running = new Map<string, Promise<void>>();
  /** Whoever looks at the same time waits for the same. */
  const collect = async (uploadId: string): Promise<void> => {
    const task =
      running.get(uploadId) ?? takeIn(parts, uploadId).finally(() => running.delete(uploadId));
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
      const since = new Date(now() - lookedForMs);
      const ids = await openUploadsOf(db, { accountId, transcriptId, since });
      if (ids.length === 0) return;
      const look = async () => {
        const found = await Promise.all(ids.map(async (id) => await direct.received(id)));
        await collectIn(found.filter((each) => each !== undefined));
      };
      const looking = look().catch((error: unknown) => {
        log.warn({ transcriptId, ...errorFields(error) }, "upload.collect_failed");
      });
      await within(readerMsMax, looking);
    },
    async collectUpload(accountId, uploadId) {
      if (!(await isOpen(db, accountId, uploadId))) return;
      if (!(await within(submitterMsMax, collect(uploadId)))) throw notThrough();
    },
    [Symbol.asyncDispose]: async () => await sweeping[Symbol.asyncDispose](),
  };
}

/** Takes the media of one upload in, if it has come: a copy is recorded, the original deleted. */
async function takeIn(parts: CollectorParts, uploadId: string): Promise<void> {
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
    // Deleted meanwhile, or from before the database was restored: nothing knows it.
    else if (error.code === "not_found") {
      if (!(await direct.received(uploadId))) return;
      await direct.setAside(uploadId);
      log.info({ uploadId, count: 1 }, "upload.set_aside");
      return;
    }
    // Taken in by another node.
    else if (error.code !== "already_exists") throw error;
    await discard(parts, uploadId, isTooLarge ? "too_large" : "taken_in");
    if (isTooLarge) throw error;
    return;
  }
  await discard(parts, uploadId, "taken_in");
}

/** Deletes what the database knows to be of no use any more. */
async function discard(
  { direct, log }: CollectorParts,
  uploadId: string,
  why: "taken_in" | "too_large",
): Promise<void> {
  await direct.discard(uploadId);
  log.info({ uploadId, why, count: 1 }, "upload.bytes_deleted");
}

/** Newest first. */
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
    "the upload has come, but is not taken in yet: try again",
    {
      reason: "UPLOAD_NOT_THROUGH",
      retryAfterMs: 5_000,
    },
  );
}
