import { fromJson, toJsonString } from "@bufbuild/protobuf";
import { sql, type Kysely, type Selectable, type Transaction } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { MediaTable, Tables, TranscriptTable } from "../database/tables.ts";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { jsonParse } from "../std/json-parse.ts";
import { foldText } from "../std/fold-text.ts";
import type { PackedSegments, StoredSegments } from "./segments.ts";

/** A version with the segments it refers to; `segments` are packed. */
export interface StoredTranscript {
  readonly id: string;
  readonly metadata: TranscriptMetadata;
  readonly media: TranscriptMedia;
  readonly version: StoredVersion;
  readonly segments: StoredSegments;
}

/** What a transcript shows of its media. */
export interface TranscriptMedia {
  /** undefined: there is none, or it was deleted and only its facts remain. */
  readonly id: string | undefined;
  /** undefined: unknown; if the media `isFirst`, the metadata may have it. */
  readonly durationMs: number | undefined;
  /**
   * undefined: metadata.fileType applies, since the media is not described, is no recording, or a
   * caller has set it.
   */
  readonly fileType: "AUDIO" | "VIDEO" | undefined;
  readonly hasWaveform: boolean;
  /** Whether the transcript was created with it: no other media was uploaded to it. */
  readonly isFirst: boolean;
}

export interface StoredVersion {
  readonly id: string;
  readonly parentId: string | null;
  readonly createdAt: Date;
}

/**
 * The head of a transcript, or one of its versions; undefined if the account has no such
 * transcript.
 */
export async function findTranscript(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  versionId?: string,
): Promise<StoredTranscript | undefined> {
  const row = await selectTranscript(db, accountId, id, versionId)
    .innerJoin("transcript_segments as s", (join) =>
      join
        .onRef("s.transcript_id", "=", "v.transcript_id")
        .onRef("s.sha256", "=", "v.segments_sha256"),
    )
    .select(["s.json_zstd", "s.json_bytes"])
    .executeTakeFirst();
  if (!row) return undefined;
  const segments = { jsonZstd: row.json_zstd, jsonBytes: row.json_bytes };
  return { ...withoutSegments(row), segments };
}

/** Up to here the segments are read with the head: a page of text, in a millisecond. */
const shortBytesMax = 256 << 10;

/** The same without long segments, which findSegments() reads by their hash. */
export async function findTranscriptHead(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  versionId?: string,
): Promise<
  | (Omit<StoredTranscript, "segments"> & {
      readonly segments: {
        readonly sha256: Buffer;
        readonly jsonBytes: number;
        readonly zstdBytes: number;
        readonly jsonZstd: Buffer | null;
      };
    })
  | undefined
> {
  const row = await selectTranscript(db, accountId, id, versionId)
    .innerJoin("transcript_segments as s", (join) =>
      join
        .onRef("s.transcript_id", "=", "v.transcript_id")
        .onRef("s.sha256", "=", "v.segments_sha256"),
    )
    .select(["s.sha256", "s.json_bytes"])
    .select(sql<number>`octet_length(s.json_zstd)`.as("zstd_bytes"))
    .select(
      sql<Buffer | null>`case when s.json_bytes <= ${shortBytesMax} then s.json_zstd end`.as(
        "json_zstd",
      ),
    )
    .executeTakeFirst();
  if (!row) return undefined;
  const { sha256, json_bytes: jsonBytes, zstd_bytes: zstdBytes, json_zstd: jsonZstd } = row;
  return { ...withoutSegments(row), segments: { sha256, jsonBytes, zstdBytes, jsonZstd } };
}

/** Segments of a transcript, packed; undefined if they were deleted. */
export async function findSegments(
  db: Kysely<Tables>,
  transcriptId: string,
  sha256: Buffer,
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom("transcript_segments")
    .where("transcript_id", "=", transcriptId)
    .where("sha256", "=", sha256)
    .select("json_zstd")
    .executeTakeFirst();
  return row?.json_zstd;
}

