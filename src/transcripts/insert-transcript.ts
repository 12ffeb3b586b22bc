import { clone } from "@bufbuild/protobuf";
import type { Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import {
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadataSchema,
  type Segment,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { msOfDuration } from "../std/duration.ts";
import { foldText } from "../std/fold-text.ts";
import { newId } from "../std/ids.ts";
import { packSegments, textLength, type PackedSegments, type PackedText } from "./segments.ts";
import { metadataText } from "./metadata-text.ts";

export interface NewTranscript {
  /** Default: a new id. */
  readonly id?: string;
  readonly accountId: string;
  /**
   * The metadata is stored unchanged, except for originalCharLength and originalByteLength, which
   * are set here if the service created the text or the text was imported.
   */
  readonly metadata: TranscriptMetadata;
  /**
   * Segments that were checked, created by the service, or read from a file. Long segments are
   * packed before the transaction begins.
   */
  readonly segments: readonly Segment[] | PackedSegments | PackedText;
  readonly mediaId?: string | null;
  /** The kind of the recording, if the recording is not stored. */
  readonly recordingFileType?: "AUDIO" | "VIDEO" | null;
  /** How the first version was made. */
  readonly kind: "RECOGNIZED" | "IMPORTED";
  /** The actor who sent the text. Default: none, for text that the service made. */
  readonly author?: string;
  /** The time of creation. Default: now. */
  readonly now?: Date;
}

/** Inserts a transcript with its first version. */
export async function insertTranscript(
  trx: Transaction<Tables>,
  transcript: NewTranscript,
): Promise<{ id: string; versionId: string }> {
  const row = await transcriptRows(transcript);
  await insertRows(trx, [row]);
  return { id: row.transcript.id, versionId: row.version.id };
}

/**
 * The rows of a transcript for insertRows(). They are created before the transaction begins, since
 * packing takes time.
 */
export type TranscriptRows = Awaited<ReturnType<typeof transcriptRows>>;

export async function transcriptRows(transcript: NewTranscript) {
  const { accountId, segments, mediaId = null, recordingFileType = null } = transcript;
  const { kind, author = "" } = transcript;
  const { now = new Date() } = transcript;
  const id = transcript.id ?? newId(now.getTime());
  const versionId = newId(now.getTime());
  const metadata = withOriginalLength(transcript.metadata, segments);
  const packed = "jsonZstd" in segments ? segments : await packSegments(segments);
  const text = metadataText(metadata);
  return {
    transcript: {
      id,
      account_id: accountId,
      version_id: versionId,
      parent_version_id: null,
      metadata: text,
      subject: foldText(metadata.subject),
      keywords: metadata.keywords,
      listed_ms: metadata.recordingDuration
        ? Math.round(msOfDuration(metadata.recordingDuration))
        : null,
      media_id: mediaId,
      recording_file_type: recordingFileType,
      created_at: now,
      updated_at: now,
    },
    segments: packed,
    version: {
      id: versionId,
      transcript_id: id,
      parent_id: null,
      metadata: text,
      segments_sha256: packed.sha256,
      created_at: now,
      kind,
      author,
    },
  };
}

/** Inserts new transcripts with their first versions. */
export async function insertRows(
  trx: Transaction<Tables>,
  rows: readonly TranscriptRows[],
): Promise<void> {
  if (rows.length === 0) return;
  await trx
    .insertInto("transcript")
    .values(rows.map(({ transcript }) => transcript))
    .execute();
  await trx
    .insertInto("transcript_segments")
    .values(
      rows.map(({ transcript, segments }) => ({
        transcript_id: transcript.id,
        sha256: segments.sha256,
        json_zstd: segments.jsonZstd,
        json_bytes: segments.jsonBytes,
      })),
    )
    .execute();
  await trx
    .insertInto("transcript_version")
    .values(rows.map(({ version }) => version))
    .execute();
}

/**
 * Sets the length of the first version's text (docs/api.md, Transcripts). The length is 0 unless
 * the service created the text or the text was imported.
 */
function withOriginalLength(
  metadata: TranscriptMetadata,
  segments: NewTranscript["segments"],
): TranscriptMetadata {
  const { chars, bytes } = originalLength(metadata, segments);
  const measured = clone(TranscriptMetadataSchema, metadata);
  measured.originalCharLength = Math.min(chars, int32Max);
  measured.originalByteLength = Math.min(bytes, int32Max);
  return measured;
}

function originalLength(
  { dataSource }: TranscriptMetadata,
  segments: NewTranscript["segments"],
): { chars: number; bytes: number } {
  if ("textChars" in segments) return { chars: segments.textChars, bytes: segments.textBytes };
  const isMade = dataSource === DataSource.URI || dataSource === DataSource.UPLOAD;
  return isMade && !("jsonZstd" in segments) ? textLength(segments) : { chars: 0, bytes: 0 };
}

const int32Max = 2 ** 31 - 1;
