import type { Kysely } from "kysely";
import { LeaseLost } from "../../database/lease.ts";
import { retryWhileDatabaseDown } from "../../database/retry-while-down.ts";
import type { Tables } from "../../database/tables.ts";
import { prepareScratchFolder } from "../../describe/scratch-file.ts";
import { fetchMedia, type FetchLimits } from "../../media/fetch-media.ts";
import type { Resolve } from "../../media/media-hop.ts";
import { deleteBytes, insertMedia } from "../../media/media-records.ts";
import type { MediaStore } from "../../media/media-store.ts";
import type { MediaAllowList } from "../../media/media-url.ts";
import {
  checkStoredBytes,
  holdStoredBytes,
  isStorageLimit,
  putWithin,
  roomOf,
} from "../../media/stored-bytes.ts";
import { newId } from "../../std/ids.ts";
import type { Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { traced } from "../../tracing/tracing.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { setMedia } from "./lease-jobs.ts";
import { openRecording, type Recording, type RecordingOptions } from "./open-recording.ts";
import { sweepJobs } from "./sweep-jobs.ts";

export interface JobMediaParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly scratchFolder: string;
  readonly log: Log;
}

export interface JobMediaRules {
  /** The addresses that may be fetched in addition to public ones. */
  readonly allow: MediaAllowList;
  /** Whether transcripts keep the media. */
  readonly keepMedia: boolean;
  readonly mediaBytesMax: number;
  /**
   * The maximum number of bytes of media that an account may store, unless the operator has set a
   * limit for the account. Default 0: any number.
   */
  readonly storedBytesMax?: number;
  /** For tests. */
  readonly resolve?: Resolve | undefined;
  readonly fetchLimits?: Partial<FetchLimits> | undefined;
}

/** The media of a worker's jobs: fetches it, opens it for the decoder, and deletes it. */
export class JobMedia {
  readonly keepMedia: boolean;
  readonly #parts: JobMediaParts;
  readonly #rules: JobMediaRules;

  constructor(parts: JobMediaParts, rules: JobMediaRules) {
    this.keepMedia = rules.keepMedia;
    this.#parts = parts;
    this.#rules = rules;
  }

  /** Creates and clears the folder for the copies. Called before the first job. */
  async prepare(): Promise<void> {
    await prepareScratchFolder(this.#parts.scratchFolder);
  }

  /**
   * Returns the id of the job's media. If the media is not stored yet, it is fetched under a new
   * id, so that a worker that has lost its lease cannot change it. Throws STORAGE_LIMIT if the
   * transcript is to keep the media and the account has no room for it.
   */
  async take(attempt: Pick<JobAttempt, "job" | "signal" | "stopping">): Promise<string> {
    const { mediaId, uri: url, accountId, lease } = attempt.job;
    if (mediaId !== null) return mediaId;
    if (url === null) {
      const what = attempt.job.newVersionOf === null ? "uploaded media" : "transcript's media";
      throw new ServiceError("failed_precondition", `the ${what} was deleted`);
    }
    const { db, store, log } = this.#parts;
    const { allow, keepMedia, mediaBytesMax, storedBytesMax = 0 } = this.#rules;
    const { resolve, fetchLimits: limits } = this.#rules;
    const id = newId();
    const room = keepMedia
      ? await roomOf(db, { accountId, transcriptId: null }, { storedBytesMax })
      : undefined;
    const signal = AbortSignal.any([attempt.signal, attempt.stopping]);
    const stored = await traced("fetch media", { kind: "client" }, async () =>
      putWithin(room, mediaBytesMax, async (bytesMax) =>
        fetchMedia({
          url,
          id,
          store,
          allow,
          bytesMax,
          signal,
          ...(resolve && { resolve }),
          ...(limits && { limits }),
        }),
      ),
    );
    log.info({ jobId: lease.id, mediaId: id, sizeBytes: stored.sizeBytes }, "job.fetched");
    try {
      await retryWhileDatabaseDown(attempt.signal, async () =>
        db.transaction().execute(async (trx) => {
          const max = keepMedia
            ? await holdStoredBytes(trx, accountId, { storedBytesMax })
            : undefined;
          await insertMedia(trx, { id, accountId, ...stored });
          if (!(await setMedia(trx, lease, id))) throw new LeaseLost();
          await checkStoredBytes(trx, accountId, max);
        }),
      );
    } catch (error) {
      if (error instanceof LeaseLost || isStorageLimit(error)) {
        await deleteBytes(this.#parts, [id], "job_not_taken");
      }
      throw error;
    }
    return id;
  }

  /** Opens media for the decoder. Throws the errors of openRecording(). */
  async open(mediaId: string, options: RecordingOptions): Promise<Recording> {
    return await openRecording(this.#parts, mediaId, options);
  }

  /** Deletes the media of jobs that have ended. */
  async sweep(): Promise<void> {
    await sweepJobs(this.#parts);
  }
}
