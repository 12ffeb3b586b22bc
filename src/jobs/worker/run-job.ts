import type { Meter } from "../../auth/meter.ts";
import type { Database } from "../../database/database.ts";
import { TranscriptMetadata_DataSource as DataSource } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fetchMedia, type FetchLimits } from "../../media/fetch-media.ts";
import type { Resolve } from "../../media/media-hop.ts";
import { keepPeaks } from "../../media/media-facts.ts";
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
import type { Batches } from "../../std/batches.ts";
import { durationFromMs } from "../../std/duration.ts";
import { newId } from "../../std/ids.ts";
import type { Log } from "../../std/log.ts";
import { ServiceError, shown } from "../../std/service-error.ts";
import { transcriptRows } from "../../transcripts/insert-transcript.ts";
import { speakersIn } from "./assign-speakers.ts";
import { pieceMsMax } from "./cut-pieces.ts";
import { LeaseLost, type FinishedJob } from "./finish-jobs.ts";
import { SpeakerListener } from "./hear-speakers.ts";
import { HeldPeaks } from "./held-peaks.ts";
import { installedLanguage } from "../job-language.ts";
import type { Progress } from "./job-progress.ts";
import type { JobLease, JobQueue } from "../job-queue.ts";
import { nameSpeakers } from "./name-speakers.ts";
import { openRecording } from "./open-recording.ts";
import { persist } from "../../database/retry-while-down.ts";
import type { JobSlots } from "./piece-slots.ts";
import { transcribeMedia, type TranscribeParts, type Transcription } from "./transcribe-media.ts";
import {
  insertPiece,
  insertWindow,
  readPieces,
  readWindows,
  setMedia,
  type LeasedJob,
  type StoredPiece,
} from "./try-store.ts";

export interface JobParts extends Omit<TranscribeParts, "slots"> {
  readonly database: Pick<Database, "db">;
  readonly queue: JobQueue;
  /** Ends jobs well; see createFinish(). */
  readonly finish: Batches<FinishedJob, undefined>;
  readonly store: MediaStore;
  readonly allow: MediaAllowList;
  readonly scratchFolder: string;
  readonly keepMedia: boolean;
  readonly mediaBytesMax: number;
  /** Bytes that an account may keep, where the operator has set nothing else. Default 0: any. */
  readonly storedBytesMax?: number;
  readonly meter: Pick<Meter, "checkAudio">;
  readonly log: Log;
  /** For tests. */
  readonly resolve?: Resolve | undefined;
  readonly fetchLimits?: Partial<FetchLimits> | undefined;
}

export interface JobRun {
  readonly lease: JobLease;
  readonly job: LeasedJob;
  readonly slots: JobSlots;
  /** Ends the work at once. */
  readonly signal: AbortSignal;
  /** Ends the work when the pieces that are being recognized are kept. */
  readonly stopping: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  /** Called once the media is kept, and after each piece that is. */
  readonly onKept: (what: "media" | "piece") => Promise<void>;
  /** Called once it is known whether the recording is a single piece. */
  readonly onSize: (isSmall: boolean) => void;
}

/**
 * Takes a job to its SUCCESS: media, transcription, and one commit of everything. Throws what
 * stopped it.
 */
export async function runJob(parts: JobParts, run: JobRun): Promise<void> {
  const { lease, job, signal, stopping } = run;
  const { sandbox, durationMsMax } = parts;
  const languageCode = languageOf(parts, job);
  // What has begun is taken to its end.
  if (lease.number === 1) {
    await parts.meter.checkAudio({ accountId: job.accountId, keyId: job.keyId ?? undefined });
  }
  const mediaId = job.mediaId ?? (await takeMedia(parts, run));
  await run.onKept("media");
  const ending = AbortSignal.any([signal, stopping]);
  const source = { sandbox, durationMsMax, signal: ending };
  await using recording = await openRecording(parts, mediaId, source);
  let isSmall = (recording.facts.durationMs ?? pieceMsMax) < pieceMsMax;
  run.onSize(isSmall);
  const { db } = parts.database;
  const isFirst = lease.number === 1;
  const known = isFirst
    ? new Map<number, StoredPiece>()
    : await persist(signal, async () => await readPieces(db, lease.jobId));
  using speakers = await openListener(parts, run);
  const peaks = new HeldPeaks(async (number, piece) =>
    persist(signal, async () => await keepPeaks(db, mediaId, number, piece)),
  );
  let hasPieces = !isFirst || speakers !== undefined;
  const transcription = await transcribeMedia(
    { ...parts, slots: run.slots },
    {
      recording,
      languageCode,
      known,
      async keep(piece, segments) {
        // Where there is one piece, the end of the job keeps it.
        if (isSmall && piece.index === 0) return;
        if (isSmall) {
          // It is longer than it says.
          isSmall = false;
          run.onSize(isSmall);
        }
        hasPieces = true;
        await persist(signal, async () => await insertPiece(db, lease, piece, segments));
        await run.onKept("piece");
      },
      keepPeaks: parts.keepMedia ? peaks.keep.bind(peaks) : undefined,
      onProgress: run.onProgress,
      speakers,
      signal,
      stopping,
    },
  );
  const ended = await endOf(parts, run, mediaId, transcription);
  const { durationMs, fileType } = transcription;
  const facts = { mediaId, durationMs, fileType, lastPeaks: peaks.last, ...recording.hashed() };
  const finished = { ...ended, hasPieces, media: parts.keepMedia ? facts : undefined };
  await persist(signal, async () => await parts.finish.add(finished));
}

