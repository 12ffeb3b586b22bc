import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { actorName } from "../auth/actor-name.ts";
import type { Tables } from "../database/tables.ts";
import { hasListed } from "./bin-store.ts";

/** The account of a caller. */
interface Owner {
  readonly accountId: string;
}

/** A share as it is stored, without its secret. */
export type StoredShare = Awaited<ReturnType<typeof findShares>>[number];

/** A share that does not exist yet. */
export interface NewShare {
  readonly id: string;
  readonly secretHash: Buffer;
  /** undefined for the version that is current when the transcript is read. */
  readonly versionId: string | undefined;
  readonly withMedia: boolean;
  readonly note: string;
  readonly author: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/**
 * Locks a transcript, so that its shares are counted one at a time. Returns whether the account has
 * the transcript.
 */
export async function lockShares(
  trx: Transaction<Tables>,
  { accountId }: Owner,
  transcriptId: string,
): Promise<boolean> {
  const row = await trx
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", transcriptId)
    .select("id")
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Counts the shares of a transcript that have not expired. */
export async function countShares(
  db: Kysely<Tables>,
  transcriptId: string,
  now: RawBuilder<Date>,
): Promise<number> {
  const { count } = await db
    .selectFrom("transcript_share")
    .where("transcript_id", "=", transcriptId)
    .where("expires_at", ">", now)
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function insertShare(
  db: Kysely<Tables>,
  { accountId }: Owner,
  transcriptId: string,
  share: NewShare,
): Promise<void> {
  await db
    .insertInto("transcript_share")
    .values({
      id: share.id,
      transcript_id: transcriptId,
      account_id: accountId,
      secret_hash: share.secretHash,
      version_id: share.versionId ?? null,
      with_media: share.withMedia,
      note: share.note,
      author: share.author,
      created_at: share.createdAt,
      expires_at: share.expiresAt,
    })
    .execute();
}

/** Finds the shares of a transcript that have not expired, the newest first. */
export async function findShares(
  db: Kysely<Tables>,
  { accountId }: Owner,
  { transcriptId, id, now }: { transcriptId: string; id?: string; now: RawBuilder<Date> },
) {
  return await db
    .selectFrom("transcript_share as s")
    .where("s.account_id", "=", accountId)
    .where("s.transcript_id", "=", transcriptId)
    .where(hasListed(accountId, transcriptId))
    .where("s.expires_at", ">", now)
    .$if(id !== undefined, (query) => query.where("s.id", "=", id ?? ""))
    .select([
      "s.id",
      "s.transcript_id",
      "s.version_id",
      "s.with_media",
      "s.note",
      "s.author",
      "s.created_at",
      "s.expires_at",
      "s.last_read_at",
      actorName("s.author").as("author_name"),
    ])
    .orderBy("s.id", "desc")
    .execute();
}

/** Deletes a share; returns false if the account has none with these ids. */
export async function deleteShare(
  db: Kysely<Tables>,
  { accountId }: Owner,
  { transcriptId, shareId }: { readonly transcriptId: string; readonly shareId: string },
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("transcript_share")
    .where("account_id", "=", accountId)
    .where("transcript_id", "=", transcriptId)
    .where("id", "=", shareId)
    .where(hasListed(accountId, transcriptId))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Finds the share of a token, unless it has expired or its account is disabled. */
export async function findSharedWith(db: Kysely<Tables>, id: string, now: RawBuilder<Date>) {
  return await db
    .selectFrom("transcript_share as s")
    .innerJoin("account as a", "a.id", "s.account_id")
    .where("s.id", "=", id)
    .where("s.expires_at", ">", now)
    .where("a.disabled_at", "is", null)
    .select([
      "s.id",
      "s.account_id",
      "s.transcript_id",
      "s.secret_hash",
      "s.version_id",
      "s.with_media",
      "s.expires_at",
      "s.last_read_at",
    ])
    .executeTakeFirst();
}

/** Records that a share was read, to the minute. */
export async function noteRead(db: Kysely<Tables>, id: string, minute: Date): Promise<void> {
  await db
    .updateTable("transcript_share")
    .set({ last_read_at: minute })
    .where("id", "=", id)
    .where(sql<boolean>`coalesce(last_read_at < ${minute}, true)`)
    .execute();
}