/** The head of a transcript whose segments are already in memory. */
export async function findTranscriptAround(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  segments: StoredSegments,
): Promise<StoredTranscript | undefined> {
  const row = await selectTranscript(db, accountId, id).executeTakeFirst();
  return row && { ...withoutSegments(row), segments };
}

function selectTranscript(db: Kysely<Tables>, accountId: string, id: string, versionId?: string) {
  return db
    .selectFrom("transcript as t")
    .innerJoin("transcript_version as v", (join) =>
      versionId === undefined
        ? join.onRef("v.id", "=", "t.version_id")
        : join.onRef("v.transcript_id", "=", "t.id").on("v.id", "=", versionId),
    )
    .leftJoin("media as m", "m.id", "t.media_id")
    .where("t.account_id", "=", accountId)
    .where("t.id", "=", id)
    .select(["t.id", jsonText("v.metadata").as("metadata")])
    .select(["v.id as version_id", "v.parent_id", "v.created_at as version_created_at"])
    .select(mediaColumns);
}

function withoutSegments(
  row: Parameters<typeof mediaOf>[0] & {
    readonly id: string;
    readonly metadata: string;
    readonly version_id: string;
    readonly parent_id: string | null;
    readonly version_created_at: Date;
  },
): Omit<StoredTranscript, "segments"> {
  return {
    id: row.id,
    metadata: metadataOf(row.metadata),
    media: mediaOf(row),
    version: {
      id: row.version_id,
      parentId: row.parent_id,
      createdAt: row.version_created_at,
    },
  };
}

/** Columns of media as m, joined to a transcript as t. */
export const mediaColumns = [
  "t.media_id",
  "m.duration_ms",
  "m.file_type",
  "m.peaks_count",
  "t.recording_ms",
  "t.recording_file_type",
  "t.media_was_replaced",
  "t.file_type_is_declared",
] as const;

export function mediaOf(
  row: Pick<Selectable<MediaTable>, "duration_ms" | "file_type" | "peaks_count"> &
    Pick<Selectable<TranscriptTable>, MediaFactColumn>,
): TranscriptMedia {
  const isGone = row.media_id === null;
  const durationMs = isGone ? row.recording_ms : row.duration_ms;
  const fileType = isGone ? row.recording_file_type : row.file_type;
  return {
    id: row.media_id ?? undefined,
    durationMs: durationMs ?? undefined,
    fileType: row.file_type_is_declared ? undefined : (fileType ?? undefined),
    hasWaveform: row.peaks_count !== null,
    isFirst: !row.media_was_replaced,
  };
}

type MediaFactColumn =
  | "media_id"
  | "recording_ms"
  | "recording_file_type"
  | "media_was_replaced"
  | "file_type_is_declared";

/** The head of a transcript, locked until the transaction ends: concurrent changes wait. */
export interface TranscriptHead {
  readonly id: string;
  readonly versionId: string;
  readonly metadata: TranscriptMetadata;
  /**
   * The file type of its media, which is shown instead of metadata.fileType; undefined if the
   * latter is shown.
   */
  readonly mediaFileType: TranscriptMedia["fileType"];
  readonly segmentsSha256: Buffer;
}

export async function lockTranscript(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<TranscriptHead | undefined> {
  const head = await trx
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .select(["id", "version_id", jsonText("metadata").as("metadata"), "media_id"])
    .select(["recording_file_type", "file_type_is_declared"])
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!head) return undefined;
  // Read after the lock: a join could see the head of before a concurrent change.
  const version = await trx
    .selectFrom("transcript_version as v")
    .leftJoin("media as m", (join) => join.on("m.id", "=", head.media_id))
    .where("v.id", "=", head.version_id)
    .select(["v.segments_sha256", "m.file_type"])
    .executeTakeFirstOrThrow();
  const fileType = head.media_id === null ? head.recording_file_type : version.file_type;
  return {
    id: head.id,
    versionId: head.version_id,
    metadata: metadataOf(head.metadata),
    mediaFileType: head.file_type_is_declared ? undefined : (fileType ?? undefined),
    segmentsSha256: version.segments_sha256,
  };
}

