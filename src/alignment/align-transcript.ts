import { sql, type Kysely, type Transaction } from "kysely";
import { decodeAudio, decodedSampleRate } from "../audio/decode.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import { LeaseLost } from "../database/lease.ts";
import { retryWhileDatabaseDown } from "../database/retry-while-down.ts";
import type { Tables } from "../database/tables.ts";
import type { Aligner } from "../engines/protocol/alignment.ts";
import { installedLanguage } from "../jobs/job-language.ts";
import {
  alignRecording,
  type AlignedRecording,
  type AlignRecordingOptions,
} from "../jobs/worker/align-recording.ts";
import type { EngineSlots } from "../jobs/worker/engine-slots.ts";
import { HeldAudio } from "../jobs/worker/held-audio.ts";
import { KeptRecording } from "../jobs/worker/kept-recording.ts";
import { openRecording } from "../jobs/worker/open-recording.ts";
import { findOutputs } from "../media/media-outputs.ts";
import type { MediaStore } from "../media/media-store.ts";
import { errorFields, type Log } from "../std/log.ts";
import type { ServiceError } from "../std/service-error.ts";
import { staleVersion } from "../transcripts/if-match.ts";
import { transcriptNotFound } from "../transcripts/resource-names.ts";
import { retimeSegments, segmentWords, type SegmentWords } from "../transcripts/retime-segments.ts";
import type { PackedSegments } from "../transcripts/segments.ts";
import { appendVersion, lockTranscript } from "../transcripts/transcript-changes.ts";
import { findTranscript, type StoredTranscript } from "../transcripts/transcript-store.ts";
import { traced } from "../tracing/tracing.ts";
import { runInWorkerThread } from "../transcripts/worker-threads.ts";
import { notAligned, withoutMedia, withoutWords } from "./alignment-refusals.ts";
import { succeedAlignment, type LeasedAlignment } from "./lease-alignments.ts";

export interface AlignTranscriptParts {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "open" | "file">;
  readonly scratchFolder: string;
  readonly sandbox: Sandbox;
  readonly aligner: Aligner;
  /** The engines, which alignment shares with the recognition of jobs. */
  readonly slots: EngineSlots;
  readonly durationMsMax: number;
  readonly log: Log;
}

/** The part of an attempt that its job needs. */
export interface RunningAlignment {
  readonly job: LeasedAlignment;
  readonly signal: AbortSignal;
  /** Called with the share of the recording that has been aligned, in percent. */
  readonly onProgress: (percent: number) => void;
}

/**
 * Runs a job to SUCCESS: reads the version, aligns its words to the media, and appends a version
 * with the new times. Returns the duration of the recording. Throws the error that stopped the job.
 */
export async function alignTranscript(
  parts: AlignTranscriptParts,
  attempt: RunningAlignment,
): Promise<{ readonly durationMs: number }> {
  const { db } = parts;
  const { job, signal } = attempt;
  const { accountId, transcriptId, versionId } = job;
  const stored = await findTranscript(db, accountId, transcriptId, versionId);
  if (!stored) throw transcriptNotFound(`transcripts/${transcriptId}`);
  const { segments, media } = stored;
  const mediaId = media.id;
  if (mediaId === undefined) throw withoutMedia(media);
  const thread = { bytes: segments.jsonBytes, accountId, signal };
  const packed = { jsonZstd: segments.jsonZstd, jsonBytes: segments.jsonBytes };
  const spoken = await runInWorkerThread(segmentWords, packed, thread);
  if (spoken.every(({ words }) => words.every((word) => word === ""))) throw withoutWords();
  const aligned = await traced("align media", {}, () =>
    alignMedia(parts, attempt, { stored, mediaId, spoken }),
  );
  const times = Float64Array.from(
    aligned.segments.flat().flatMap(({ startMs, endMs }) => [startMs, endMs]),
  );
  const retiming = { segments: packed, times, durationMs: aligned.durationMs };
  const { sha256, jsonZstd, jsonBytes } = await runInWorkerThread(retimeSegments, retiming, thread);
  // Buffers arrive from a thread as plain arrays.
  const retimed = { sha256: Buffer.from(sha256), jsonZstd: Buffer.from(jsonZstd), jsonBytes };
  await traced("finish alignment job", {}, () =>
    retryWhileDatabaseDown(signal, async () =>
      db.transaction().execute(async (trx) => await finish(trx, job, mediaId, retimed)),
    ),
  );
  return { durationMs: aligned.durationMs };
}

interface AlignedTranscript {
  readonly stored: Pick<StoredTranscript, "media" | "metadata">;
  readonly mediaId: string;
  readonly spoken: readonly SegmentWords[];
}

