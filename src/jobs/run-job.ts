import type { Transaction } from "kysely";
import type { Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import {
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadata_FileType as FileType,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { fetchMedia, type FetchLimits } from "../media/fetch-media.ts";
import type { Resolve } from "../media/media-hop.ts";
import { keepPeaks, setFacts } from "../media/media-facts.ts";
import { deleteBytes, insertMedia } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { MediaAllowList } from "../media/media-url.ts";
import { durationFromMs } from "../std/duration.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import { insertTranscript } from "../transcripts/insert-transcript.ts";
import { speakersIn } from "./assign-speakers.ts";
import { SpeakerListener } from "./hear-speakers.ts";
import { installedLanguage } from "./job-language.ts";
import type { JobLease, JobQueue } from "./job-queue.ts";
import { openMediaCopy } from "./media-copy.ts";
import { nameSpeakers } from "./name-speakers.ts";
import { persist } from "./persist.ts";
import { transcribeMedia, type TranscribeParts, type Transcription } from "./transcribe-media.ts";
import {
  insertPiece,
  insertWindow,
  readPieces,
  readWindows,
  setMedia,
  succeedJob,
  type LeasedJob,
} from "./try-store.ts";

export interface JobParts extends TranscribeParts {
  readonly database: Pick<Database, "db">;
  readonly queue: JobQueue;
  readonly store: MediaStore;
  readonly allow: MediaAllowList;
  readonly scratchFolder: string;
  readonly keepMedia: boolean;
  readonly mediaBytesMax: number;
  readonly log: Log;
  /** For tests. */
  readonly resolve?: Resolve | undefined;
  readonly fetchLimits?: Partial<FetchLimits> | undefined;
}

export interface JobRun {
  readonly lease: JobLease;
  readonly job: LeasedJob;
  /** Ends the work at once. */
  readonly signal: AbortSignal;
  /** Ends the work when the pieces that are being recognised are kept. */
  readonly stopping: AbortSignal;
  readonly onProgress: (doneMs: number, totalMs: number) => void;
}

/** The lease is somebody else's, or the job has ended: nothing that this worker still does counts. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Takes a job to its SUCCESS: media, transcription, and one commit of everything. Throws what stopped it. */
export async function runJob(parts: JobParts, run: JobRun): Promise<void> {
  const { lease, job, signal, stopping } = run;
  const languageCode = languageOf(parts, job);
  const mediaId = job.mediaId ?? (await takeMedia(parts, run));
  await using copy = await openMediaCopy(parts, mediaId, AbortSignal.any([signal, stopping]));
  const { db } = parts.database;
  const known = await persist(signal, async () => await readPieces(db, lease.jobId));
  using speakers = await openListener(parts, run);
  const transcription = await transcribeMedia(parts, {
    file: copy.path,
    languageCode,
    known,
    keep: async (piece, segments) =>
      persist(signal, async () => await insertPiece(db, lease, piece, segments)),
    keepPeaks: parts.keepMedia
      ? async (number, peaks) =>
          persist(signal, async () => await keepPeaks(db, mediaId, number, peaks))
      : undefined,
    onProgress: run.onProgress,
    speakers,
    signal,
    stopping,
  });
  await persist(signal, async () =>
    db.transaction().execute(async (trx) => finish(parts, trx, run, mediaId, transcription)),
  );
}

/** Hears who speaks, where a model is installed that can tell. */
async function openListener(
  parts: JobParts,
  { lease, signal }: JobRun,
): Promise<SpeakerListener | undefined> {
  const { recognizer, retryMs } = parts;
  if (!recognizer.tellsSpeakers()) return undefined;
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

/** Fetches the media under a new id: what a worker without its lease still writes disturbs nobody. */
async function takeMedia(parts: JobParts, run: JobRun): Promise<string> {
  const { lease, job, signal, stopping } = run;
  if (job.uri === null) {
    throw new ServiceError("failed_precondition", "the uploaded media is gone");
  }
  const id = newId();
  const stored = await fetchMedia({
    url: job.uri,
    id,
    store: parts.store,
    allow: parts.allow,
    bytesMax: parts.mediaBytesMax,
    signal: AbortSignal.any([signal, stopping]),
    ...(parts.resolve && { resolve: parts.resolve }),
    ...(parts.fetchLimits && { limits: parts.fetchLimits }),
  });
  parts.log.info({ jobId: lease.jobId, mediaId: id, sizeBytes: stored.sizeBytes }, "job.fetched");
  try {
    await persist(signal, async () =>
      parts.database.db.transaction().execute(async (trx) => {
        await insertMedia(trx, { id, accountId: job.accountId, ...stored });
        if (!(await setMedia(trx, lease, id))) throw new LeaseLost();
      }),
    );
  } catch (error) {
    if (error instanceof LeaseLost) await deleteBytes(parts, id);
    throw error;
  }
  return id;
}

/** One commit: the transcript, the job's end and its place in the queue; or, without the lease, nothing. */
async function finish(
  parts: JobParts,
  trx: Transaction<Tables>,
  { lease, job }: JobRun,
  mediaId: string,
  { segments, durationMs, fileType }: Transcription,
): Promise<void> {
  const { metadata, accountId } = job;
  const transcriptId = newId();
  const result = { transcriptId, durationMs, keepsMedia: parts.keepMedia };
  const isOurs = (await succeedJob(trx, lease, result)) && (await parts.queue.end(trx, lease));
  if (!isOurs) throw new LeaseLost();
  metadata.recordingDuration = durationFromMs(durationMs);
  // What was declared may be wrong.
  metadata.fileType = FileType[fileType];
  nameSpeakers(metadata, speakersIn(segments));
  metadata.dataSource = job.uri === null ? DataSource.UPLOAD : DataSource.URI;
  await insertTranscript(trx, {
    id: transcriptId,
    accountId,
    metadata,
    segments,
    mediaId: parts.keepMedia ? mediaId : null,
  });
  if (parts.keepMedia) await setFacts(trx, mediaId, { durationMs, fileType });
}