/** The content of a version of this transcript; undefined if it has no such version. */
export async function findVersion(
  trx: Transaction<Tables>,
  transcriptId: string,
  versionId: string,
): Promise<Pick<TranscriptHead, "metadata" | "segmentsSha256"> | undefined> {
  const row = await trx
    .selectFrom("transcript_version")
    .where("transcript_id", "=", transcriptId)
    .where("id", "=", versionId)
    .select([jsonText("metadata").as("metadata"), "segments_sha256"])
    .executeTakeFirst();
  return row && { metadata: metadataOf(row.metadata), segmentsSha256: row.segments_sha256 };
}

/**
 * The content of a new version. The segments are new, or those of an earlier version of this
 * transcript.
 */
export interface VersionContent {
  readonly metadata: TranscriptMetadata;
  readonly segments: PackedSegments | { readonly sha256: Buffer };
  /** Whether metadata.fileType was set by a caller: it is shown until other media is uploaded. */
  readonly declaresFileType?: boolean;
}

/**
 * Appends a version to a locked head. Its time is later than that of its parent, even if the clock
 * went back.
 */
export async function appendVersion(
  trx: Transaction<Tables>,
  head: TranscriptHead,
  content: VersionContent,
  now: Date,
): Promise<{ versionId: string }> {
  const versionId = newId(now.getTime());
  if ("jsonZstd" in content.segments) await insertSegments(trx, head.id, content.segments);
  const metadata = metadataText(content.metadata);
  const { updated_at: createdAt } = await trx
    .updateTable("transcript")
    .set({
      version_id: versionId,
      parent_version_id: head.versionId,
      metadata,
      subject: foldText(content.metadata.subject),
      keywords: content.metadata.keywords,
      ...(content.declaresFileType && { file_type_is_declared: true }),
      updated_at: sql<Date>`greatest(${now}::timestamptz, updated_at + interval '1 microsecond')`,
    })
    .where("id", "=", head.id)
    .returning(exactTime("updated_at").as("updated_at"))
    .executeTakeFirstOrThrow();
  await trx
    .insertInto("transcript_version")
    .values({
      id: versionId,
      transcript_id: head.id,
      parent_id: head.versionId,
      metadata,
      segments_sha256: content.segments.sha256,
      created_at: sql<Date>`${createdAt}::timestamptz`,
    })
    .execute();
  return { versionId };
}

/** Stores segments of a transcript; equal segments are stored once. */
export async function insertSegments(
  trx: Transaction<Tables>,
  transcriptId: string,
  { sha256, jsonZstd, jsonBytes }: PackedSegments,
): Promise<void> {
  await trx
    .insertInto("transcript_segments")
    .values({
      transcript_id: transcriptId,
      sha256,
      json_zstd: jsonZstd,
      json_bytes: jsonBytes,
    })
    .onConflict((conflict) => conflict.columns(["transcript_id", "sha256"]).doNothing())
    .execute();
}

/**
 * Deletes a transcript with its versions, segments and open uploads. undefined: the account has no
 * such transcript.
 */
export async function deleteTranscriptRow(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<{ mediaId: string | null } | undefined> {
  const row = await trx
    .deleteFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", id)
    .returning("media_id")
    .executeTakeFirst();
  return row && { mediaId: row.media_id };
}

/** A jsonb column as text, which the protobuf library parses. */
export function jsonText(column: string) {
  return sql<string>`${sql.ref(column)}::text`;
}

/** TranscriptMetadata from jsonText(). */
export function metadataOf(text: string): TranscriptMetadata {
  return fromJson(TranscriptMetadataSchema, jsonParse(text), { ignoreUnknownFields: true });
}

/** The inverse of metadataOf(). */
export function metadataText(metadata: TranscriptMetadata): string {
  return toJsonString(TranscriptMetadataSchema, metadata);
}
