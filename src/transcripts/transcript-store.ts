import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { sql, type Kysely, type Selectable, type Transaction } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { MediaTable, Tables } from "../database/tables.ts";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { foldText } from "../std/fold-text.ts";
import type { PackedSegments, StoredSegments } from "./segments.ts";

/** A version with the segments it refers to; `segments` are packed. */
export interface StoredTranscript {
  readonly id: string;
  readonly metadata: TranscriptMetadata;
  readonly media: TranscriptMedia | null;
  readonly version: StoredVersion;
  readonly segments: StoredSegments;
}

/** What transcripts tell of their media. Facts are null until the media is described. */
export interface TranscriptMedia {
  /** null: it is gone, and what is known of it has stayed. */
  readonly id: string | null;
  readonly durationMs: number | null;
  readonly fileType: "AUDIO" | "VIDEO" | null;
  readonly hasWaveform: boolean;
}

export interface StoredVersion {
  readonly id: string;
  readonly parentId: string | null;
  readonly createdAt: Date;
}

/** The head of a transcript, or one of its versions; undefined when the account has none such. */
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

/** The head of a transcript whose segments are at hand: they are not read. */
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

/** Of media as m, joined to a transcript as t. */
export const mediaColumns = [
  "t.media_id",
  "m.duration_ms",
  "m.file_type",
  "m.peaks_count",
  "t.recording_ms",
] as const;

export function mediaOf(
  row: Pick<Selectable<MediaTable>, "duration_ms" | "file_type" | "peaks_count"> & {
    readonly media_id: string | null;
    readonly recording_ms: number | null;
  },
): TranscriptMedia | null {
  if (row.media_id === null) {
    const { recording_ms: durationMs } = row;
    return durationMs === null
      ? null
      : { id: null, durationMs, fileType: null, hasWaveform: false };
  }
  return {
    id: row.media_id,
    durationMs: row.duration_ms,
    fileType: row.file_type,
    hasWaveform: row.peaks_count !== null,
  };
}

/** The head of a transcript, locked until the transaction ends: changes of one transcript wait for each other. */
export interface TranscriptHead {
  readonly id: string;
  readonly versionId: string;
  readonly metadata: TranscriptMetadata;
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
    .select(["id", "version_id", jsonText("metadata").as("metadata")])
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!head) return undefined;
  // Read after the lock: a join would show the version that was the head before another change went through.
  const version = await trx
    .selectFrom("transcript_version")
    .where("id", "=", head.version_id)
    .select("segments_sha256")
    .executeTakeFirstOrThrow();
  return {
    id: head.id,
    versionId: head.version_id,
    metadata: metadataOf(head.metadata),
    segmentsSha256: version.segments_sha256,
  };
}

/** The content of a version of this transcript; undefined when it has none such. */
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

/** What a new version holds; segments are either new, or those of an earlier version of this transcript. */
export interface VersionContent {
  readonly metadata: TranscriptMetadata;
  readonly segments: PackedSegments | { readonly sha256: Buffer };
}

/** Makes a version on top of a locked head. Its time is later than that of its parent, whatever the clock says. */
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

/** Keeps segments of a transcript; those that it has already are kept once. */
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

/** Deletes a transcript with versions, segments and open uploads. undefined: the account has none such. */
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

/** A jsonb column as text: the protobuf library parses it. */
export function jsonText(column: string) {
  return sql<string>`${sql.ref(column)}::text`;
}

/** TranscriptMetadata as jsonText() gives it. */
export function metadataOf(text: string): TranscriptMetadata {
  return fromJsonString(TranscriptMetadataSchema, text, { ignoreUnknownFields: true });
}

/** What metadataOf() reads. */
export function metadataText(metadata: TranscriptMetadata): string {
  return toJsonString(TranscriptMetadataSchema, metadata);
}