/** Hears who speaks, where a model is installed that can tell. */
async function openListener(
  parts: JobParts,
  { lease, signal }: JobRun,
): Promise<SpeakerListener | undefined> {
  const { recognizer, retryMs } = parts;
  if (!recognizer.canDiarize()) return undefined;
  const { db } = parts.database;
  const known = await persist(signal, async () => await readWindows(db, lease.jobId));
  return new SpeakerListener({
    recognizer,
    known,
    keep: async (number, window) =>
      persist(signal, async () => await insertWindow(db, lease, number, window)),
    signal,
    retryMs,
    log: parts.log.child({ jobId: lease.jobId }),
  });
}

/** The service's name of the job's language. Nodes may have different models. */
function languageOf({ recognizer }: JobParts, { metadata }: LeasedJob): string {
  const installed = recognizer.languageCodes("job");
  const language = installedLanguage(metadata.languageCode, installed);
  if (language !== undefined) return language;
  throw new ServiceError(
    "failed_precondition",
    `${shown(metadata.languageCode)} has no installed model; installed: ${installed.join(", ") || "none"}`,
  );
}

/**
 * Fetches the media under a new id: what a worker without its lease still writes disturbs nobody.
 * Throws STORAGE_LIMIT where it is to stay and the account has no room for it.
 */
async function takeMedia(parts: JobParts, run: JobRun): Promise<string> {
  const { lease, job, signal, stopping } = run;
  if (job.uri === null) {
    throw new ServiceError("failed_precondition", "the uploaded media is gone");
  }
  const { accountId, uri: url } = job;
  const { store, allow, keepMedia, resolve, fetchLimits: limits, storedBytesMax = 0 } = parts;
  const { db } = parts.database;
  const id = newId();
  const room = keepMedia
    ? await roomOf(db, { accountId, transcriptId: null }, { storedBytesMax })
    : undefined;
  const stored = await putWithin(room, parts.mediaBytesMax, async (bytesMax) =>
    fetchMedia({
      url,
      id,
      store,
      allow,
      bytesMax,
      signal: AbortSignal.any([signal, stopping]),
      ...(resolve && { resolve }),
      ...(limits && { limits }),
    }),
  );
  parts.log.info({ jobId: lease.jobId, mediaId: id, sizeBytes: stored.sizeBytes }, "job.fetched");
  try {
    await persist(signal, async () =>
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
      await deleteBytes(parts, [id], "job_not_taken");
    }
    throw error;
  }
  return id;
}

/** The transcript of a job, and how the job ends with it. */
async function endOf(
  { keepMedia: keepsMedia }: JobParts,
  { lease, job }: JobRun,
  mediaId: string,
  { segments, durationMs, fileType }: Transcription,
): Promise<Pick<FinishedJob, "success" | "rows">> {
  const { metadata, accountId } = job;
  const transcriptId = newId();
  metadata.recordingDuration = durationFromMs(durationMs);
  nameSpeakers(metadata, speakersIn(segments));
  metadata.dataSource = job.uri === null ? DataSource.UPLOAD : DataSource.URI;
  const rows = await transcriptRows({
    id: transcriptId,
    accountId,
    metadata,
    segments,
    mediaId: keepsMedia ? mediaId : null,
    // What was declared may be wrong: the media that is kept tells what it is.
    recordingFileType: keepsMedia ? null : fileType,
  });
  return { success: { lease, transcriptId, durationMs, keepsMedia }, rows };
}
