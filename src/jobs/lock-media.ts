import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { TranscriptMetadata } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { metadataOf } from "../transcripts/metadata-text.ts";

/** The media of a finished upload. */
export interface UploadedMedia {
  readonly id: string;
  readonly accountId: string;
  /** The name of the uploaded file; "" if it is unknown. */
  readonly fileName: string;
}

/**
 * Returns the media of finished uploads of these accounts, by upload. The media cannot be deleted
 * until the transaction ends, since a deletion locks the media before its upload.
 */
export async function lockUploadMedia(
  trx: Kysely<Tables>,
  uploads: readonly { readonly accountId: string; readonly uploadId: string }[],
): Promise<Map<string, UploadedMedia>> {
  if (uploads.length === 0) return new Map();
  const { rows } = await sql<{
    upload_id: string;
    id: string;
    account_id: string;
    file_name: string;
  }>`
    select upload.id as upload_id, media.id, upload.account_id, upload.file_name
    from upload join media on media.id = upload.media_id
    where upload.id = any(${uploads.map(({ uploadId }) => uploadId)}::uuid[])
      and upload.account_id = any(${uploads.map(({ accountId }) => accountId)}::uuid[])
      and upload.transcript_id is null
    order by media.id for key share of media
  `.execute(trx);
  return new Map(
    rows.map((row) => [
      row.upload_id,
      { id: row.id, accountId: row.account_id, fileName: row.file_name },
    ]),
  );
}

/** A transcript that is to get a new version from a job. */
export interface TranscriptMediaOfJob {
  readonly accountId: string;
  readonly metadata: TranscriptMetadata;
  /** null if the transcript has no media, or if it was deleted. */
  readonly mediaId: string | null;
}

/**
 * Returns these transcripts of these accounts with their media, by id. The media cannot be deleted
 * until the transaction ends.
 */
export async function lockTranscriptMedia(
  trx: Kysely<Tables>,
  transcripts: readonly { readonly accountId: string; readonly newVersionOf: string }[],
): Promise<Map<string, TranscriptMediaOfJob>> {
  if (transcripts.length === 0) return new Map();
  const { rows } = await sql<{
    id: string;
    account_id: string;
    metadata: string;
    media_id: string | null;
  }>`
    select id, account_id, metadata::text as metadata, media_id from transcript
    where id = any(${transcripts.map(({ newVersionOf }) => newVersionOf)}::uuid[])
      and account_id = any(${transcripts.map(({ accountId }) => accountId)}::uuid[])
    order by id for share
  `.execute(trx);
  return new Map(
    rows.map((row) => [
      row.id,
      { accountId: row.account_id, metadata: metadataOf(row.metadata), mediaId: row.media_id },
    ]),
  );
}
