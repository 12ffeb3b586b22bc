import { sql, type Transaction } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { Tables } from "../database/tables.ts";
import type { TranscriptMetadata } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { foldText } from "../std/fold-text.ts";
import { newId } from "../std/ids.ts";
import { jsonText, metadataOf, metadataText } from "./metadata-text.ts";
import type { PackedSegments } from "./segments.ts";
import type { TranscriptMedia, VersionKind } from "./transcript-store.ts";

/**
 * The head of a transcript. It is locked until the transaction ends, so concurrent changes wait.
 */
export interface TranscriptHead {
  readonly id: string;
  readonly versionId: string;
  readonly metadata: TranscriptMetadata;
  /**
   * The file type of the transcript's media, which is shown instead of metadata.fileType; undefined
   * if metadata.fileType is shown.
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
  // The version is read after the lock is taken, because a join could read the state before a
  // concurrent change.
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

/**
 * Finds the content of a version of this transcript; returns undefined if the transcript has no
 * such version.
 */
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

/** The kinds of versions that can have a parent. */
export type LaterKind = Exclude<VersionKind, "IMPORTED">;

/**
 * The content of a new version. The segments are either new or those of an earlier version of this
 * transcript.
 */
export interface VersionContent {
  readonly metadata: TranscriptMetadata;
  readonly segments: PackedSegments | { readonly sha256: Buffer };
  readonly kind: LaterKind;
  /** The actor who makes the version. Default: none, for the service itself. */
  readonly author?: string;
  /** What the author writes about the version. Default: nothing. */
  readonly note?: string;
  /** Whether a caller set metadata.fileType, which is then shown until other media is uploaded. */
  readonly declaresFileType?: boolean;
}

/**
 * Appends a version to a locked head. The version's time is later than that of its parent, even if
 * the clock was set back.
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
      kind: content.kind,
      author: content.author ?? "",
      note: content.note ?? "",
      created_at: sql<Date>`${createdAt}::timestamptz`,
    })
    .execute();
  return { versionId };
}

/** Stores segments of a transcript; equal segments are stored once. */
async function insertSegments(
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
 * Deletes a transcript with its versions, segments and open uploads. Returns undefined if the
 * account has no such transcript.
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
