import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * What an account may keep for which the operator has set nothing else, in bytes. 0: as much as it
 * likes.
 */
export interface StoredBytesLimit {
  readonly storedBytesMax: number;
}

/**
 * What takes no more counts what it has: the media of an account, read from an index that has the
 * sizes.
 */
const storedOf = (accountId: string) =>
  sql<string>`(select coalesce(sum(size_bytes), 0) from media where account_id = ${accountId})`;

/** Bytes of media that an account keeps. */
export async function storedBytes(db: Kysely<Tables>, accountId: string): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`select ${storedOf(accountId)} as bytes`.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * How much an account may still store; undefined where there is no limit. What comes in the place
 * of a transcript's media has its room. Throws STORAGE_LIMIT when there is none.
 */
export async function roomOf(
  db: Kysely<Tables>,
  { accountId, transcriptId }: { readonly accountId: string; readonly transcriptId: string | null },
  { storedBytesMax }: StoredBytesLimit,
): Promise<StoredRoom | undefined> {
  const { rows } = await sql<{ max: string; bytes: string }>`
    select max, ${storedOf(accountId)} - coalesce((select size_bytes from transcript
      join media on media.id = media_id
      where transcript.id = ${transcriptId} and transcript.account_id = ${accountId}), 0) as bytes
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
  /** What is left of it; above 0. */
  readonly bytes: number;
}

/**
 * Holds an account to its limit in a transaction that stores media of it: nobody else stores any
 * before it ends. Before all other locks, as whoever submits jobs. undefined where there is no
 * limit, and no lock.
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

/**
 * Throws STORAGE_LIMIT where the transaction leaves the account with more than the limit that it
 * holds.
 */
export async function checkStoredBytes(
  trx: Transaction<Tables>,
  accountId: string,
  max: number | undefined,
): Promise<void> {
  if (max !== undefined && (await storedBytes(trx, accountId)) > max) throw storageLimit(max);
}

/** Nothing goes by itself: whoever asks again has deleted something. */
const retryMs = 60_000;
const storageLimitReason = "STORAGE_LIMIT";

export function storageLimit(max: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the account may keep ${max} bytes of media, and with this it would have more: delete some first`,
    {
      reason: storageLimitReason,
      metadata: { limit: "storedBytes", value: `${max}`, of: "account" },
      retryAfterMs: retryMs,
    },
  );
}

/** Whether something was refused for it. */
export function isStorageLimit(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === storageLimitReason;
}

/**
 * Puts media within what is left of the account's limit: what is longer is not taken to its end.
 * `put` throws as MediaStore.put() or fetchMedia() past its bytesMax.
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

/** As stores and fetches say it. */
function isTooLong(error: unknown): boolean {
  return (
    error instanceof ServiceError &&
    (error.reason === "PAYLOAD_TOO_LARGE" || error.reason === "MEDIA_TOO_LARGE")
  );
}
