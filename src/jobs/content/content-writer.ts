import { sql, type Kysely } from "kysely";
import { databaseTime } from "../../database/database-time.ts";
import type { Tables } from "../../database/tables.ts";
import { finishUpload, type ContentJobs } from "../../media/finish-upload.ts";
import { holdUpload } from "../../media/hold-upload.ts";
import { offsetMismatch, type MediaStore } from "../../media/media-store.ts";
import { putWithin, roomOf } from "../../media/stored-bytes.ts";
import type { Log } from "../../std/log.ts";
import { invalidArgument, ServiceError } from "../../std/service-error.ts";
import { failureStatus } from "../job-failure.ts";
import { failRow } from "../worker/end-jobs.ts";
import { blobNotFound, blobTranscriptId } from "./blob-name.ts";
import { contentMsMax, dropContent, findContent, type JobContent } from "./content-store.ts";
import type { WriteMessages } from "./write-messages.ts";

export interface ContentParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  readonly uploadBytesMax: number;
  /**
   * The storage limit in bytes for accounts that have none of their own. Default: 0, which means
   * unlimited.
   */
  readonly storedBytesMax?: number;
  readonly contentJobs: ContentJobs;
  readonly now?: () => number;
}

/** How much of the content of a job is stored. */
export interface WriteStatus {
  readonly committedBytes: number;
  readonly isComplete: boolean;
}

/** Content of a job that still waits for it. */
interface OpenContent extends JobContent {
  readonly uploadId: string;
}

/** Writes the content of jobs. */
export class ContentWriter {
  readonly #parts: ContentParts;

  constructor(parts: ContentParts) {
    this.#parts = parts;
  }

  /** Returns the state of content. Throws not_found, and JOB_ENDED for content of an ended job. */
  async status(accountId: string, name: string): Promise<WriteStatus> {
    const content = await this.#find(accountId, name);
    return isOpen(content) ? await this.#statusOf(content) : completeStatus(content, name);
  }

  /**
   * Appends the bytes of a write, and starts the job if the write finishes the content. Ends an
   * earlier write that is still open. Returns the number of stored bytes.
   */
  async write(accountId: string, write: WriteMessages, signal: AbortSignal): Promise<number> {
    const { db } = this.#parts;
    const content = await this.#find(accountId, write.name);
    if (!isOpen(content)) return await repeated(write, completeStatus(content, write.name));
    await using hold = await holdUpload(db, content.uploadId, signal);
    const before = await this.#statusOf(content);
    if (before.isComplete) return await repeated(write, before);
    if (write.offset !== before.committedBytes) {
      throw offsetMismatch(write.offset, before.committedBytes);
    }
    const until = AbortSignal.any([signal, hold.signal, write.idle]);
    let committed: number;
    try {
      committed = await this.#append(content, write, until);
    } catch (error) {
      await this.#afterFailure(content, error);
      const isLost = hold.signal.aborted && error === hold.signal.reason;
      throw isLost ? await this.#lossOf(content, write.name, error) : error;
    }
    if (!write.isFinished) return committed;
    if (committed === 0) {
      throw invalidArgument([{ field: "data", description: "the content is empty" }]);
    }
    await this.#finish(content);
    return committed;
  }

  async #find(accountId: string, name: string): Promise<JobContent> {
    const content = await findContent(this.#parts.db, accountId, blobTranscriptId(name));
    if (!content) throw blobNotFound(name);
    return content;
  }

