import type { Kysely } from "kysely";
import type { Meter } from "../../auth/meter.ts";
import { retryWhileDatabaseDown } from "../../database/retry-while-down.ts";
import type { Tables } from "../../database/tables.ts";
import {
  TranscriptMetadata_DataSource as DataSource,
  type TranscriptMetadata,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { Hint } from "../../engines/protocol/engine.ts";
import { keepPeaks } from "../../media/media-facts.ts";
import { keepOutputs, type MediaOutputs } from "../../media/media-outputs.ts";
import type { Batches } from "../../std/batches.ts";
import { durationFromMs } from "../../std/duration.ts";
import { newId } from "../../std/ids.ts";
import type { Log } from "../../std/log.ts";
import { ServiceError, shown } from "../../std/service-error.ts";
import { traced } from "../../tracing/tracing.ts";
import type { AccountHints } from "../../vocabulary/account-hints.ts";
import { transcriptRows } from "../../transcripts/insert-transcript.ts";
import { metadataOf } from "../../transcripts/metadata-text.ts";
import { packSegments } from "../../transcripts/segments.ts";
import { installedLanguage } from "../job-language.ts";
import { speakersIn } from "./assign-speakers.ts";
import { pieceMsMax } from "./cut-pieces.ts";
import type { FinishedJob } from "./finish-jobs.ts";
import { SpeakerDetector } from "./detect-speakers.ts";
import { HeldPeaks } from "./held-peaks.ts";
import type { JobAttempt } from "./job-attempt.ts";
import {
  insertPiece,
  insertWindow,
  readPieces,
  readWindows,
  type StoredPiece,
} from "./job-checkpoints.ts";
import type { JobMedia } from "./job-media.ts";
import type { LeasedJob } from "./lease-jobs.ts";
import { nameSpeakers } from "./name-speakers.ts";
import {
  transcribeMedia,
  type TranscribeOptions,
  type TranscribeParts,
  type Transcription,
} from "./transcribe-media.ts";

export interface JobParts {
  readonly db: Kysely<Tables>;
  readonly media: JobMedia;
  readonly recognition: TranscribeParts;
  readonly meter: Pick<Meter, "checkAudio">;
  readonly accountHints: AccountHints;
  /** Ends jobs as SUCCESS; see createFinish(). */
  readonly finish: Batches<FinishedJob, undefined>;
  readonly log: Log;
}

/** The part of an attempt that its job needs. */
export type RunningAttempt = Pick<
  JobAttempt,
  | "job"
  | "progress"
  | "signal"
  | "stopping"
  | "takeEngine"
  | "sized"
  | "uses"
  | "mediaKept"
  | "pieceKept"
>;

/**
 * Runs a job to SUCCESS: its media, the transcription, and one commit of all results. Returns the
 * length of its audio. Throws the error that stopped the job.
 */
export async function runJob(
  parts: JobParts,
  attempt: RunningAttempt,
): Promise<{ readonly durationMs: number }> {
  const { db, media, recognition, meter } = parts;
  const { job, signal, stopping } = attempt;
  const { lease, accountId } = job;
  const metadata = metadataOf(job.metadataText);
  const languageCode = languageOf(recognition, metadata);
  const model = modelOf(recognition, languageCode, job.model);
  attempt.uses(model);
  // A job that has begun is finished even if the limit has been reached in the meantime.
  const isFirst = lease.number === 1;
  if (isFirst) await meter.checkAudio({ accountId, keyId: job.keyId ?? undefined });
  const mediaId = await media.take(attempt);
  attempt.mediaKept();
  const { sandbox, durationMsMax } = recognition;
  const ending = AbortSignal.any([signal, stopping]);
  await using recording = await media.open(mediaId, { sandbox, durationMsMax, signal: ending });
  using speakers = await openDetector(parts, attempt);
  const peaks = new HeldPeaks(async (number, piece) =>
    retryWhileDatabaseDown(signal, async () => await keepPeaks(db, mediaId, number, piece)),
  );
  // The media of a transcript has its facts already, and the outputs of its first recognition.
  const keepsFacts = media.keepMedia && job.newVersionOf === null;
  const checkpoints = new Checkpoints(db, attempt, recording.facts.durationMs, mediaId);
  const transcription = await transcribeMedia(recognition, {
    attempt,
    recording,
    languageCode,
    ...(job.model !== null && { model }),
    hints: await retryWhileDatabaseDown(signal, () => hintsOf(parts, job, languageCode)),
    writing: job.writing,
    known: isFirst ? new Map() : await checkpoints.read(),
    keep: checkpoints.keep,
    keepsOutputs: keepsFacts,
    keepPeaks: keepsFacts ? peaks.keep.bind(peaks) : undefined,
    speakers,
  });
  const { success, result } =
    job.newVersionOf === null
      ? await endOf(job, metadata, transcription, media.keepMedia ? mediaId : null)
      : await endAgain(job, job.newVersionOf, { metadata, transcription, mediaId });
  const { durationMs, fileType } = transcription;
  const facts = { mediaId, durationMs, fileType, lastPeaks: peaks.last, ...recording.hashed() };
  const hasPieces = !isFirst || speakers !== undefined || checkpoints.hasSome;
  const { outputs } = checkpoints;
  const ended = { success: { ...success, model }, result };
  const finished = { ...ended, hasPieces, outputs, media: keepsFacts ? facts : undefined };
  await traced("finish job", {}, () =>
    retryWhileDatabaseDown(signal, async () => await parts.finish.add(finished)),
  );
  return { durationMs };
}

/**
 * Returns the hints of a job, with the account's vocabulary as it is now. They are empty if the
 * model takes none: it may have been replaced since the job was submitted.
 */
async function hintsOf(
  { recognition, accountHints }: JobParts,
  { accountId, hints, ignoresVocabulary, model }: LeasedJob,
  languageCode: string,
): Promise<readonly Hint[]> {
  if (!recognition.recognizer.takesHints(languageCode, "job", model ?? undefined)) return [];
  if (ignoresVocabulary) return hints;
  return (await accountHints.extend(hints, { accountId, languageCode })) ?? [];
}

/**
 * Keeps the pieces of a job. A single piece needs no checkpoint, since the end of the job stores
 * it.
 */
class Checkpoints {
  readonly #db: Kysely<Tables>;
  readonly #attempt: RunningAttempt;
  readonly #mediaId: string;
  #isSmall: boolean;
  #hasSome = false;
  #outputs: MediaOutputs | undefined;

  /** `durationMs` is the duration according to the header of the recording. */
  constructor(
    db: Kysely<Tables>,
    attempt: RunningAttempt,
    durationMs: number | undefined,
    mediaId: string,
  ) {
    this.#db = db;
    this.#attempt = attempt;
    this.#mediaId = mediaId;
    this.#isSmall = (durationMs ?? pieceMsMax) < pieceMsMax;
    attempt.sized(this.#isSmall);
  }

  /** Whether this attempt has kept a piece. */
  get hasSome(): boolean {
    return this.#hasSome;
  }

  /** The outputs of a single piece, which are stored with the end of the job. */
  get outputs(): MediaOutputs | undefined {
    return this.#outputs;
  }

  async read(): Promise<Map<number, StoredPiece>> {
    const { job, signal } = this.#attempt;
    return await retryWhileDatabaseDown(signal, async () => readPieces(this.#db, job.lease.id));
  }

  readonly keep: TranscribeOptions["keep"] = async (piece, { segments, outputs }) => {
    const { job, signal } = this.#attempt;
    const { index: number, startMs, endMs } = piece;
    const kept = outputs && { mediaId: this.#mediaId, number, startMs, endMs, ...outputs };
    if (this.#isSmall && number === 0) {
      this.#outputs = kept;
      return;
    }
    if (this.#isSmall) {
      // The recording is longer than its header states.
      this.#isSmall = false;
      this.#attempt.sized(false);
    }
    this.#hasSome = true;
    await retryWhileDatabaseDown(signal, async () => {
      // A piece that is kept has its outputs. They depend on the media only, so no lease is needed.
      if (kept) await keepOutputs(this.#db, [kept]);
      await insertPiece(this.#db, job.lease, piece, segments);
    });
    await this.#attempt.pieceKept();
  };
}

/** Opens a detector of the speakers, if a diarization model is installed and the job wants them. */
async function openDetector(
  { db, recognition, log }: JobParts,
  { job: { lease, speakersMax }, signal }: RunningAttempt,
): Promise<SpeakerDetector | undefined> {
  const { recognizer } = recognition;
  if (speakersMax === 0 || !recognizer.canDiarize()) return undefined;
  // Nothing is decoded and recognized once more for a job that would only wait at its end.
  recognizer.checkDiarizer();
  const known = await retryWhileDatabaseDown(signal, async () => await readWindows(db, lease.id));
  return new SpeakerDetector({
    recognizer,
    ...(speakersMax !== null && { speakersMax }),
    known,
    keep: async (number, window) =>
      retryWhileDatabaseDown(signal, async () => await insertWindow(db, lease, number, window)),
    signal,
    log: log.child({ jobId: lease.id }),
  });
}

/** Returns the installed language code for the job's language. Nodes may have different models. */
function languageOf(
  { recognizer }: Pick<TranscribeParts, "recognizer">,
  metadata: TranscriptMetadata,
): string {
  const installed = recognizer.languageCodes("job");
  const language = installedLanguage(metadata.languageCode, installed);
  if (language !== undefined) return language;
  recognizer.checkModelsKnown();
  throw new ServiceError(
    "failed_precondition",
    `${shown(metadata.languageCode)} has no installed model; installed: ${installed.join(", ") || "none"}`,
  );
}

/** Returns the model that recognizes the media of a job, which may have been removed since. */
function modelOf(
  { recognizer }: Pick<TranscribeParts, "recognizer">,
  languageCode: string,
  wanted: string | null,
): string {
  const model = recognizer.modelName(languageCode, "job", wanted ?? undefined);
  if (model !== undefined) return model;
  recognizer.checkModelsKnown();
  throw new ServiceError(
    "failed_precondition",
    `the model ${shown(wanted ?? "")} is not installed any more, or does not serve jobs in ${languageCode}`,
  );
}

/**
 * Returns the rows of a job's transcript, and the job's end with it. `mediaId` is the media that
 * the transcript keeps.
 */
async function endOf(
  { lease, accountId, uri, contentTranscriptId }: LeasedJob,
  metadata: TranscriptMetadata,
  { segments, durationMs, fileType }: Transcription,
  mediaId: string | null,
): Promise<Ended> {
  const transcriptId = contentTranscriptId ?? newId();
  metadata.recordingDuration = durationFromMs(durationMs);
  nameSpeakers(metadata, speakersIn(segments));
  metadata.dataSource = uri === null ? DataSource.UPLOAD : DataSource.URI;
  const rows = await transcriptRows({
    id: transcriptId,
    accountId,
    metadata,
    segments,
    kind: "RECOGNIZED",
    mediaId,
    // The declared type may be wrong. Media that is kept has its own type.
    recordingFileType: mediaId === null ? fileType : null,
  });
  const keepsMedia = mediaId !== null;
  return { success: { lease, transcriptId, durationMs, keepsMedia }, result: rows };
}

interface Ended extends Pick<FinishedJob, "result"> {
  readonly success: Omit<FinishedJob["success"], "model">;
}

/** Returns the version that a transcript gets from a job, and the job's end with it. */
async function endAgain(
  { lease, accountId }: LeasedJob,
  transcriptId: string,
  made: {
    readonly metadata: TranscriptMetadata;
    readonly transcription: Transcription;
    readonly mediaId: string;
  },
): Promise<Ended> {
  const { metadata, transcription, mediaId } = made;
  const { segments, durationMs } = transcription;
  const { languageCode } = metadata;
  const packed = await packSegments(segments);
  const speakerIds = speakersIn(segments);
  return {
    success: { lease, transcriptId, durationMs, keepsMedia: true },
    result: { accountId, transcriptId, mediaId, languageCode, speakerIds, segments: packed },
  };
}
