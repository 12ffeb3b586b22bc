import { sql, type Kysely, type Selectable } from "kysely";
import { actorName } from "../auth/actor-name.ts";
import type { MediaTable } from "../database/media-tables.ts";
import type { Tables, TranscriptTable, TranscriptVersionTable } from "../database/tables.ts";
import type { TranscriptMetadata } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jsonText, metadataOf } from "./metadata-text.ts";
import type { StoredSegments } from "./segments.ts";

/** A version with the segments that it refers to; `segments` are packed. */
export interface StoredTranscript {
  readonly id: string;
  readonly metadata: TranscriptMetadata;
  readonly media: TranscriptMedia;
  readonly version: StoredVersion;
  readonly segments: StoredSegments;
}

/** The properties of a transcript's media that the transcript shows. */
export interface TranscriptMedia {
  /** undefined if there is no media, or if it was deleted and only its properties remain. */
  readonly id: string | undefined;
  /** undefined if unknown; if the media `isFirst`, the metadata may have the duration. */
  readonly durationMs: number | undefined;
  /**
   * undefined if metadata.fileType applies, since the media is not described, is not a recording,
   * or a caller has set the file type.
   */
  readonly fileType: "AUDIO" | "VIDEO" | undefined;
  readonly hasWaveform: boolean;
  /** The name of the file that was uploaded to the transcript; "" if it is unknown. */
  readonly fileName: string;
  /**
   * Whether the transcript was created with this media, and no other media was uploaded to the
   * transcript.
   */
  readonly isFirst: boolean;
}

export interface StoredVersion {
  readonly id: string;
  readonly parentId: string | null;
  readonly createdAt: Date;
  /** null if the version was made before kinds were recorded. */
  readonly kind: VersionKind | null;
  /** The actor who made the version; "" for jobs, and if it is not known. */
  readonly author: string;
  /** The present name of the author; "" if there is none, or it was deleted. */
  readonly authorName: string;
  readonly note: string;
}

/** How a version was made, by its name in Version.Kind. */
export type VersionKind = NonNullable<TranscriptVersionTable["kind"]>;

/** The columns of a version (v) in addition to its ids and times. */
export function originColumns() {
  return ["v.kind", "v.author", "v.note", actorName("v.author").as("author_name")] as const;
}

/** The values of originColumns(); null if the version itself is lost. */
export type VersionOrigin = Pick<TranscriptVersionTable, "kind"> & {
  readonly author: string | null;
  readonly note: string | null;
  readonly author_name: string;
};

/** Returns the properties of a version that originColumns() reads. */
export function originOf({ kind, author, author_name: authorName, note }: VersionOrigin) {
  return { kind, author: author ?? "", authorName, note: note ?? "" };
}

/**
 * Finds the head of a transcript, or one of its versions; returns undefined if the account has no
 * such transcript.
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

/** Segments up to this length are read together with the head, which takes a millisecond. */
const shortBytesMax = 256 << 10;

/**
 * Finds a transcript as findTranscript() does, but without long segments, which findSegments()
 * reads by their hash.
 */
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

/** Finds the packed segments of a transcript; returns undefined if they were deleted. */
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

/** Finds the head of a transcript whose segments are already in memory. */
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
    .select(originColumns())
    .select(mediaColumns);
}

function withoutSegments(
  row: Parameters<typeof mediaOf>[0] &
    VersionOrigin & {
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
      ...originOf(row),
    },
  };
}

/**
 * The columns that describe the media of a transcript (t) and are read with the media row (m)
 * joined to it.
 */
export const mediaColumns = [
  "t.media_id",
  "m.duration_ms",
  "m.file_type",
  "m.peaks_count",
  "m.file_name",
  "t.recording_ms",
  "t.recording_file_type",
  "t.media_was_replaced",
  "t.file_type_is_declared",
] as const;

export function mediaOf(
  row: Pick<Selectable<MediaTable>, "duration_ms" | "file_type" | "peaks_count"> &
    Pick<Selectable<TranscriptTable>, MediaFactColumn> & { readonly file_name: string | null },
): TranscriptMedia {
  const isGone = row.media_id === null;
  const durationMs = isGone ? row.recording_ms : row.duration_ms;
  const fileType = isGone ? row.recording_file_type : row.file_type;
  return {
    id: row.media_id ?? undefined,
    durationMs: durationMs ?? undefined,
    fileType: row.file_type_is_declared ? undefined : (fileType ?? undefined),
    hasWaveform: row.peaks_count !== null,
    fileName: row.file_name ?? "",
    isFirst: !row.media_was_replaced,
  };
}

type MediaFactColumn =
  | "media_id"
  | "recording_ms"
  | "recording_file_type"
  | "media_was_replaced"
  | "file_type_is_declared";