  async #statusOf(content: OpenContent): Promise<WriteStatus> {
    const { store } = this.#parts;
    const committedBytes = await store.partial.committedBytes(content.uploadId);
    if (committedBytes > 0) return { committedBytes, isComplete: false };
    // A write that finished the content was interrupted before the media was recorded.
    const sizeBytes = await store.sizeBytes(content.uploadId);
    if (sizeBytes === undefined) return { committedBytes, isComplete: false };
    await this.#finish(content);
    return { committedBytes: sizeBytes, isComplete: true };
  }

  async #append(content: OpenContent, write: WriteMessages, signal: AbortSignal): Promise<number> {
    const { db, store, uploadBytesMax, storedBytesMax = 0, now } = this.#parts;
    const { uploadId, accountId } = content;
    const to = { accountId, transcriptId: null, uploadId };
    const room = await roomOf(db, to, { storedBytesMax });
    const keptUntil = databaseTime(now, contentMsMax);
    const extending = db.updateTable("upload").set({ expires_at: keptUntil });
    await extending.where("id", "=", uploadId).execute();
    try {
      return await putWithin(room, uploadBytesMax, async (bytesMax) =>
        store.partial.append(uploadId, write.offset, write.bytes(), { bytesMax, signal }),
      );
    } finally {
      await this.#note(uploadId, await store.partial.committedBytes(uploadId));
    }
  }

  /** Records the number of stored bytes, which counts against the storage limit of the account. */
  async #note(uploadId: string, receivedBytes: number): Promise<void> {
    const noting = this.#parts.db.updateTable("upload").set({ received_bytes: receivedBytes });
    await noting.where("id", "=", uploadId).execute();
  }

  /** Ends the job whose content is too large, and deletes what a cancelled job has received. */
  async #afterFailure(content: OpenContent, error: unknown): Promise<void> {
    const { db, store } = this.#parts;
    if (error instanceof ServiceError && error.httpStatus === 413) {
      const end = { state: "ERROR", error: failureStatus(error) } as const;
      await db.transaction().execute(async (trx) => {
        await failRow(trx, content.jobId, end, sql<boolean>`state = 'WAITING_FOR_CONTENT'`);
      });
      await dropContent(this.#parts, content.uploadId);
      return;
    }
    const upload = db.selectFrom("upload").where("id", "=", content.uploadId).select("id");
    if (!(await upload.executeTakeFirst())) await store.partial.abort(content.uploadId);
  }

  /** Returns the error of a write that lost its hold: the job has ended, or another write began. */
  async #lossOf(content: OpenContent, name: string, takenOver: unknown): Promise<unknown> {
    const now = await findContent(this.#parts.db, content.accountId, blobTranscriptId(name));
    return now && isOpen(now) ? takenOver : jobEnded();
  }

  /** Makes the stored bytes the media of the job, which starts. */
  async #finish({ uploadId }: OpenContent): Promise<void> {
    const { store, storedBytesMax = 0 } = this.#parts;
    const stored = await store.partial.finish(uploadId);
    const media = { id: uploadId, ...stored };
    const options = { mayRepeat: true };
    try {
      await finishUpload({ ...this.#parts, storedBytesMax }, uploadId, media, options);
    } catch (error) {
      // The bytes of a refused upload are deleted.
      if (error instanceof ServiceError) await this.#note(uploadId, 0);
      throw error;
    }
  }
}

function isOpen(content: JobContent): content is OpenContent {
  return content.state === "WAITING_FOR_CONTENT" && content.uploadId !== undefined;
}

/** Returns the state of content that no write can change. */
function completeStatus(content: JobContent, name: string): WriteStatus {
  const { state, media } = content;
  if (media) return { committedBytes: media.sizeBytes, isComplete: true };
  if (state === "PROCESSING" || state === "SUCCESS") throw blobNotFound(name);
  throw jobEnded();
}

/**
 * Answers a write of complete content. A client that did not receive the answer to its last write
 * may finish the content again.
 */
async function repeated(write: WriteMessages, { committedBytes }: WriteStatus): Promise<number> {
  const isSame = write.offset === committedBytes;
  for await (const _chunk of isSame ? write.bytes() : []) throw complete(committedBytes);
  if (isSame && write.isFinished) return committedBytes;
  throw complete(committedBytes);
}

function complete(committedBytes: number): ServiceError {
  return new ServiceError(
    "already_exists",
    `the content is complete already: it has ${committedBytes} bytes`,
    { reason: "CONTENT_COMPLETE", metadata: { committedBytes: `${committedBytes}` } },
  );
}

function jobEnded(): ServiceError {
  return new ServiceError("failed_precondition", "the job ended before its content was complete", {
    reason: "JOB_ENDED",
  });
}