async function alignMedia(
  parts: AlignTranscriptParts,
  { job, signal, onProgress }: RunningAlignment,
  { stored, mediaId, spoken }: AlignedTranscript,
): Promise<AlignedRecording> {
  const { aligner, slots } = parts;
  const { media, metadata } = stored;
  const languageCode = alignedLanguage(aligner, metadata.languageCode);
  // A window waits for an engine as a piece of a recording does. All alignment of an account takes
  // turns with its other jobs, as if it were another account.
  const slotJob = { id: job.lease.id, accountId: `${job.accountId}/alignment` };
  const sharing: Pick<Aligner, "align"> = {
    async align(window, words, how) {
      const release = await slots.take(slotJob, how.signal);
      try {
        return await aligner.align(window, words, how);
      } finally {
        release();
      }
    },
  };
  onProgress(0);
  const how = (durationMs: number) => ({
    languageCode,
    aligner: sharing,
    signal,
    onProgress: (ms: number) => onProgress((100 * ms) / Math.max(durationMs, ms, 1)),
  });
  const kept = await alignKept(parts, job, { mediaId, spoken, how });
  if (kept) return kept;
  const { sandbox, durationMsMax } = parts;
  const options = { sandbox, durationMsMax, signal };
  await using recording = await openRecording(parts, mediaId, options);
  const durationMs = recording.facts.durationMs ?? media.durationMs ?? 0;
  const samples = decodeAudio({ ...recording, ...options });
  return await alignRecording(new HeldAudio(samples, decodedSampleRate), spoken, how(durationMs));
}

/**
 * Aligns the words to the outputs that were kept when a job recognized the media. Returns undefined
 * if there are none of the model that aligns now, or if they cannot be used.
 */
async function alignKept(
  { db, aligner, log }: AlignTranscriptParts,
  { lease }: LeasedAlignment,
  {
    mediaId,
    spoken,
    how,
  }: {
    readonly mediaId: string;
    readonly spoken: readonly SegmentWords[];
    readonly how: (durationMs: number) => AlignRecordingOptions;
  },
): Promise<AlignedRecording | undefined> {
  const { languageCode, signal } = how(0);
  const model = aligner.outputsModel(languageCode);
  if (model === undefined) return undefined;
  const outputs = await findOutputs(db, mediaId, model);
  if (!outputs) return undefined;
  try {
    return await alignRecording(new KeptRecording(db, outputs), spoken, how(outputs.durationMs));
  } catch (error) {
    signal.throwIfAborted();
    // The samples may still be aligned, for example if another model has replaced this one.
    log.warn({ jobId: lease.id, mediaId, ...errorFields(error) }, "alignment.outputs_unused");
    return undefined;
  }
}

/** Returns the installed language code for alignment. Nodes may have different models. */
function alignedLanguage(aligner: Aligner, languageCode: string): string {
  const installed = aligner.alignedLanguageCodes();
  const language = installedLanguage(languageCode, installed);
  if (language !== undefined) return language;
  aligner.checkModelsKnown();
  throw notAligned(languageCode, installed);
}

/**
 * Appends the version and ends the job. Nothing is changed if the transcript has got other segments
 * or other media since.
 */
async function finish(
  trx: Transaction<Tables>,
  job: LeasedAlignment,
  mediaId: string,
  segments: PackedSegments,
): Promise<void> {
  // The transcript is locked first, as by all changes of it.
  const head = await lockTranscript(trx, job.accountId, job.transcriptId);
  const problem = await findChange(trx, job, mediaId);
  if (problem || !head) throw problem ?? transcriptNotFound(`transcripts/${job.transcriptId}`);
  const { metadata } = head;
  const content = { metadata, segments, kind: "ALIGNED" } as const;
  const { versionId } = await appendVersion(trx, head, content, new Date());
  if (!(await succeedAlignment(trx, job.lease, versionId))) throw new LeaseLost();
}

/**
 * Returns the error of a job whose transcript was deleted, or has other segments than the aligned
 * version, or other media than `mediaId`; undefined if the job can continue.
 */
export async function findChange(
  db: Kysely<Tables>,
  { transcriptId, versionId }: LeasedAlignment,
  mediaId?: string,
): Promise<ServiceError | undefined> {
  const row = await db
    .selectFrom("transcript as t")
    .innerJoin("transcript_version as current", "current.id", "t.version_id")
    .innerJoin("transcript_version as aligned", "aligned.transcript_id", "t.id")
    .where("t.id", "=", transcriptId)
    .where("aligned.id", "=", versionId)
    .select(["t.version_id", "t.media_id"])
    .select(sql<boolean>`current.segments_sha256 = aligned.segments_sha256`.as("is_same"))
    .executeTakeFirst();
  if (!row) return transcriptNotFound(`transcripts/${transcriptId}`);
  const isOther = mediaId !== undefined && row.media_id !== null && row.media_id !== mediaId;
  return row.is_same && !isOther ? undefined : staleVersion(row.version_id);
}
