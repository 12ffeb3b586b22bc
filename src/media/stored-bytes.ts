import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";

/** The storage limit in bytes for accounts that have none of their own. 0 means unlimited. */
export interface StoredBytesLimit {
  readonly storedBytesMax: number;
}

/** Sums the sizes of an account's media and drafts, using indexes that contain the sizes. */
const storedOf = (accountId: string) =>
  sql<string>`((select coalesce(sum(size_bytes), 0) from media where account_id = ${accountId})
    + (select coalesce(sum(size_bytes), 0) from transcript_draft where account_id = ${accountId}))`;

/** Returns the total bytes of all media and drafts of an account. */
export async function storedBytes(db: Kysely<Tables>, accountId: string): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select ${storedOf(accountId)} as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * Returns the number of bytes that an account can still store, or undefined if it has no limit. The
 * bytes of media to be replaced count as free, and those of unfinished uploads, other than
 * `uploadId`, as stored. Throws STORAGE_LIMIT if no bytes are left.
 */
export async function roomOf(
  db: Kysely<Tables>,
  {
    accountId,
    transcriptId,
    uploadId = null,
  }: {
    readonly accountId: string;
    readonly transcriptId: string | null;
    readonly uploadId?: string | null;
  },
  { storedBytesMax }: StoredBytesLimit,
): Promise<StoredRoom | undefined> {
  const { rows } = await sql<{ max: string; bytes: string }>`
    select max, ${storedOf(accountId)} - coalesce((select size_bytes from transcript
      join media on media.id = media_id
      where transcript.id = ${transcriptId} and transcript.account_id = ${accountId}), 0)
      + coalesce((select sum(received_bytes) from upload
        where account_id = ${accountId} and media_id is null and received_bytes > 0
          and id is distinct from ${uploadId}::uuid), 0) as bytes
    from (select coalesce((limits->>'storedBytes')::bigint, ${storedBytesMax}) as max
      from account where id = ${accountId}) as account
    where max > 0`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const max = Number(row.max);
  const bytes = max - Number(row.bytes);
  if (bytes <= 0) throw storageLimit(max);
  return { max, bytes };
}

export interface StoredRoom {
  /** The limit. */
  readonly max: number;
  /** The number of remaining bytes, which is above 0. */
  readonly bytes: number;
}

/**
 * Locks the storage of an account for a transaction that adds media or a draft. No other
 * transaction can add any before it ends. This lock is acquired before all others, as in the
 * submission of jobs. Returns undefined if the account has no limit, in which case nothing is
 * locked.
 */
export async function holdStoredBytes(
  trx: Transaction<Tables>,
  accountId: string,
  { storedBytesMax }: StoredBytesLimit,
): Promise<number | undefined> {
  const { rows } = await sql<{ max: string }>`
    select coalesce((limits->>'storedBytes')::bigint, ${storedBytesMax}) as max from account
    where id = ${accountId} and coalesce((limits->>'storedBytes')::bigint, ${storedBytesMax}) > 0
    for no key update`.execute(trx);
  return rows[0] && Number(rows[0].max);
}

/** Throws STORAGE_LIMIT if the transaction would put the account over its limit. */
export async function checkStoredBytes(
  trx: Transaction<Tables>,
  accountId: string,
  max: number | undefined,
): Promise<void> {
  if (max !== undefined && (await storedBytes(trx, accountId)) > max) throw storageLimit(max);
}

/** The delay before a retry. A retry can succeed only after something was deleted. */
const retryMs = 60_000;
const storageLimitReason = "STORAGE_LIMIT";

export function storageLimit(max: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the account can store ${max} bytes of media and drafts, which this would exceed: delete media first`,
    {
      reason: storageLimitReason,
      metadata: { limit: "storedBytes", value: `${max}`, of: "account" },
      retryAfterMs: retryMs,
    },
  );
}

/** Returns whether an error is STORAGE_LIMIT. */
export function isStorageLimit(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === storageLimitReason;
}

/**
 * Stores media within the remaining bytes of the account's limit. Longer media is aborted. For
 * media larger than bytesMax, `put` throws the same error as MediaStore.put() or fetchMedia().
 */
export async function putWithin<T>(
  room: StoredRoom | undefined,
  bytesMax: number,
  put: (bytesMax: number) => Promise<T>,
): Promise<T> {
  if (!room || room.bytes >= bytesMax) return await put(bytesMax);
  try {
    return await put(room.bytes);
  } catch (error) {
    throw isTooLong(error) ? storageLimit(room.max) : error;
  }
}

/** Returns whether a put or a download failed because the media is too large. */
function isTooLong(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.reason === "PAYLOAD_TOO_LARGE" || error.reason === "MEDIA_TOO_LARGE")
  );
}
